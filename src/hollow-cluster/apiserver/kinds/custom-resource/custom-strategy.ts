import type { ServedResource } from '../../resources.ts';
import type { KindRules } from '../plain-strategy.ts';

/** A cluster-scoped custom resource with a status (upstream `apiextensions-apiserver/pkg/registry/customresource`). */
export function customRules(served: ServedResource): KindRules {
  return {
    needsVersion: true,
    prepareNew: (draft) => {
      delete draft.status;
    },
    // `/status` changes nothing but the status, not even metadata.
    prepareChange: (draft, stored, endpoint) => {
      if (endpoint === 'status') draft.metadata = structuredClone(stored.metadata);
    },
    validate: (draft) => served.custom?.validate(draft) ?? [],
  };
}
