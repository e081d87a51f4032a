import {
  deriveEvictionForecast,
  deriveEvictionOutlook,
  deriveTolerance,
  type EvictionForecast,
} from './derive-eviction-forecast.ts';
import { deriveHolds, deriveZoneHolds } from './derive-holds.ts';
import { deriveTaintForecast } from './derive-taint-forecast.ts';
import { deriveEstimate, deriveHistory, derivePast } from './derive-time.ts';
import type { Circumstances, Moment, PodFacts, RunningTaintFacts } from './facts.ts';
import type { NextAction, Patience, PodOutlook } from './outlook.ts';

/** Which taints run against a pod, for how long it tolerates them, and when it is going to leave. */
export function derivePodOutlook(facts: PodFacts, circumstances: Circumstances): PodOutlook {
  const { pod, nodeName, phase, terminating, running, node, history } = facts;
  const expected = node === undefined ? undefined : deriveTaintForecast(node, circumstances);
  const eviction = deriveEvictionForecast(facts, expected, circumstances);
  // A line that stands still holds a pod only if the pod depends on it.
  const zoneHolds = node === undefined || eviction?.state !== 'predicted' ? [] : deriveZoneHolds(node.zone);
  return {
    pod,
    node: nodeName === '' ? null : nodeName,
    phase,
    terminating,
    taints: running.map((taint) => patienceOf(facts, taint, circumstances.now)),
    eviction: eviction === undefined ? null : deriveEvictionOutlook(eviction, circumstances),
    holds: [...deriveHolds(circumstances), ...zoneHolds],
    next: nextOf(eviction, circumstances),
    history: deriveHistory(history),
  };
}

function patienceOf({ tolerations }: PodFacts, { taint, sinceMs }: RunningTaintFacts, now: Moment): Patience {
  const { toleration, seconds } = deriveTolerance(tolerations, taint);
  const forEver = seconds === Infinity;
  return {
    taint,
    since: derivePast(sinceMs, now),
    toleration: toleration ?? null,
    toleratedSeconds: forEver ? null : seconds,
    ends: forEver ? null : deriveEstimate(sinceMs + seconds * 1_000, now),
  };
}

function nextOf(eviction: EvictionForecast | undefined, { leading, now }: Circumstances): NextAction {
  if (eviction === undefined || !leading) {
    return { act: 'none', subject: null, given: 'nothing-changes', when: null };
  }
  const { pod, state, atMs } = eviction;
  const given = state === 'scheduled' ? 'nothing-changes' : 'nothing-heard';
  return { act: 'evict-pod', subject: pod, given, when: deriveEstimate(atMs, now) };
}
