import { sameJson } from '../../../../machinery/api/json-values.ts';
import { type ServedResource, tableOf } from '../../resources.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { type Endpoint, isolateStatus, plainStrategy, type Strategy } from '../strategy.ts';
import { explainSubdomain } from '../../validation/formats.ts';

/** A cluster-scoped custom resource with a status (upstream `apiextensions-apiserver/pkg/registry/customresource`). */
export function customStrategy(served: ServedResource): Strategy {
  return {
    ...plainStrategy,
    table: tableOf(served),
    namespaced: false,
    needsVersion: true,
    explainName: explainSubdomain,
    fieldLabels: { labels: ['metadata.name'] },
    prepareCreate: (draft) => {
      draft.metadata.generation = 1;
      delete draft.status;
    },
    prepareUpdate,
    validate: (draft) => served.custom?.validate(draft) ?? [],
  };
}

/** `/status` changes nothing but the status, not even metadata. */
function prepareUpdate(draft: Draft, stored: Draft, endpoint: Endpoint): void {
  isolateStatus(draft, stored, endpoint);
  if (endpoint === 'status') draft.metadata = structuredClone(stored.metadata);
  else if (!sameJson(draft.spec, stored.spec)) draft.metadata.generation = (stored.metadata.generation ?? 0) + 1;
}
