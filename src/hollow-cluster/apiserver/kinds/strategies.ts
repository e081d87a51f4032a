/** The strategies of all stored resources: those of the kinds with rules, and plain ones. */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { eventStrategy } from './event/event-strategy.ts';
import { type ServedResource, servedResources, tableOf } from '../resources.ts';
import { budgetStrategy } from './budget/budget-strategy.ts';
import { configMapRules } from './config-map/config-map.ts';
import { leaseStrategy } from './lease/lease-strategy.ts';
import { namespaceStrategy } from './namespace/namespace-strategy.ts';
import { workloadRules } from './workloads/workload-rules.ts';
import { customStrategy } from './custom-resource/custom-strategy.ts';
import { nodeStrategy } from './node/node-strategy.ts';
import { podStrategy } from './pod/pod-strategy.ts';
import { rbacStrategies } from './rbac/rbac-strategies.ts';
import { type KindRules, strategyOfRow } from './plain-strategy.ts';
import type { Strategy } from './strategy.ts';

const kindRules: Readonly<Record<string, KindRules>> = {
  configmaps: configMapRules,
  serviceaccounts: { returnsDeleted: true },
  ...workloadRules,
};

/** Strategies by the name of the table in the store. */
export function makeStrategies(
  defaultTolerationSeconds: number,
  custom: readonly ServedResource[] = [],
): ReadonlyMap<string, Strategy> {
  const pods = podStrategy(defaultTolerationSeconds);
  const own = [nodeStrategy, pods, namespaceStrategy, eventStrategy, leaseStrategy, budgetStrategy, ...rbacStrategies];
  const named = new Map(own.map((strategy) => [strategy.table, strategy]));
  const stored = servedResources.filter(({ review }) => !review);
  const builtIn = stored.map((served) => named.get(tableOf(served)) ?? strategyOfRow(served, rulesOf(served)));
  return new Map([...builtIn, ...custom.map(customStrategy)].map((strategy) => [strategy.table, strategy]));
}

function rulesOf(served: ServedResource): KindRules | undefined {
  return ownValue(kindRules, tableOf(served));
}
