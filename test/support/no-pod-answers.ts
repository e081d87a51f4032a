import { podKey, type PodView } from '../../src/machinery/api/pod.ts';
import { MutationCache } from '../../src/machinery/informer/mutation-cache.ts';

/** A writer's mutation cache of pods, on an empty store. */
export function noPodAnswers(): MutationCache<PodView> {
  return new MutationCache<PodView>(() => undefined, { keyOf: podKey });
}
