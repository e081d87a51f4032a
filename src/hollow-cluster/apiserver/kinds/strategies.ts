/** The strategies of all stored resources, from their rows and the rules of their kinds. */
import { eventRules } from './event/event-strategy.ts';
import { type ServedResource, servedResources, tableOf } from '../resources.ts';
import { budgetRules } from './budget/budget-strategy.ts';
import type { ServerGate } from './feature-gates.ts';
import { configMapRules } from './config-map/config-map.ts';
import { leaseRules } from './lease/lease-strategy.ts';
import { namespaceRules } from './namespace/namespace-strategy.ts';
import { workloadRules } from './workloads/workload-rules.ts';
import { customRules } from './custom-resource/custom-strategy.ts';
import { nodeRules } from './node/node-strategy.ts';
import { podRules } from './pod/pod-strategy.ts';
import { rbacRules } from './rbac/rbac-strategies.ts';
import { type KindRules, strategyOfRow } from './plain-strategy.ts';
import type { Strategy } from './strategy.ts';

/** Strategies by the name of the table in the store. */
export function makeStrategies(
  defaultTolerationSeconds: number,
  custom: readonly ServedResource[] = [],
  gates: ReadonlySet<ServerGate> = new Set(),
): ReadonlyMap<string, Strategy> {
  const rules = new Map<string, KindRules>([
    ['configmaps', configMapRules],
    ['events', eventRules],
    ['leases.coordination.k8s.io', leaseRules],
    ['namespaces', namespaceRules],
    ['nodes', nodeRules],
    ['poddisruptionbudgets.policy', budgetRules],
    ['pods', podRules(defaultTolerationSeconds, gates)],
    ['serviceaccounts', { returnsDeleted: true }],
    ...Object.entries({ ...workloadRules(gates), ...rbacRules }),
  ]);
  const stored = servedResources.filter(({ review }) => !review);
  const builtIn = stored.map((served) => strategyOfRow(served, rules.get(tableOf(served))));
  const own = custom.map((served) => strategyOfRow(served, customRules(served)));
  return new Map([...builtIn, ...own].map((strategy) => [strategy.table, strategy]));
}
