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
  buildRemovalHolds,
  buildEvictionPartHolds,
  buildHolds,
  buildStalePodsHolds,
  buildZoneHolds,
  estimatePauseEndMs,
  selectEvictingPart,
} from './build-holds.ts';
import { formatAction, formatEstimate, formatEviction, formatPast } from './format-time.ts';
import type { ClusterReport, Hold, PodReport, StayOutlook } from './reports.ts';

export type PodOutlook = ReturnType<typeof buildPodOutlook>;

/** The countdowns of a pod, and when it will be evicted or garbage-collected. */
export function buildPodOutlook(report: PodReport, cluster: ClusterReport) {
  const { now } = cluster;
  const { pod, nodeName, phase, terminating, running, collection, problems, history, historyOfFormer } = report;
  const forecast = forecastOfNode(report, cluster);
  const eviction = buildEvictionForecast(report, forecast, cluster);
  const find = tolerationFinder(report.tolerations, running.length);
  const actions: Action[] = [];
  if (eviction !== undefined)
    actions.push({ act: 'evict-pod', subject: pod, given: eviction.given, atMs: eviction.atMs });
  if (collection.outlook?.kind === 'expected')
    actions.push({
      act: 'collect-pod',
      subject: pod,
      given: 'nothing-changes',
      atMs: collectionAtMs(report, cluster),
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
    keepsEarlierDeadline: keepsEarlierDeadline(report),
    /** Null: it is expected to be evicted. */
    stays: eviction === undefined ? classifyStay(report, forecast, cluster) : null,
    /** Null: no rule applies, or the pod garbage collector does not run in this process. */
    collection: collection.outlook,
    holds: holdsOf(report, eviction, cluster),
    next: formatAction(cluster.leading ? actions : [], now),
    problems,
    history,
    historyOfFormer,
  } as const;
}

/** Stamps have whole seconds: a difference of one is none. */
const stampMs = 1_000;

function keepsEarlierDeadline({ timedEviction, running, tolerations }: PodReport): boolean {
  if (timedEviction === undefined || running.length === 0) return false;
  const find = tolerationFinder(tolerations, running.length);
  const ends = running.map(({ taint, sinceMs }) => sinceMs + toleranceOf(find(taint)).seconds * 1_000);
  return timedEviction.atMs + stampMs < Math.min(...ends);
}

/** A pause holds the deletion of a pod because of its node. */
function collectionAtMs({ collection }: PodReport, cluster: ClusterReport): number {
  const { outlook, atMs } = collection;
  const isForNode = outlook?.kind === 'expected' && (outlook.why === 'orphaned' || outlook.why === 'out-of-service');
  return isForNode ? Math.max(atMs, estimatePauseEndMs(cluster)) : atMs;
}

function forecastOfNode({ node, nodeName, queueOfLostNode }: PodReport, cluster: ClusterReport): NodeForecast {
  if (node !== undefined) return buildNodeForecast(node, cluster);
  return queueOfLostNode === undefined ? {} : buildLostNodeForecast(nodeName, queueOfLostNode, cluster);
}

/** Why no eviction is predicted for a pod. */
function classifyStay(report: PodReport, forecast: NodeForecast, cluster: ClusterReport): StayOutlook {
  const part = selectEvictingPart(cluster);
  if (report.terminating) return { why: 'already-terminating' };
  if (!cluster.runs[part]) return { why: 'not-run', part: controllerNames[part] };
  if (report.nodeName === '') return { why: 'not-bound' };
  if (report.node === undefined) return { why: 'node-unknown' };
  if (report.daemonSet !== undefined) return { why: 'daemon-set', daemonSet: report.daemonSet };
  if (report.keeper !== undefined) return { why: 'completed', policy: report.keeper };
  return { why: toleratesAll(report, forecast) ? 'tolerates-forever' : 'nothing-points-to-it' };
}

/** Whether a pod tolerates all current and predicted taints without a time limit. */
function toleratesAll({ running, tolerations }: PodReport, { taint }: NodeForecast): boolean {
  if (running.length === 0) return taint !== undefined;
  const find = tolerationFinder(tolerations, running.length);
  return running.every(({ taint }) => toleranceOf(find(taint)).seconds === Infinity);
}

function holdsOf(report: PodReport, eviction: EvictionForecast | undefined, cluster: ClusterReport): readonly Hold[] {
  const { node, queueOfLostNode, collection } = report;
  const holds = [
    ...buildHolds(cluster),
    ...buildStalePodsHolds(cluster),
    ...buildRemovalHolds(report, cluster.now),
    ...buildEvictionPartHolds(cluster),
  ];
  const zone = node?.zone ?? queueOfLostNode;
  // A stopped queue holds a pod only if its eviction depends on it.
  if (zone !== undefined && eviction?.state === 'predicted') holds.push(...buildZoneHolds(zone));
  return [...holds, ...collection.holds];
}

function countdownOf(matching: Toleration | undefined, { taint, sinceMs }: PodReport['running'][number], now: Now) {
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
