import type { Pod } from '../../api/pod.ts';

/** Of which version of the pod's spec a status speaks; a static pod has no generation, and nothing is said. */
export function deriveObservedGeneration({ metadata }: Pod): { readonly observedGeneration?: number } {
  const { generation = 0 } = metadata;
  return generation === 0 ? {} : { observedGeneration: generation };
}
