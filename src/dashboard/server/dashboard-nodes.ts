// The state of one node for the dashboard, from its report.
import type { Act } from '../../controller/model/holds.ts';
import type { WaitingPod } from '../../controller/model/waiting-pods.ts';
import {
  type Action,
  buildNodeForecast,
  buildScheduledForecast,
  type EvictionForecast,
} from '../../controller/report/build-forecasts.ts';
import { buildNextActions } from '../../controller/report/build-next-actions.ts';
import type { NodeState } from '../../controller/report/classify-node-state.ts';
import { selectSoonest } from '../../controller/report/format-time.ts';
import { type NodeReport, readNode } from '../../controller/report/read-node.ts';
import { describeAct } from '../../controller/report/text/describe-outlooks.ts';
import { podKey } from '../../machinery/api/pod.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { NodeCell } from '../protocol.ts';
import type { ClusterEvidence } from './cluster-evidence.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { steadyTime } from './steady-time.ts';

export interface NodeRecord {
  readonly uid: string;
  readonly cell: NodeCell;
  /** The last heartbeat of the node is older than its grace period. */
  readonly isSilent: boolean;
  /** Ready, and not silent. */
  readonly isHealthy: boolean;
  /** Monotonic time at which the state changes at the latest; undefined: not by time alone. */
  readonly endsAtMs: number | undefined;
}

/** What happens next. `atWallMs`: undefined if it is not known. */
interface NextStep {
  readonly what: string;
  readonly atWallMs: number | undefined;
}

/** Undefined: the node does not exist. `previous`: as it was computed last. */
export function readNodeRecord(
  name: string,
  sources: DashboardSources,
  { cluster }: ClusterEvidence,
  previous: NodeRecord | undefined,
): NodeRecord | undefined {
  const report = readNode(name, sources, cluster);
  if (report === undefined) return undefined;
  const { node, state, isSilent, ready, zone, policy, podViews } = report;
  const known = previous?.uid === node.uid ? previous.cell : undefined;
  const scheduled = selectFirstEviction(report, sources);
  const next = buildNextStep(report, scheduled);
  const cell = {
    name,
    zone: zone.zone,
    policy: policy?.name ?? null,
    state,
    since: formatSince(report, known),
    pods: podViews.length,
    held: state === 'ready' ? null : heldOf(report, sources, scheduled),
    next: next === undefined ? null : { what: next.what, at: steadyAt(next, known, cluster.now.wallMs) },
  };
  return { uid: node.uid, cell, isSilent, isHealthy: ready === 'True' && !isSilent, endsAtMs: endOf(report) };
}

/** Reason why nothing further happens to a node now: the first hold of what is next, or why the pod that is due first waits. */
function heldOf(
  report: NodeReport,
  { stages }: DashboardSources,
  scheduled: EvictionForecast | undefined,
): string | null {
  const { holds, evictor } = stages;
  // The emptying of a suspect node is not next yet.
  const emptying = report.nextActs.filter((act) => act !== 'mark-unknown');
  const acts: readonly Act[] = report.state === 'suspect' ? ['mark-unknown'] : emptying;
  const [hold] = holds.of(report.name, ...acts);
  if (hold !== undefined) return report.words(hold.kind);
  return describeWait(scheduled && evictor.waitingPod(scheduled.pod));
}

/**
 * The pod of a node that is evicted first, of those that are scheduled because of its taints. For how long a pod waits because of its
 * policy is not read: that costs time proportional to the pods that wait.
 */
function selectFirstEviction(report: NodeReport, { stages }: DashboardSources): EvictionForecast | undefined {
  if (!report.node.taints.some(({ effect }) => effect === 'NoExecute')) return undefined;
  const { evictor } = stages;
  const timed = report.podViews.flatMap((view) => {
    const pod = podKey(view);
    const eviction = evictor.timedEviction(pod);
    return eviction === undefined ? [] : [{ pod, eviction, isWaiting: evictor.waitingPod(pod) !== undefined }];
  });
  // What holds a node is the same for all pods of a kind.
  const kinds = Map.groupBy(timed, ({ eviction, isWaiting }) => `${eviction.forHealth} ${isWaiting}`);
  const firsts = [...kinds.values()].flatMap(
    (pods) => selectSoonest(pods.map((each) => ({ ...each, atMs: each.eviction.atMs }))) ?? [],
  );
  return selectSoonest(
    firsts.map(({ pod, eviction, isWaiting }) => {
      const forecast = buildScheduledForecast({ pod, wait: undefined }, eviction, report);
      return isWaiting ? { ...forecast, atMs: Infinity } : forecast;
    }),
  );
}

/** What happens if nothing changes. What only a silence would bring does not count while the node sends heartbeats. */
function buildNextStep(report: NodeReport, scheduled: EvictionForecast | undefined): NextStep | undefined {
  const actions = buildNextActions(report, buildForecast(report), scheduled);
  const next = selectSoonest(actions.filter(({ given }) => given === 'nothing-changes' || report.isSilent));
  return next === undefined ? buildEnd(report) : { what: describeAct(next), atWallMs: toWallMs(next, report) };
}

/** A node that is ready waits for nothing, or for its conditions to become Unknown: its forecast costs time, and would not be shown. */
function buildForecast(report: NodeReport): ReturnType<typeof buildNodeForecast> {
  return report.ready === 'True' ? {} : buildNodeForecast(report);
}

/** The end of what the state of the node is. */
function buildEnd({ state, mode, maintenance }: NodeReport): NextStep | undefined {
  const ends: Partial<Record<NodeState, readonly [what: string, untilMs: number | undefined]>> = {
    paused: ['the pause ends', mode?.untilMs],
    maintenance: ['its planned maintenance ends at the latest', maintenance?.hold?.untilMs],
  };
  const [what, untilMs] = ends[state] ?? [];
  return what === undefined || untilMs === undefined || !Number.isFinite(untilMs)
    ? undefined
    : { what, atWallMs: untilMs };
}

/** What is due now has no time: it would be another at each reading. */
function toWallMs({ atMs }: Action, { now }: NodeReport): number | undefined {
  return Number.isFinite(atMs) && atMs > now.monotonicMs ? now.wallMs + atMs - now.monotonicMs : undefined;
}

function describeWait(wait: WaitingPod | undefined): string | null {
  if (wait === undefined) return null;
  const { policy, reason } = wait;
  if (reason === 'responder') return 'its pod waits for an eviction responder';
  return reason === 'rate'
    ? `its pod waits for a token of policy ${policy}`
    : `the Eviction API does not evict its pod (${reason})`;
}

/** When the state began, where the API shows it; that of a silence would be another at each reading. */
function formatSince({ state, sinceMs, now }: NodeReport, known: NodeCell | undefined): string {
  const isKnown = known?.state === state;
  if (isKnown && (state === 'suspect' || sinceMs === undefined)) return known.since;
  return formatTime(sinceMs ?? now.wallMs);
}

/** A hold that is not shown as a state may end by time too. */
function endOf({ mode, maintenance, now }: NodeReport): number | undefined {
  const ends = [mode?.untilMs, maintenance?.hold?.untilMs].flatMap((untilMs) => untilMs ?? []);
  const firstMs = Math.min(...ends.filter((untilMs) => untilMs >= now.wallMs));
  return Number.isFinite(firstMs) ? now.monotonicMs + firstMs - now.wallMs : undefined;
}

function steadyAt({ what, atWallMs }: NextStep, known: NodeCell | undefined, nowMs: number): string | null {
  if (atWallMs === undefined) return null;
  return steadyTime(known?.next?.what === what ? known.next.at : null, atWallMs, nowMs);
}
