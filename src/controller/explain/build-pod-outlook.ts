import { type Toleration, tolerationFinder } from '../../machinery/api/tolerations.ts';
import type { Now } from '../model/node-state.ts';
import { controllerNames } from '../model/options.ts';
import {
  type Action,
  buildEvictionForecast,
  buildLostNodeForecast,
  buildNodeForecast,
  type EvictionForecast,
  type NodeForecast,
  toleranceOf,
} from './build-forecasts.ts';
import {
  buildDepartureHolds,
  buildEvictionPartHolds,
  buildHolds,
  buildStalePodsHolds,
  buildZoneHolds,
  estimatePauseEndMs,
  selectEvictingPart,
} from './build-holds.ts';
import { formatAction, formatEstimate, formatEviction, formatPast } from './format-time.ts';
import type { Circumstances, Hold, PodFacts, StayOutlook } from './facts.ts';

export type PodOutlook = ReturnType<typeof buildPodOutlook>;

/** The countdowns of a pod, and when it will be evicted or garbage-collected. */
export function buildPodOutlook(facts: PodFacts, circumstances: Circumstances) {
  const { now } = circumstances;
  const { pod, nodeName, phase, terminating, running, collection, problems, history, historyOfFormer } = facts;
  const forecast = forecastOfNode(facts, circumstances);
  const eviction = buildEvictionForecast(facts, forecast, circumstances);
  const find = tolerationFinder(facts.tolerations, running.length);
  const actions: Action[] = [];
  if (eviction !== undefined)
    actions.push({ act: 'evict-pod', subject: pod, given: eviction.given, atMs: eviction.atMs });
  if (collection.outlook?.kind === 'expected')
    actions.push({
      act: 'collect-pod',
      subject: pod,
      given: 'nothing-changes',
      atMs: collectionAtMs(facts, circumstances),
    });
  return {
    pod,
    /** Null: not bound. */
    node: nodeName === '' ? null : nodeName,
    phase,
    terminating,
    taints: running.map((countdown) => countdownOf(find(countdown.taint), countdown, now)),
    /** Null: see `stays`. */
    eviction: eviction === undefined ? null : formatEviction(eviction, now),
    /** The eviction was scheduled for an earlier time than any countdown: the toleration has become longer since. */
    keepsEarlierDeadline: keepsEarlierDeadline(facts),
    /** Null: it is expected to be evicted. */
    stays: eviction === undefined ? classifyStay(facts, forecast, circumstances) : null,
    /** Null: no rule applies, or the pod garbage collector does not run in this process. */
    collection: collection.outlook,
    holds: holdsOf(facts, eviction, circumstances),
    next: formatAction(circumstances.leading ? actions : [], now),
    problems,
    history,
    historyOfFormer,
  } as const;
}

/** Stamps have whole seconds: a difference of one is none. */
const stampMs = 1_000;

function keepsEarlierDeadline({ timedEviction, running, tolerations }: PodFacts): boolean {
  if (timedEviction === undefined || running.length === 0) return false;
  const find = tolerationFinder(tolerations, running.length);
  const ends = running.map(({ taint, sinceMs }) => sinceMs + toleranceOf(find(taint)).seconds * 1_000);
  return timedEviction.atMs + stampMs < Math.min(...ends);
}

/** A pause holds the deletion of a pod because of its node. */
function collectionAtMs({ collection }: PodFacts, circumstances: Circumstances): number {
  const { outlook, atMs } = collection;
  const isForNode = outlook?.kind === 'expected' && (outlook.why === 'orphaned' || outlook.why === 'out-of-service');
  return isForNode ? Math.max(atMs, estimatePauseEndMs(circumstances)) : atMs;
}

function forecastOfNode({ node, nodeName, queueOfLostNode }: PodFacts, circumstances: Circumstances): NodeForecast {
  if (node !== undefined) return buildNodeForecast(node, circumstances);
  return queueOfLostNode === undefined ? {} : buildLostNodeForecast(nodeName, queueOfLostNode, circumstances);
}

/** Why no eviction is predicted for a pod. */
function classifyStay(facts: PodFacts, forecast: NodeForecast, circumstances: Circumstances): StayOutlook {
  const part = selectEvictingPart(circumstances);
  if (facts.terminating) return { why: 'already-terminating' };
  if (!circumstances.runs[part]) return { why: 'not-run', part: controllerNames[part] };
  if (facts.nodeName === '') return { why: 'not-bound' };
  if (facts.node === undefined) return { why: 'node-unknown' };
  if (facts.daemonSet !== undefined) return { why: 'daemon-set', daemonSet: facts.daemonSet };
  if (facts.keeper !== undefined) return { why: 'completed', policy: facts.keeper };
  return { why: toleratesAll(facts, forecast) ? 'tolerates-forever' : 'nothing-points-to-it' };
}

/** It tolerates all current and predicted taints without a time limit. */
function toleratesAll({ running, tolerations }: PodFacts, { taint }: NodeForecast): boolean {
  if (running.length === 0) return taint !== undefined;
  const find = tolerationFinder(tolerations, running.length);
  return running.every(({ taint }) => toleranceOf(find(taint)).seconds === Infinity);
}

function holdsOf(
  facts: PodFacts,
  eviction: EvictionForecast | undefined,
  circumstances: Circumstances,
): readonly Hold[] {
  const { node, queueOfLostNode, collection } = facts;
  const holds = [
    ...buildHolds(circumstances),
    ...buildStalePodsHolds(circumstances),
    ...buildDepartureHolds(facts, circumstances.now),
    ...buildEvictionPartHolds(circumstances),
  ];
  const zone = node?.zone ?? queueOfLostNode;
  // A stopped queue holds a pod only if its eviction depends on it.
  if (zone !== undefined && eviction?.state === 'predicted') holds.push(...buildZoneHolds(zone));
  return [...holds, ...collection.holds];
}

function countdownOf(matching: Toleration | undefined, { taint, sinceMs }: PodFacts['running'][number], now: Now) {
  const { toleration, seconds } = toleranceOf(matching);
  const forEver = seconds === Infinity;
  return {
    taint,
    since: formatPast(sinceMs, now),
    /** The matching toleration; null: the taint is not tolerated. */
    toleration: toleration ?? null,
    /** Null: without a time limit. */
    toleratedSeconds: forEver ? null : seconds,
    /** Null: never. */
    ends: forEver ? null : formatEstimate(sinceMs + seconds * 1_000, now),
  };
}
