import type { PodView } from '../../api/pod.ts';

/** In what a pod differs for us from what it is: undefined where it does not. */
export interface OwnPodSide {
  readonly notReady: boolean | undefined;
  readonly evicted: boolean | undefined;
  /** Its Ready answer before they marked it. */
  readonly readyBefore: string | undefined;
}

/** The pod as it would be if its lifecycle were ours alone; everything else as it is, or was when it went. */
export function deriveOwnPod(world: PodView, { notReady, evicted, readyBefore }: OwnPodSide): PodView {
  const ready = notReady === undefined ? {} : { ready: notReady ? 'False' : readyBefore };
  if (evicted === undefined) return notReady === undefined ? world : { ...world, ...ready };
  if (evicted) return { ...world, ...ready, terminating: true };
  return { ...world, ...ready, terminating: false, deletionGraceSeconds: undefined, disruptionReason: undefined };
}
