import { deriveTolerance } from './derive-eviction-forecast.ts';
import type { NodeForecast } from './derive-node-forecast.ts';
import { deriveEvictingPart, partNames } from './derive-parts.ts';
import type { Circumstances, PodFacts } from './facts.ts';
import type { StayOutlook } from './outlook.ts';

/** Why a pod for which no eviction is foreseen stays where it is. */
export function deriveStay(facts: PodFacts, forecast: NodeForecast, circumstances: Circumstances): StayOutlook {
  const part = deriveEvictingPart(circumstances);
  if (facts.terminating) return { why: 'already-terminating' };
  if (!circumstances.runs[part]) return { why: 'not-run', part: partNames[part] };
  if (facts.nodeName === '') return { why: 'not-bound' };
  if (facts.node === undefined) return { why: 'node-unknown' };
  if (facts.daemonSet !== undefined) return { why: 'daemon-set', daemonSet: facts.daemonSet };
  return { why: toleratesAll(facts, forecast) ? 'tolerates-for-ever' : 'nothing-points-to-it' };
}

/** Whatever runs against it, or is expected to: one that it tolerates for ever has no eviction. */
function toleratesAll({ running, tolerations }: PodFacts, { taint }: NodeForecast): boolean {
  if (running.length === 0) return taint !== undefined;
  return running.every((running) => deriveTolerance(tolerations, running.taint).seconds === Infinity);
}
