import type { Pod } from '../../../machinery/api/pod.ts';

/** The generation of the spec that a status refers to; absent for a static pod, which has no generation. */
export function selectObservedGeneration({ metadata }: Pod): { readonly observedGeneration?: number } {
  const { generation = 0 } = metadata;
  return generation === 0 ? {} : { observedGeneration: generation };
}
