import { parseQuantity } from '../../../machinery/api/quantity.ts';
import { type EvictionSignal, isEvictionSignal } from './classify-signal.ts';

/** By signal: a quantity such as `100Mi`, or a share of the signal's capacity such as `10%`. */
type Limits = Readonly<Record<string, string>>;

/** Eviction thresholds and periods (kubelet configuration, `eviction…`). */
export interface EvictionConfig {
  /** Below this the kubelet evicts at once. */
  readonly evictionHard: Limits;
  /** Below this it evicts after the signal's grace period. */
  readonly evictionSoft: Limits;
  readonly evictionSoftGracePeriodMs: Readonly<Record<string, number>>;
  /** A signal that was low counts as low until it is this much above its threshold. */
  readonly evictionMinimumReclaim: Limits;
  /** The maximum grace period of a pod that is evicted for a soft threshold. */
  readonly evictionMaxPodGracePeriodMs: number;
  /** A condition is reported for this long after it was last true. */
  readonly evictionPressureTransitionPeriodMs: number;
  readonly evictionMonitoringPeriodMs: number;
}

type Amount = { readonly quantity: number } | { readonly share: number };

export interface Threshold {
  readonly signal: EvictionSignal;
  /** Met if strictly below. */
  readonly limit: Amount;
  /** 0 for a hard threshold. */
  readonly graceMs: number;
  readonly isHard: boolean;
  readonly minReclaim: Amount | undefined;
}

/**
 * The thresholds of a configuration, hard ones first. Throws a RangeError for invalid entries (kubelet
 * `ParseThresholdConfig`).
 */
export function parseThresholds(config: EvictionConfig): readonly Threshold[] {
  const { evictionHard, evictionSoft, evictionSoftGracePeriodMs, evictionMinimumReclaim } = config;
  const one = (isHard: boolean, [signal, limit]: readonly [string, string]): Threshold => {
    if (!isEvictionSignal(signal))
      throw new RangeError(`eviction threshold: must be for a known signal (got ${signal})`);
    const reclaim = evictionMinimumReclaim[signal];
    return {
      signal,
      limit: parseAmount(signal, limit),
      graceMs: isHard ? 0 : softGraceMs(signal, evictionSoftGracePeriodMs[signal]),
      isHard,
      minReclaim: reclaim === undefined ? undefined : parseAmount(signal, reclaim),
    };
  };
  return [
    ...Object.entries(evictionHard).map((entry) => one(true, entry)),
    ...Object.entries(evictionSoft).map((entry) => one(false, entry)),
  ];
}

function softGraceMs(signal: string, graceMs: number | undefined): number {
  if (graceMs === undefined)
    throw new RangeError(`evictionSoft ${signal}: must have an entry in evictionSoftGracePeriod`);
  return graceMs;
}

function parseAmount(signal: string, text: string): Amount {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined) return { share: Number(percent) / 100 };
  const quantity = parseQuantity(text);
  if (quantity === undefined || quantity < 0)
    throw new RangeError(`eviction threshold of ${signal}: must be a quantity >= 0 or a percentage (got ${text})`);
  return { quantity };
}

/** An amount of a capacity, truncated to an integer (kubelet `GetThresholdQuantity`). */
export function amountOf(amount: Amount, capacity: number): number {
  return 'quantity' in amount ? amount.quantity : Math.trunc(capacity * amount.share);
}
