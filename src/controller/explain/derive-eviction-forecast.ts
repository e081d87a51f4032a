import { healthTaintKeys, type Taint } from '../../api/taints.ts';
import { type Toleration, tolerates } from '../../api/tolerations.ts';
import type { NodeEvictionForecast } from './derive-node-eviction-forecast.ts';
import type { NodeForecast } from './derive-node-forecast.ts';
import type { TaintForecast } from './derive-taint-forecast.ts';
import { deriveEstimate } from './derive-time.ts';
import type { AppointmentFacts, Circumstances, PodBrief } from './facts.ts';
import type { EvictionCause, EvictionOutlook } from './outlook.ts';

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

export interface EvictionForecast extends Omit<EvictionOutlook, 'when'> {
  /** Infinity: not while things are as they are. */
  readonly atMs: number;
}

/** When this pod is to leave: its appointment, or what is expected to happen to its node would mean for it. */
export function deriveEvictionForecast(
  brief: PodBrief,
  { taint, eviction }: NodeForecast,
  circumstances: Circumstances,
): EvictionForecast | undefined {
  if (brief.appointment !== undefined) return keptAppointment(brief.pod, brief.appointment, circumstances);
  if (brief.terminating) return undefined;
  if (eviction !== undefined) return withItsNode(brief, eviction);
  return taint !== undefined && circumstances.runs.taintEviction ? onAccountOf(taint, brief) : undefined;
}

function keptAppointment(
  pod: string,
  { taint, toleratedSeconds, atMs }: AppointmentFacts,
  circumstances: Circumstances,
): EvictionForecast {
  const held = !circumstances.leading || (isHealthHeld(circumstances) && isHealthTaint(taint));
  const cause: EvictionCause = { kind: 'taint', taint, toleratedSeconds };
  return { pod, state: 'scheduled', cause, given: 'nothing-changes', atMs: held ? Infinity : atMs };
}

function withItsNode({ pod, daemonSet }: PodBrief, eviction: NodeEvictionForecast): EvictionForecast | undefined {
  if (daemonSet !== undefined) return undefined;
  const { mark, given, atMs } = eviction;
  return { pod, state: mark === 'evicted' ? 'scheduled' : 'predicted', cause: { kind: 'node-evicted' }, given, atMs };
}

function onAccountOf(
  { key, given, atMs }: TaintForecast,
  { pod, tolerations }: PodBrief,
): EvictionForecast | undefined {
  const { seconds } = deriveTolerance(tolerations, { key, effect: 'NoExecute' });
  if (seconds === Infinity) return undefined;
  const cause: EvictionCause = { kind: 'taint', taint: key, toleratedSeconds: seconds };
  return { pod, state: 'predicted', cause, given, atMs: atMs + seconds * 1_000 };
}

export function deriveEvictionOutlook(
  { atMs, ...forecast }: EvictionForecast,
  { now }: Circumstances,
): EvictionOutlook {
  return { ...forecast, when: deriveEstimate(atMs, now) };
}

function isHealthTaint(key: string): boolean {
  return healthTaintKeys.some((known) => known === key);
}

/** Nobody leaves on account of a node's health. */
function isHealthHeld({ everyZoneDark, blind }: Circumstances): boolean {
  return everyZoneDark || blind !== undefined;
}
