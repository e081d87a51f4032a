import type { Condition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import {
  diffTaints,
  type HealthTaintKey,
  isHealthTaint,
  type Taint,
  type TaintChange,
  taintKeys,
} from '../../machinery/api/taints.ts';

/** Condition type and status that call for a NoSchedule taint (upstream `nodeConditionToTaintKeyStatusMap`). */
const noScheduleKeys: ReadonlyMap<string, string> = new Map([
  ['Ready=False', taintKeys.notReady],
  ['Ready=Unknown', taintKeys.unreachable],
  ['MemoryPressure=True', taintKeys.memoryPressure],
  ['DiskPressure=True', taintKeys.diskPressure],
  ['NetworkUnavailable=True', taintKeys.networkUnavailable],
  ['PIDPressure=True', taintKeys.pidPressure],
]);

const managedNoScheduleKeys: ReadonlySet<string> = new Set(Object.values(taintKeys));

/** Missing and surplus NoSchedule taints for the conditions of a node. Values are not compared. */
export function decideNoScheduleChange(node: NodeView, timeAdded: string): TaintChange {
  const wanted = wantedNoScheduleKeys(node).map((key): Taint => ({ key, effect: 'NoSchedule', timeAdded }));
  const existing = node.taints.filter((taint) => taint.effect === 'NoSchedule' && managedNoScheduleKeys.has(taint.key));
  return diffTaints(wanted, existing);
}

/** Whether the conditions of the node still require all of this change of NoSchedule taints. */
export function isNoScheduleStillRequired({ add, remove }: TaintChange, node: NodeView): boolean {
  const keys = wantedNoScheduleKeys(node);
  return add.every(({ key }) => keys.includes(key)) && !remove.some(({ key }) => keys.includes(key));
}

/** Keys of the NoSchedule taints required by conditions and `spec.unschedulable`. */
export function wantedNoScheduleKeys(node: NodeView): readonly string[] {
  const fromConditions = node.conditions.flatMap(
    ({ type, status }: Condition) => noScheduleKeys.get(`${type}=${status}`) ?? [],
  );
  return [...new Set(node.unschedulable ? [...fromConditions, taintKeys.unschedulable] : fromConditions)];
}

export type NoExecuteNeed =
  /** Ready: neither taint. */
  | { readonly need: 'none'; readonly remove: readonly Taint[] }
  /** The node has the required taint, or its state is not known yet. */
  | { readonly need: 'settled' }
  /**
   * The node has the other key: one replaces the other in one write (0005). Without `timeAdded`: set at the write
   * (0042).
   */
  | { readonly need: 'swap'; readonly add: Taint; readonly remove: readonly Taint[] }
  /** The node has neither: added at the zone's rate. */
  | { readonly need: 'add'; readonly key: HealthTaintKey };

/** The NoExecute taint required by a Ready status (upstream `processTaintBaseEviction`). */
export function decideNoExecuteNeed(ready: string, taints: readonly Taint[]): NoExecuteNeed {
  const carried = healthTaintsOf(taints);
  if (ready === 'True') return carried.length === 0 ? { need: 'settled' } : { need: 'none', remove: carried };
  const key = keyFor(ready);
  if (key === undefined) return { need: 'settled' };
  const others = carried.filter((taint) => taint.key !== key);
  const own = carried.find((taint) => taint.key === key);
  if (others.length === 0) return own === undefined ? { need: 'add', key } : { need: 'settled' };
  return { need: 'swap', add: own ?? { key, effect: 'NoExecute' }, remove: others };
}

/** The health taints of a list, with effect NoExecute. */
export function healthTaintsOf(taints: readonly Taint[]): readonly Taint[] {
  return taints.filter((taint) => taint.effect === 'NoExecute' && isHealthTaint(taint));
}

function keyFor(ready: string): HealthTaintKey | undefined {
  if (ready === 'False') return taintKeys.notReady;
  return ready === 'Unknown' ? taintKeys.unreachable : undefined;
}
