import type { UnconfirmedReason } from './decisions.ts';
import type { PodView } from '../api/pod.ts';
import type { PodGcReason } from './decisions.ts';
import type { CollectionFacts, ExpectedCollection, FinishedFacts } from './explain/facts.ts';
import {
  decideTerminated,
  fallsUnder,
  isHeldByFinalizers,
  isTerminated,
  type NodeLookup,
} from './pod-gc/decide-collection.ts';
import type { PodGarbageCollector } from './pod-gc/pod-garbage-collector.ts';

export interface AllPods {
  /** Of the cluster, from the beginning at each call. */
  readonly pods: () => Iterable<PodView>;
  readonly terminatedPodGcThreshold: number;
}

export interface CollectionMeans extends AllPods {
  readonly nodeOf: NodeLookup;
  readonly collector: Pick<PodGarbageCollector, 'roundFromMs' | 'quarantineEndsAtMs'>;
  readonly nowMs: number;
  readonly nodeUnanswered: UnconfirmedReason | undefined;
}

/** Which rules of the pod garbage collector a pod falls under, and when a round acts on each. The rules themselves are asked. */
export function deriveCollectionFacts(pod: PodView, means: CollectionMeans): CollectionFacts {
  return {
    expected: [...expectedSurplus(pod, means), ...rulesFor(pod, means)],
    finished: isTerminated(pod) ? deriveFinished(means) : undefined,
    heldByFinalizers: isHeldByFinalizers(pod),
    nodeUnanswered: means.nodeUnanswered,
  };
}

/** How many pods have finished, against how many are kept. */
export function deriveFinished({ pods, terminatedPodGcThreshold: threshold }: AllPods): FinishedFacts {
  let finished = 0;
  for (const pod of pods()) if (isTerminated(pod)) finished += 1;
  return { finished, threshold };
}

function expectedSurplus(pod: PodView, means: CollectionMeans): readonly ExpectedCollection[] {
  const { pods, terminatedPodGcThreshold, collector, nowMs } = means;
  if (!isTerminated(pod)) return [];
  const isSurplus = decideTerminated(pods(), terminatedPodGcThreshold).pods.some(({ uid }) => uid === pod.uid);
  if (!isSurplus) return [];
  return [{ why: 'terminated', atMs: collector.roundFromMs(nowMs), quarantineEndsMs: undefined }];
}

const rules: readonly Exclude<PodGcReason, 'terminated'>[] = ['out-of-service', 'orphaned', 'unscheduled'];

function rulesFor(pod: PodView, { nodeOf, collector, nowMs }: CollectionMeans): readonly ExpectedCollection[] {
  return rules
    .filter((why) => fallsUnder(why, pod, nodeOf))
    .map((why) => {
      const quarantineEndsMs = why === 'orphaned' ? collector.quarantineEndsAtMs(pod.nodeName) : undefined;
      return { why, atMs: collector.roundFromMs(Math.max(nowMs, quarantineEndsMs ?? nowMs)), quarantineEndsMs };
    });
}
