// The delay of each eviction, measured from when it was due or from when a leader existed again.
import type { Evidence, Gap } from './evidence.ts';
import type { PodFact } from './fleet.ts';

/** `timeAdded` is truncated to whole seconds; the controller adds one second. */
const stampResolutionMs = 1_000;
/** A leader that stops this soon after a deadline need not have handled it. */
const momentMs = 1_000;

export interface Lateness {
  /** When it was due by the timeAdded of the taint. */
  readonly dueMs: number;
  /** The same, or when the next leader took over. */
  readonly attendedMs: number;
  /** The gap in which it was due. */
  readonly gap: Gap | undefined;
  readonly deletedAtMs: number | undefined;
  /** From then on it must not be deleted. */
  readonly wellAtMs: number;
}

/** One entry for each NoExecute taint of its node during which its toleration ended before the node recovered. */
export function lateness(evidence: Evidence, { uid, node, patienceSeconds }: PodFact): readonly Lateness[] {
  const { gaps, spans, signs, deletions } = evidence;
  if (patienceSeconds === undefined) return [];
  const [deletedAtMs] = deletions.get(uid) ?? [];
  return (spans.get(node) ?? []).flatMap(({ stampMs, addedAtMs, removedAtMs }) => {
    if (deletedAtMs !== undefined && (deletedAtMs < addedAtMs || deletedAtMs > removedAtMs)) return [];
    const dueMs = stampMs + stampResolutionMs + patienceSeconds * 1_000;
    const backAtMs = signs.recoveredAtMs.get(node)?.find((atMs) => atMs > addedAtMs) ?? Number.POSITIVE_INFINITY;
    const wellAtMs = Math.min(removedAtMs, backAtMs);
    const gap = gapAround(gaps, dueMs);
    const attendedMs = gap?.takenAtMs ?? dueMs;
    return deletedAtMs === undefined && wellAtMs < attendedMs
      ? []
      : [{ dueMs, attendedMs, gap, deletedAtMs, wellAtMs }];
  });
}

/** The gap that contains this time, with a small tolerance before it. */
export function gapAround(gaps: readonly Gap[], atMs: number): Gap | undefined {
  return gaps.find(({ stoppedAtMs, takenAtMs }) => stoppedAtMs - momentMs <= atMs && atMs < takenAtMs);
}
