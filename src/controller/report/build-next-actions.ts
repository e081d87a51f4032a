// What happens to a node next, for pages and the dashboard.
import { flappingTaintKey, sameTaint, type Taint } from '../../machinery/api/taints.ts';
import { type Action, type EvictionForecast, type NodeForecast } from './build-forecasts.ts';
import type { NodeReport } from './read-node.ts';

/**
 * Acts of this process for a node and its pods, as far as something points to them; none unless it leads. `scheduled`: the pod that is
 * due first.
 */
export function buildNextActions(
  report: NodeReport,
  { taint, eviction }: NodeForecast,
  scheduled: EvictionForecast | undefined,
): readonly Action[] {
  const { leading, runs } = report.cluster;
  if (!leading) return [];
  const actions: Action[] = [];
  if (runs.nodeLifecycle)
    actions.push(...buildTaintCorrections(report), ...buildMarking(report), ...buildFlappingChange(report));
  if (report.taints.rationedKey !== undefined && taint !== undefined) {
    const { key, given, atMs } = taint;
    actions.push({ act: 'add-taint', subject: `${key}:NoExecute`, given, atMs });
  }
  if (eviction !== undefined && eviction.mark !== 'evicted')
    actions.push({ act: 'evict-node', subject: null, given: eviction.given, atMs: eviction.atMs });
  if (scheduled !== undefined)
    actions.push({ act: 'evict-pod', subject: scheduled.pod, given: scheduled.given, atMs: scheduled.atMs });
  return actions;
}

/** Taint changes that are not rate-limited: due now. */
function buildTaintCorrections(report: NodeReport): readonly Action[] {
  const { carried, wanted, surplus, rationedKey } = report.taints;
  const isRationed = ({ key, effect }: Taint): boolean => effect === 'NoExecute' && key === rationedKey;
  const missing = wanted.filter((taint) => !isRationed(taint) && !carried.some((other) => sameTaint(taint, other)));
  if (missing.length + surplus.length === 0) return [];
  const signed = (sign: string, { key, effect }: Taint): string => `${sign}${key}:${effect}`;
  const changes = [...missing.map((taint) => signed('+', taint)), ...surplus.map((taint) => signed('-', taint))];
  const isSwap = missing.some(({ effect }) => effect === 'NoExecute');
  const act = isSwap ? 'add-no-execute' : missing.length > 0 ? 'add-no-schedule' : 'remove-taints';
  const atMs = Math.max(report.now.monotonicMs, report.heldUntilMs(act));
  return [{ act: 'change-taints', subject: changes.join(' '), given: 'nothing-changes', atMs }];
}

/** The change of the taint of a node that flaps. */
function buildFlappingChange(report: NodeReport): readonly Action[] {
  const { now, flapping } = report;
  const { state } = flapping;
  const change = (sign: string, atMs: number): readonly Action[] => {
    return [{ act: 'change-taints', subject: `${sign}${flappingTaintKey}:NoSchedule`, given: 'nothing-changes', atMs }];
  };
  if (state.kind === 'none') return [];
  if (state.kind === 'due') return change('+', Math.max(now.monotonicMs, report.heldUntilMs('add-flapping-taint')));
  return change('-', state.kind === 'kept' ? now.monotonicMs + state.record.untilMs - now.wallMs : now.monotonicMs);
}

/** A node without contact is not evaluated. */
function buildMarking(report: NodeReport): readonly Action[] {
  const { ready, heartbeat, now, stale } = report;
  if (heartbeat === undefined || ready === 'Unknown') return [];
  const heldUntilMs = stale === undefined ? report.heldUntilMs('mark-unknown') : Infinity;
  const atMs = Math.max(heartbeat.silentFromMs, now.monotonicMs, heldUntilMs);
  return [{ act: 'mark-unknown', subject: null, given: 'no-heartbeat', atMs }];
}
