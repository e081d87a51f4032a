// Predicts when nodes in a rate-limited queue are served. The bucket holds at most one token, so they are 1/rate apart;
// a node ahead that no longer needs its slot spends no token, so the real time may be earlier. It is later by the delay
// of the serving pass: at most a tenth of a second per node.
import type { QueueReport } from './reports.ts';

/** A change of the rate at that time. */
export interface RateChange {
  readonly atMs: number;
  readonly ratePerSecond: number;
}

export interface SlotConditions {
  /** No token is spent earlier. */
  readonly notBeforeMs: number;
  readonly change: RateChange | undefined;
}

type Bucket = Pick<QueueReport, 'nextTokenAtMs' | 'ratePerSecond'>;

/** Who is served: so many nodes that are queued, and then those that arrive, in this order. */
interface Served {
  readonly queued: number;
  readonly arrivalsMs: readonly number[];
}

/** When the last of these nodes is served; Infinity if never. Costs time proportional to the arrivals, unless the rate changes. */
export function estimateSlotMs(queue: Bucket, { queued, arrivalsMs }: Served, conditions: SlotConditions): number {
  let bucket = queue;
  let slotMs = -Infinity;
  if (queued > 0 && conditions.change === undefined) {
    const firstMs = Math.max(queue.nextTokenAtMs, conditions.notBeforeMs);
    slotMs = queued === 1 ? firstMs : firstMs + ((queued - 1) * 1_000) / queue.ratePerSecond;
    bucket = { ...bucket, nextTokenAtMs: slotMs + 1_000 / bucket.ratePerSecond };
  }
  const others = conditions.change === undefined ? 0 : queued;
  for (const arrivalMs of [...Array.from({ length: others }, () => -Infinity), ...arrivalsMs]) {
    ({ slotMs, bucket } = serve(bucket, arrivalMs, conditions));
    bucket = { ...bucket, nextTokenAtMs: slotMs + 1_000 / bucket.ratePerSecond };
  }
  return slotMs;
}

function serve(
  bucket: Bucket,
  arrivalMs: number,
  { notBeforeMs, change }: SlotConditions,
): { readonly slotMs: number; readonly bucket: Bucket } {
  const slotMs = Math.max(arrivalMs, bucket.nextTokenAtMs, notBeforeMs);
  const isChanged = change !== undefined && (slotMs > change.atMs || arrivalMs >= change.atMs);
  if (!isChanged) return { slotMs, bucket };
  const changed = afterChange(bucket, change);
  return { slotMs: Math.max(arrivalMs, changed.nextTokenAtMs, notBeforeMs), bucket: changed };
}

/** A bucket with a token keeps it when the rate changes; one without starts empty. */
function afterChange(bucket: Bucket, { atMs, ratePerSecond }: RateChange): Bucket {
  if (ratePerSecond === bucket.ratePerSecond) return bucket;
  if (ratePerSecond <= 0) return { ratePerSecond, nextTokenAtMs: Infinity };
  const couldGrant = bucket.nextTokenAtMs <= atMs;
  return { ratePerSecond, nextTokenAtMs: couldGrant ? atMs : atMs + 1_000 / ratePerSecond };
}
