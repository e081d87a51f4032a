import type { Condition } from '../../api/conditions.ts';
import type { NodeView } from '../../api/node.ts';
import {
  diffTaints,
  type HealthTaintKey,
  healthTaintKeys,
  type Taint,
  type TaintChange,
  taintKeys,
} from '../../api/taints.ts';

/** Condition type and status that call for a NoSchedule taint (upstream `nodeConditionToTaintKeyStatusMap`). */
const noScheduleKeys: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: taintKeys.notReady, Unknown: taintKeys.unreachable },
  MemoryPressure: { True: taintKeys.memoryPressure },
  DiskPressure: { True: taintKeys.diskPressure },
  NetworkUnavailable: { True: taintKeys.networkUnavailable },
  PIDPressure: { True: taintKeys.pidPressure },
};

const managedNoScheduleKeys: ReadonlySet<string> = new Set(Object.values(taintKeys));

/** What is missing and what is too much among the NoSchedule taints that conditions call for. Values are not compared. */
export function deriveNoScheduleChange(node: NodeView, timeAdded: string): TaintChange {
  const wanted = wantedNoScheduleKeys(node).map((key): Taint => ({ key, effect: 'NoSchedule', timeAdded }));
  const existing = node.taints.filter((taint) => taint.effect === 'NoSchedule' && managedNoScheduleKeys.has(taint.key));
  return diffTaints(wanted, existing);
}

function wantedNoScheduleKeys(node: NodeView): readonly string[] {
  const fromConditions = node.conditions.flatMap(({ type, status }: Condition) => noScheduleKeys[type]?.[status] ?? []);
  return [...new Set(node.unschedulable ? [...fromConditions, taintKeys.unschedulable] : fromConditions)];
}

export type NoExecuteNeed =
  /** Ready: neither taint. */
  | { readonly need: 'none'; readonly remove: readonly Taint[] }
  /** It carries what it should, or we cannot tell yet. */
  | { readonly need: 'settled' }
  /** It carries the other key: swapped at once, one for the other, never both (decision 0005). */
  | { readonly need: 'swap'; readonly add: Taint; readonly remove: readonly Taint[] }
  /** It carries neither: its turn comes at the zone's rate. */
  | { readonly need: 'add'; readonly key: HealthTaintKey };

/** The NoExecute taint that a Ready answer calls for (upstream `processTaintBaseEviction`). */
export function deriveNoExecuteNeed(ready: string, taints: readonly Taint[]): NoExecuteNeed {
  const carried = healthTaintsOf(taints);
  if (ready === 'True') return carried.length === 0 ? { need: 'settled' } : { need: 'none', remove: carried };
  const key = keyFor(ready);
  if (key === undefined) return { need: 'settled' };
  const others = carried.filter((taint) => taint.key !== key);
  const own = carried.find((taint) => taint.key === key);
  if (others.length === 0) return own === undefined ? { need: 'add', key } : { need: 'settled' };
  return { need: 'swap', add: own ?? swappedFrom(others[0], key), remove: others };
}

/** Both health taints of a list, with effect NoExecute. */
export function healthTaintsOf(taints: readonly Taint[]): readonly Taint[] {
  return taints.filter((taint) => taint.effect === 'NoExecute' && healthTaintKeys.some((key) => key === taint.key));
}

function keyFor(ready: string): HealthTaintKey | undefined {
  if (ready === 'False') return taintKeys.notReady;
  return ready === 'Unknown' ? taintKeys.unreachable : undefined;
}

/** The node has been unhealthy since the first of the two: the pods' countdown goes on where it was. */
function swappedFrom(other: Taint | undefined, key: HealthTaintKey): Taint {
  const since = other?.timeAdded;
  return since === undefined ? { key, effect: 'NoExecute' } : { key, effect: 'NoExecute', timeAdded: since };
}
