/** The controllers that the server can run itself, in place of those of kube-controller-manager. */
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { ObjectRegistry } from '../registry/object-registry.ts';
import type { ServedTargets } from '../registry/served-targets.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import type { ServerControllerName } from './controller-names.ts';
import type { ServerController } from './controller-loop.ts';
import { DisruptionController } from '../kinds/budget/disruption-controller.ts';
import { NamespaceController } from '../kinds/namespace/namespace-controller.ts';
import { RoleAggregationController } from '../kinds/rbac/role-aggregation-controller.ts';
import { ServiceAccountController } from '../kinds/service-account/service-account-controller.ts';

interface ServerControllersOptions {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  readonly clock: Clock;
  readonly targets: ServedTargets;
}

export function makeServerControllers(
  names: readonly ServerControllerName[],
  { targets, ...base }: ServerControllersOptions,
): readonly ServerController[] {
  const makers: Readonly<Record<ServerControllerName, () => ServerController>> = {
    'clusterrole-aggregation-controller': () =>
      new RoleAggregationController({ ...base, target: targets.of('rbac.authorization.k8s.io', 'clusterroles') }),
    'disruption-controller': () =>
      new DisruptionController({ ...base, target: targets.of('policy', 'poddisruptionbudgets') }),
    'namespace-controller': () =>
      new NamespaceController({ ...base, target: targets.of('', 'namespaces'), contents: targets.namespaced() }),
    'serviceaccount-controller': () =>
      new ServiceAccountController({ ...base, target: targets.of('', 'serviceaccounts') }),
  };
  return [...new Set(names)].map((name) => makers[name]());
}
