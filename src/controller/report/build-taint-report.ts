import type { NodeView } from '../../machinery/api/node.ts';
import { sameTaint, type Taint, taintKeys } from '../../machinery/api/taints.ts';
import type { ClusterReport, TaintReport } from './reports.ts';
import { decideNoExecuteNeed, decideNoScheduleChange, healthTaintsOf } from '../tainting/decide-taints.ts';

const managedKeys: ReadonlySet<string> = new Set(Object.values(taintKeys));

type ClusterTaintReport = Pick<ClusterReport, 'mode' | 'fullDisruption'>;

/**
 * The managed taints that a node has, those that it should have, and which of them waits in the zone's queue. `ready`
 * is the status of its Ready condition.
 */
export function buildTaintReport(node: NodeView, ready: string, cluster: ClusterTaintReport): TaintReport {
  const noSchedule = decideNoScheduleChange(node, '');
  const carriedNoSchedule = node.taints.filter(({ key, effect }) => effect === 'NoSchedule' && managedKeys.has(key));
  const kept = carriedNoSchedule.filter((taint) => !noSchedule.remove.includes(taint));
  const carried = healthTaintsOf(node.taints);
  const { wanted, rationedKey } = wantedNoExecute(node.taints, ready, cluster);
  return {
    carried: node.taints,
    wanted: [...kept, ...noSchedule.add.map(unstamped), ...wanted],
    surplus: [...noSchedule.remove, ...carried.filter((taint) => !wanted.some((other) => sameTaint(taint, other)))],
    rationedKey,
  };
}

/** Eviction mode adds none, keeps the taints of the other mode on a failed node, and removes them once it is Ready. */
function wantedNoExecute(
  taints: readonly Taint[],
  ready: string,
  { mode, fullDisruption }: ClusterTaintReport,
): Pick<TaintReport, 'wanted' | 'rationedKey'> {
  if (fullDisruption) return { wanted: [], rationedKey: undefined };
  const need = decideNoExecuteNeed(ready, taints);
  if (need.need === 'settled' || (mode === 'eviction' && ready !== 'True'))
    return { wanted: healthTaintsOf(taints), rationedKey: undefined };
  if (need.need === 'add') return { wanted: [{ key: need.key, effect: 'NoExecute' }], rationedKey: need.key };
  return { wanted: need.need === 'swap' ? [unstamped(need.add)] : [], rationedKey: undefined };
}

/** A taint that is not written yet has no time. */
function unstamped({ key, effect }: Taint): Taint {
  return { key, effect };
}
