import type { PodGcReason } from '../decisions.ts';
import { deriveEstimate } from './derive-time.ts';
import type { Circumstances, CollectionFacts, ExpectedCollection, Moment } from './facts.ts';
import type { CollectionOutlook } from './outlook.ts';

/** The round of the pod garbage collector that will take this pod; undefined if none does, or none runs here. */
export function deriveCollectionForecast(
  { expected }: CollectionFacts,
  { leading, runs }: Circumstances,
): ExpectedCollection | undefined {
  const [first, ...others] = runs.podGc ? expected : [];
  if (first === undefined) return undefined;
  const soonest = others.reduce((soonest, next) => (next.atMs < soonest.atMs ? next : soonest), first);
  return leading ? soonest : { ...soonest, atMs: Infinity };
}

const preventions = {
  terminated: 'fewer-finished-pods',
  'out-of-service': 'node-back-in-service',
  orphaned: 'node-known-again',
  unscheduled: null,
} as const satisfies Readonly<Record<PodGcReason, string | null>>;

export function deriveCollectionOutlook(
  forecast: ExpectedCollection | undefined,
  facts: CollectionFacts,
  { runs, now }: Circumstances,
): CollectionOutlook | null {
  if (forecast !== undefined) return expectedOutlook(forecast, now);
  if (!runs.podGc) return null;
  if (facts.heldByFinalizers) return { kind: 'held-by-finalizers' };
  if (facts.finished === undefined) return null;
  const { finished, threshold } = facts.finished;
  return { kind: 'kept', finished, threshold: deriveThreshold(threshold) };
}

/** Null keeps all. */
export function deriveThreshold(threshold: number): number | null {
  return threshold > 0 ? threshold : null;
}

function expectedOutlook({ why, atMs, quarantineEndsMs }: ExpectedCollection, now: Moment): CollectionOutlook {
  return {
    kind: 'expected',
    why,
    quarantineEnds: quarantineEndsMs === undefined ? null : deriveEstimate(quarantineEndsMs, now),
    when: deriveEstimate(atMs, now),
    unless: preventions[why],
  };
}
