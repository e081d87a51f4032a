/** The controllers that the server can run itself, in place of those of kube-controller-manager. */
import type { ServerControllerName } from './controller-names.ts';
import type { ControllerContext, ServerController } from './controller-loop.ts';
import { DisruptionController } from '../kinds/budget/disruption-controller.ts';
import { NamespaceController } from '../kinds/namespace/namespace-controller.ts';
import { RoleAggregationController } from '../kinds/rbac/role-aggregation-controller.ts';
import { ServiceAccountController } from '../kinds/service-account/service-account-controller.ts';

const controllers: Readonly<Record<ServerControllerName, new (context: ControllerContext) => ServerController>> = {
  'clusterrole-aggregation-controller': RoleAggregationController,
  'disruption-controller': DisruptionController,
  'namespace-controller': NamespaceController,
  'serviceaccount-controller': ServiceAccountController,
};

export function makeServerControllers(
  names: readonly ServerControllerName[],
  context: ControllerContext,
): readonly ServerController[] {
  return [...new Set(names)].map((name) => new controllers[name](context));
}
