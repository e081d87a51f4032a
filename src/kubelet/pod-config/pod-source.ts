import type { Pod } from '../../api/pod.ts';
import type { GroupLoop } from '../loop-group.ts';
import type { PodSourceName } from './pod-update.ts';

/** Hands over all pods that a source has now. Resolves when they are merged and delivered; until then the source waits. */
export type SendPods = (pods: readonly Pod[], signal: AbortSignal) => Promise<void>;

/** Something that knows pods, and says so whenever they may have changed. */
export interface PodSource {
  readonly name: PodSourceName;
  /** Sends until the signal aborts, through everything that goes wrong with the source. */
  run(send: SendPods, signal: AbortSignal): Promise<void>;
  /** The same as a loop that costs next to nothing while it rests, of a source that can be one. */
  resting?(send: SendPods): GroupLoop;
}
