import { healthTaintKeys, type Taint } from '../../api/taints.ts';
import { type Toleration, tolerates } from '../../api/tolerations.ts';
import type { TaintForecast } from './derive-taint-forecast.ts';
import { deriveEstimate } from './derive-time.ts';
import type { Circumstances, PodBrief } from './facts.ts';
import type { EvictionOutlook } from './outlook.ts';

export interface Tolerance {
  /** The first that matches, in the pod's order, decides. */
  readonly toleration: Toleration | undefined;
  /** 0: not at all. Infinity: for ever. */
  readonly seconds: number;
}

/** How long a pod puts up with a taint (upstream `GetMatchingTolerations` and `getMinTolerationTime`, for one taint). */
export function deriveTolerance(tolerations: readonly Toleration[], taint: Taint): Tolerance {
  const toleration = tolerations.find((candidate) => tolerates(candidate, taint));
  if (toleration === undefined) return { toleration, seconds: 0 };
  return { toleration, seconds: Math.max(0, toleration.tolerationSeconds ?? Infinity) };
}

export interface EvictionForecast extends Pick<EvictionOutlook, 'pod' | 'state' | 'taint' | 'toleratedSeconds'> {
  /** Infinity: not while things are as they are. */
  readonly atMs: number;
}

/** When this pod is to leave: its appointment, or what the taint that is expected on its node would mean for it. */
export function deriveEvictionForecast(
  { pod, tolerations, terminating, appointment }: PodBrief,
  expected: TaintForecast | undefined,
  circumstances: Circumstances,
): EvictionForecast | undefined {
  if (appointment !== undefined) {
    const { taint, toleratedSeconds, atMs } = appointment;
    const held = !circumstances.leading || (isHealthHeld(circumstances) && isHealthTaint(taint));
    return { pod, state: 'scheduled', taint, toleratedSeconds, atMs: held ? Infinity : atMs };
  }
  if (expected === undefined || terminating) return undefined;
  const { seconds } = deriveTolerance(tolerations, { key: expected.key, effect: 'NoExecute' });
  if (seconds === Infinity) return undefined;
  const atMs = expected.atMs + seconds * 1_000;
  return { pod, state: 'predicted', taint: expected.key, toleratedSeconds: seconds, atMs };
}

export function deriveEvictionOutlook(forecast: EvictionForecast, { now }: Circumstances): EvictionOutlook {
  const { pod, state, taint, toleratedSeconds, atMs } = forecast;
  return { pod, state, taint, toleratedSeconds, when: deriveEstimate(atMs, now) };
}

function isHealthTaint(key: string): boolean {
  return healthTaintKeys.some((known) => known === key);
}

/** Nobody leaves on account of a node's health. */
function isHealthHeld({ everyZoneDark, blind }: Circumstances): boolean {
  return everyZoneDark || blind !== undefined;
}
