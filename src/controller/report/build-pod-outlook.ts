import { type EvictionView, evictionKey } from '../../machinery/api/eviction.ts';
import { type Toleration, tolerationFinder } from '../../machinery/api/tolerations.ts';
import type { Act } from '../model/holds.ts';
import type { Now } from '../model/node-state.ts';
import { controllerNames } from '../model/options.ts';
import type { PodKeeper } from '../model/policy.ts';
import {
  type Action,
  buildEvictionForecast,
  buildLostNodeForecast,
  buildNodeForecast,
  type EvictionForecast,
  type NodeForecast,
  toleranceOf,
} from './build-forecasts.ts';
import { buildEvictionPartHolds, buildProcessHolds, buildRemovalHolds, selectEvictingPart } from './build-holds.ts';
import { buildShownTaint, buildShownToleration } from './build-shown-fields.ts';
import { formatAction, formatEstimate, formatEviction, formatPast, formatWallPast } from './format-time.ts';
import type { ExplainedHold, PodOutlook, RequestedEviction, RequestedEvictions, StayOutlook } from './pages.ts';
import type { PodReport } from './read-pod.ts';

/** The countdowns of a pod, and when it will be evicted or garbage-collected. */
export function buildPodOutlook(report: PodReport): PodOutlook {
  const { pod, nodeName, phase, terminating, running, collection, problems, history, historyOfFormer } = report;
  const { now, leading } = report.cluster;
  const forecast = buildForecastOfNode(report);
  const eviction = buildEvictionForecast(report, forecast, report);
  const find = tolerationFinder(report.tolerations, running.length);
  return {
    pod,
    node: nodeName === '' ? null : nodeName,
    phase,
    terminating,
    taints: running.map((countdown) => buildCountdown(find(countdown.taint), countdown, now)),
    eviction: eviction === undefined ? null : formatEviction(eviction, now),
    keepsEarlierDeadline: keepsEarlierDeadline(report),
    stays: eviction === undefined ? classifyStay(report, forecast) : null,
    collection: collection.outlook,
    ...(report.requested && { requested: buildRequested(report.requested, now) }),
    holds: buildPodHolds(report, eviction),
    next: formatAction(leading ? buildActions(report, eviction) : [], now),
    problems,
    history,
    historyOfFormer,
  };
}

function buildRequested({ evictions, problem }: NonNullable<PodReport['requested']>, now: Now): RequestedEvictions {
  return { evictions: evictions.map((eviction) => buildRequestedEviction(eviction, now)), problem: problem ?? null };
}

function buildRequestedEviction(eviction: EvictionView, now: Now): RequestedEviction {
  const { requesters, requesterCount, responder } = eviction;
  const shown = responder && {
    name: responder.name,
    heartbeat: responder.heartbeatAtMs === undefined ? null : formatWallPast(responder.heartbeatAtMs, now),
    completed: responder.isCompleted,
  };
  return { eviction: evictionKey(eviction), requesters, requesterCount, responder: shown ?? null };
}

function buildActions({ pod, collection }: PodReport, eviction: EvictionForecast | undefined): readonly Action[] {
  const actions: Action[] = [];
  if (eviction !== undefined)
    actions.push({ act: 'evict-pod', subject: pod, given: eviction.given, atMs: eviction.atMs });
  if (collection.outlook?.kind === 'expected')
    actions.push({ act: 'collect-pod', subject: pod, given: 'nothing-changes', atMs: collection.atMs });
  return actions;
}

/** Stamps have whole seconds: a difference of one is none. */
const stampMs = 1_000;

function keepsEarlierDeadline({ timedEviction, running, tolerations }: PodReport): boolean {
  if (timedEviction === undefined || running.length === 0) return false;
  const find = tolerationFinder(tolerations, running.length);
  const ends = running.map(({ taint, sinceMs }) => sinceMs + toleranceOf(find(taint)).seconds * 1_000);
  return timedEviction.atMs + stampMs < Math.min(...ends);
}

