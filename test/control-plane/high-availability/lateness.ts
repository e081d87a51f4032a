// How late each pod left that was to leave: against the moment at which it was due, or at which somebody was there to do it.
import type { Evidence, Gap } from './evidence.ts';
import type { PodFact } from './fleet.ts';

/** `timeAdded` has whole seconds, and a pod is given the benefit of the part that is cut off. */
const stampResolutionMs = 1_000;
/** Who was stopped this shortly after something was due need not have come to it. */
const momentMs = 1_000;

export interface Lateness {
  /** When it was due, by the stamp of the taint. */
  readonly dueMs: number;
  /** The same, or when somebody took over. */
  readonly attendedMs: number;
  /** The gap in which it was due. */
  readonly gap: Gap | undefined;
  readonly deletedAtMs: number | undefined;
  /** From then on there was no reason to delete it. */
  readonly wellAtMs: number;
}

/** For each time that its node was tainted, and its patience ended before the node was well again; once it is deleted no more. */
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

/** The gap in which this moment lies, or a moment before which it did. */
export function gapAround(gaps: readonly Gap[], atMs: number): Gap | undefined {
  return gaps.find(({ stoppedAtMs, takenAtMs }) => stoppedAtMs - momentMs <= atMs && atMs < takenAtMs);
}
