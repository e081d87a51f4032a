// Pods of a node complete one after the other, and are deleted when they are too old, or more than are kept on a node.
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import type { DrillContext, DrillViolation } from './drill-context.ts';
import { type Drill, type DrillCluster, drawNodes, tailMs } from './drill-plan.ts';
import type { PodRecord } from './drill-record.ts';
import { dueTimes, earlyMs, seconds } from './due-times.ts';

const jobs = { count: 6, everyMs: 5_000, runMs: 25_000 } as const;
/** Rounds of the collector begin so long after each other, and take a moment. */
const roundMs = 21_000;

export function planCollectionDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const [node] = drawNodes(random, cluster);
  const bound = oneOf(random, [{ ageMs: 40_000 }, { kept: 2 }]);
  if (node === undefined || !cluster.clocksAgree) return undefined;
  const durationMs = jobs.count * jobs.everyMs + jobs.runMs + (bound.ageMs ?? 0) + roundMs + tailMs;
  const change = { terminatedPodGcAgeMs: bound.ageMs, terminatedPodGcPerNode: bound.kept };
  const acts: readonly PlannedFault[] = [
    { atMs: 50, forMs: durationMs + tailMs, fault: { kind: 'settings', change } },
    { atMs: 100, forMs: durationMs + tailMs, fault: { kind: 'jobs', node, ...jobs } },
  ];
  return { name: 'collection', acts, durationMs, stuck: [], collected: { node, ...bound } };
}

/** Completed pods that were deleted too early, or are left too long. */
export function findCollectionViolations(context: DrillContext): readonly DrillViolation[] {
  const { collected } = context.drill;
  if (collected === undefined) return [];
  const pods = [...context.record.pods.values()].filter(({ node }) => node === collected.node);
  // A taint of a user evicts pods of the node, completed ones too.
  if (pods.some((pod) => isEvicted(pod, context))) return [];
  const found =
    collected.ageMs === undefined
      ? findMiscounted(pods, collected.kept ?? 0, context)
      : findMistimed(pods, collected.ageMs, context);
  return found.map(({ subject, text }) => ({ invariant: 'completed-pods-are-kept', subject, text }));
}

function isEvicted(pod: PodRecord, { record }: DrillContext): boolean {
  const atMs = pod.deletion?.atMs;
  if (atMs === undefined) return false;
  return dueTimes(pod, record.nodes.get(pod.node)?.states ?? [], atMs).some((dueMs) => dueMs <= atMs + earlyMs);
}

type Finding = Omit<DrillViolation, 'invariant'>;

function findMistimed(pods: readonly PodRecord[], ageMs: number, { slackMs, span }: DrillContext): readonly Finding[] {
  return pods.flatMap(({ key: subject, overMs, deletion }) => {
    if (overMs === undefined) return [];
    const dueMs = overMs + ageMs;
    const byMs = dueMs + roundMs + slackMs;
    const atMs = deletion?.atMs ?? Infinity;
    const about = `completed at ${seconds(overMs)}, kept for ${seconds(ageMs)}`;
    // One that was complete when the drill began had completed at any time before.
    if (overMs > span.fromMs && atMs < dueMs - slackMs)
      return [{ subject, text: `deleted at ${seconds(atMs)}, ${about}` }];
    return byMs < span.untilMs && atMs > byMs ? [{ subject, text: `not deleted at ${seconds(byMs)}, ${about}` }] : [];
  });
}

/** At any time the newest ones are left, so many of them, and soon no more. */
function findMiscounted(pods: readonly PodRecord[], kept: number, context: DrillContext): readonly Finding[] {
  const newestFirst = pods.toSorted((a, b) => b.createdMs - a.createdMs);
  return pods.flatMap(({ key: subject, overMs = Infinity, deletion, createdMs }) => {
    const atMs = deletion?.atMs ?? Infinity;
    // Completed a moment ago, a newer one may not be known as such yet: an older one stays then.
    const newer = newestFirst.filter((pod) => pod.createdMs > createdMs && pod.overMs !== undefined);
    const newerAt = (ms: number): number => newer.filter((pod) => (pod.overMs ?? Infinity) <= ms).length;
    if (atMs < Infinity && newerAt(atMs) < kept)
      return [{ subject, text: `deleted at ${seconds(atMs)}, with ${newerAt(atMs)} newer ones of ${kept} to keep` }];
    const crowdedMs = Math.max(overMs, newer.at(-kept)?.overMs ?? Infinity);
    const byMs = crowdedMs + roundMs + context.slackMs;
    if (byMs >= context.span.untilMs || atMs <= byMs) return [];
    return [{ subject, text: `not deleted at ${seconds(byMs)}, with ${kept} newer ones since ${seconds(crowdedMs)}` }];
  });
}
