import { maximumOfHoldMs } from '../holds/decide-holds.ts';
import type { Act, Hold, HoldKind } from '../model/holds.ts';
import type { ClusterReport } from './reports.ts';
import type { ReportSources } from './report-sources.ts';

/** Observe shows what would be done, and the queue of a zone shows when its rate allows it. */
const noDelay: ReadonlySet<HoldKind> = new Set<HoldKind>(['observed', 'zone-stopped']);
/** What they wait for decides whether the act is done at all, or for which of all pods that wait for one place. */
const undecided: ReadonlySet<HoldKind> = new Set<HoldKind>(['unclassified', 'awaited', 'hourly-limit']);

/**
 * Time before which acts of these kinds are not done for a node, because this process does not lead or because of holds; -Infinity: they
 * may be done now; Infinity: no end is known.
 */
export function readHeldUntilMs(
  node: string,
  acts: readonly Act[],
  { stages }: Pick<ReportSources, 'stages'>,
  { leading, now }: ClusterReport,
): number {
  if (!leading) return Infinity;
  let untilMs = -Infinity;
  for (const hold of stages.holds.of(node, ...acts)) {
    untilMs = Math.max(untilMs, endOf(hold) - now.wallMs + now.monotonicMs);
    if (untilMs === Infinity) break;
  }
  return untilMs;
}

function endOf({ kind, untilMs }: Hold): number {
  if (noDelay.has(kind) || maximumOfHoldMs(kind) === 0) return -Infinity;
  return undecided.has(kind) ? Infinity : untilMs;
}
