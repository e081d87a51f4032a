// When turns come in a line that a token bucket rations. The bucket holds one token at most, so turns are 1/rate apart;
// whoever is ahead and no longer wants its turn spends no token, so the real turn may come earlier. It comes later by as
// much as the pass that serves the line is late: a tenth of a second for each turn at the most.
import type { LineFacts } from './facts.ts';

/** The rate changes at that moment. */
export interface RateChange {
  readonly atMs: number;
  readonly ratePerSecond: number;
}

export interface TurnConditions {
  /** No token is spent before. */
  readonly notBeforeMs: number;
  readonly change: RateChange | undefined;
}

type Bucket = Pick<LineFacts, 'nextTokenAtMs' | 'ratePerSecond'>;

/**
 * The turn of the last of those whose arrivals are given, in the order of the line; Infinity if it does not come. Whoever
 * is in line already arrived before all time.
 */
export function deriveTurnMs(line: Bucket, arrivalsMs: readonly number[], conditions: TurnConditions): number {
  let bucket = line;
  let turnMs = -Infinity;
  for (const arrivalMs of arrivalsMs) {
    ({ turnMs, bucket } = serve(bucket, arrivalMs, conditions));
    bucket = { ...bucket, nextTokenAtMs: turnMs + 1_000 / bucket.ratePerSecond };
  }
  return turnMs;
}

function serve(
  bucket: Bucket,
  arrivalMs: number,
  { notBeforeMs, change }: TurnConditions,
): { readonly turnMs: number; readonly bucket: Bucket } {
  const turnMs = Math.max(arrivalMs, bucket.nextTokenAtMs, notBeforeMs);
  const isChanged = change !== undefined && (turnMs > change.atMs || arrivalMs >= change.atMs);
  if (!isChanged) return { turnMs, bucket };
  const changed = afterChange(bucket, change);
  return { turnMs: Math.max(arrivalMs, changed.nextTokenAtMs, notBeforeMs), bucket: changed };
}

/** A bucket that could have granted stays full when the rate changes; one that could not starts anew. */
function afterChange(bucket: Bucket, { atMs, ratePerSecond }: RateChange): Bucket {
  if (ratePerSecond === bucket.ratePerSecond) return bucket;
  if (ratePerSecond <= 0) return { ratePerSecond, nextTokenAtMs: Infinity };
  const couldGrant = bucket.nextTokenAtMs <= atMs;
  return { ratePerSecond, nextTokenAtMs: couldGrant ? atMs : atMs + 1_000 / ratePerSecond };
}
