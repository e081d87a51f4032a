import type { PodView } from '../../machinery/api/pod.ts';

/** Differences between a pod as the shadow sees it and as it is; undefined where there is none. */
interface OwnPodSide {
  readonly notReady: boolean | undefined;
  readonly evicted: boolean | undefined;
  /** Its Ready status before the cluster marked it. */
  readonly readyBefore: string | undefined;
}

/** The pod as if only the shadow managed its lifecycle; everything else as it is, or was at its deletion. */
export function buildOwnPod(world: PodView, { notReady, evicted, readyBefore }: OwnPodSide): PodView {
  const ready = notReady === undefined ? {} : { ready: notReady ? 'False' : readyBefore };
  if (evicted === undefined) return notReady === undefined ? world : { ...world, ...ready };
  if (evicted) return { ...world, ...ready, terminating: true };
  return { ...world, ...ready, terminating: false, deletionGraceSeconds: undefined, disruptionReason: undefined };
}
