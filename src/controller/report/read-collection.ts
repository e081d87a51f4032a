// What the pod garbage collector does. Uses the rules of the collector.
import { isCompleted, type PodView } from '../../machinery/api/pod.ts';
import type { PodGcReason } from '../model/decisions.ts';
import { buildPartHolds } from './build-holds.ts';
import { formatEstimate, selectSoonest } from './format-time.ts';
import type { CollectionOutlook, ExplainedHold, FinishedPodsReport, PodGcReport } from './pages.ts';
import { readHeldUntilMs } from './read-holds.ts';
import type { ClusterReport, CollectionReport } from './reports.ts';
import {
  ageEndsMs,
  decideTerminated,
  fallsUnder,
  isHeldByFinalizers,
  isTerminated,
} from '../pod-gc/decide-collection.ts';
import type { ReportSources } from './report-sources.ts';

const rules = ['out-of-service', 'orphaned', 'unscheduled'] as const;

const preventions = {
  terminated: 'fewer-finished-pods',
  'out-of-service': 'node-back-in-service',
  orphaned: 'node-known-again',
  unscheduled: null,
} as const;

/** The rule of the pod garbage collector that applies to a pod, and when a round acts on it. */
export function readCollection(pod: PodView, sources: ReportSources, cluster: ClusterReport): CollectionReport {
  const { leading, runs, now } = cluster;
  const rule = selectSoonest([...expectedSurplus(pod, sources), ...expectedByRules(pod, sources)]);
  if (rule === undefined) return { outlook: runs.podGc ? keptOutlook(pod, sources) : null, atMs: Infinity, holds: [] };
  if (!runs.podGc) return { outlook: null, atMs: Infinity, holds: buildPartHolds(['podGc'], cluster) };
  const { why, quarantineEndsMs } = rule;
  const atMs = leading ? rule.atMs : Infinity;
  const isForNode = why === 'orphaned' || why === 'out-of-service';
  const heldUntilMs = isForNode ? readHeldUntilMs(pod.nodeName, ['collect-pods'], sources, cluster) : -Infinity;
  const quarantineEnds = quarantineEndsMs === undefined ? null : formatEstimate(quarantineEndsMs, now);
  const when = formatEstimate(atMs, now);
  return {
    outlook: { kind: 'expected', why, quarantineEnds, when, unless: preventions[why] },
    atMs: Math.max(atMs, heldUntilMs),
    holds: unansweredHolds(pod.nodeName, sources),
  };
}

function keptOutlook(pod: PodView, sources: ReportSources): CollectionOutlook | null {
  if (isHeldByFinalizers(pod)) return { kind: 'held-by-finalizers' };
  return isTerminated(pod) ? { kind: 'kept', ...finishedPods(sources) } : null;
}

/** Report of the garbage collection of all pods, with the time of the next round. */
export function readPodGc(sources: ReportSources, { leading, now }: ClusterReport): PodGcReport {
  const { podGc } = sources.stages;
  const nextRoundAtMs = leading ? podGc.roundFromMs(now.monotonicMs) : Infinity;
  const nextRound = formatEstimate(nextRoundAtMs, now);
  return { ...finishedPods(sources), nextRound, missingNodes: podGc.missingNodes };
}

/** Number of terminated pods, and how many are kept. */
function finishedPods({ informers, podGc }: ReportSources): FinishedPodsReport {
  let finished = 0;
  for (const pod of informers.pods.store.values()) if (isTerminated(pod)) finished += 1;
  const { terminatedPodGcThreshold, terminatedPodGcPerNode = 0, terminatedPodGcAgeMs } = podGc.current();
  return {
    finished,
    threshold: terminatedPodGcThreshold > 0 ? terminatedPodGcThreshold : null,
    ...(terminatedPodGcPerNode > 0 && { perNode: terminatedPodGcPerNode }),
    ...(terminatedPodGcAgeMs !== undefined && { ageSeconds: terminatedPodGcAgeMs / 1_000 }),
  };
}

interface Expected {
  readonly why: PodGcReason;
  readonly atMs: number;
  /** End of the quarantine of its missing node; undefined where its node is not missing. */
  readonly quarantineEndsMs: number | undefined;
}

function expectedSurplus(pod: PodView, { informers, podGc, stages, clock }: ReportSources): readonly Expected[] {
  if (!isTerminated(pod) || isHeldByFinalizers(pod)) return [];
  const surplus = decideTerminated(informers.pods.store.values(), podGc.current(), clock.nowMs());
  const isNow = surplus.pods.some(({ uid }) => uid === pod.uid);
  const endsMs = isCompleted(pod) ? ageEndsMs(pod, podGc.current()) : Infinity;
  const atMs = isNow ? -Infinity : endsMs - clock.nowMs();
  if (atMs === Infinity) return [];
  const round = stages.podGc.roundFromMs(clock.monotonicMs() + Math.max(0, atMs));
  return [{ why: 'terminated', atMs: round, quarantineEndsMs: undefined }];
}

function expectedByRules(pod: PodView, { informers, stages, clock }: ReportSources): readonly Expected[] {
  const nowMs = clock.monotonicMs();
  return rules
    .filter((why) => fallsUnder(why, pod, (name) => informers.nodes.store.get(name)))
    .map((why) => {
      const quarantineEndsMs = why === 'orphaned' ? stages.podGc.quarantineEndsAtMs(pod.nodeName) : undefined;
      return { why, atMs: stages.podGc.roundFromMs(Math.max(nowMs, quarantineEndsMs ?? nowMs)), quarantineEndsMs };
    });
}

/** Holds because the missing node of a pod could not be read. */
function unansweredHolds(node: string, { stages }: ReportSources): readonly ExplainedHold[] {
  const last = stages.decisions.of(node).at(-1)?.decision;
  const why = last?.kind === 'orphans-kept' ? last.why : undefined;
  if (why === 'not-permitted')
    return [{ kind: 'node-unanswered', node, unblockedBy: [{ kind: 'permission', needed: 'get of nodes' }] }];
  if (why !== 'api-not-answering') return [];
  return [{ kind: 'node-unanswered', node, unblockedBy: [{ kind: 'api-answers' }] }];
}