function buildForecastOfNode(report: PodReport): NodeForecast {
  const { node, nodeName, queueOfLostNode } = report;
  if (node !== undefined) return buildNodeForecast(node);
  return queueOfLostNode === undefined ? {} : buildLostNodeForecast(nodeName, queueOfLostNode, report);
}

/** Why no eviction is predicted for a pod. */
function classifyStay(report: PodReport, forecast: NodeForecast): StayOutlook {
  const part = selectEvictingPart(report.cluster);
  if (report.terminating) return buildTerminatingOutlook(report);
  if (!report.cluster.runs[part]) return { why: 'not-run', part: controllerNames[part] };
  if (report.nodeName === '') return { why: 'not-bound' };
  if (report.node === undefined) return { why: 'node-unknown' };
  if (report.daemonSet !== undefined) return { why: 'daemon-set', daemonSet: report.daemonSet };
  if (report.keeper !== undefined) return buildKeptOutlook(report.keeper, report.cluster.now);
  if (toleratesAll(report, forecast)) return { why: 'tolerates-forever' };
  return { why: report.running.length > 0 ? 'not-evaluated-yet' : 'nothing-points-to-it' };
}

function buildTerminatingOutlook({ stuck, cluster }: PodReport): StayOutlook {
  if (stuck === undefined) return { why: 'already-terminating' };
  const { policy, overdueSinceMs } = stuck;
  return { why: 'already-terminating', stuck: { policy, overdue: formatWallPast(overdueSinceMs, cluster.now) } };
}

function buildKeptOutlook({ why, policy, asks = 'pod', untilMs }: PodKeeper, now: Now): StayOutlook {
  if (why === 'completed') return { why, policy };
  const until = Number.isFinite(untilMs) ? formatEstimate(untilMs - now.wallMs + now.monotonicMs, now) : null;
  return { why, policy, asks, until };
}

/** Whether a pod tolerates all current and predicted taints without a time limit. */
function toleratesAll({ running, tolerations }: PodReport, { taint }: NodeForecast): boolean {
  if (running.length === 0) return taint !== undefined;
  const find = tolerationFinder(tolerations, running.length);
  return running.every(({ taint }) => toleranceOf(find(taint)).seconds === Infinity);
}

function buildPodHolds(report: PodReport, eviction: EvictionForecast | undefined): readonly ExplainedHold[] {
  const { cluster, collection } = report;
  // A stopped queue holds a pod only if its eviction depends on it, and a late cache only one whose deletion is scheduled.
  const { state } = eviction ?? {};
  const holds = report
    .holdsOf(...actsOf(report))
    .filter(({ kind }) => kind !== 'zone-stopped' || state === 'predicted')
    .filter(({ kind }) => kind !== 'late-cache' || state === 'scheduled');
  return [
    ...buildProcessHolds(cluster),
    ...buildEvictionPartHolds(cluster),
    ...holds,
    ...buildRemovalHolds(report, cluster.now),
    ...collection.holds,
  ];
}

/** What is next for the pod: its deletion once it is scheduled, and before what begins to empty its node. */
function actsOf({ timedEviction, node, cluster }: PodReport): readonly Act[] {
  if (timedEviction !== undefined) return [timedEviction.forHealth ? 'delete-for-health' : 'delete-for-taint'];
  const ofNode = node?.nextActs ?? (cluster.mode === 'taint' ? [] : ['empty-node' as const]);
  return [...ofNode, 'delete-for-taint'];
}

function buildCountdown(
  matching: Toleration | undefined,
  { taint, sinceMs }: PodReport['running'][number],
  now: Now,
): PodOutlook['taints'][number] {
  const { toleration, seconds } = toleranceOf(matching);
  const forEver = seconds === Infinity;
  return {
    taint: buildShownTaint(taint),
    since: formatPast(sinceMs, now),
    toleration: toleration === undefined ? null : buildShownToleration(toleration),
    toleratedSeconds: forEver ? null : seconds,
    ends: forEver ? null : formatEstimate(sinceMs + seconds * 1_000, now),
  };
}
