/** Configuration and storage of the core group (upstream `pkg/apis/core/v1/defaults.go`, `pkg/registry/core`). */
import type { KindRules } from '../registry/plain-strategy.ts';
import { isMap, mapAt, mapsAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { validateClaimChange, validateClaimSpec, validateVolume } from './claim-validation.ts';
import { validateConfigMap, validateConfigMapChange, validateSecret, validateSecretChange } from './data-validation.ts';
import { validateEndpoints } from './endpoint-validation.ts';
import { ensureMap, fillIn, fillZero } from './fill-in.ts';
import { defaultSources } from './pod-spec-defaults.ts';
import { serviceRules } from './service-rules.ts';

const claims = { hasGeneration: false, returnsDeleted: true, initialStatus: { phase: 'Pending' } } as const;

/** By the table of the kind. */
export const coreRules: Readonly<Record<string, KindRules>> = {
  configmaps: { validateSpec: validateConfigMap, validateChange: validateConfigMapChange },
  secrets: {
    setDefaults: defaultSecret,
    fieldLabels: { labels: ['metadata.name', 'metadata.namespace', 'type'] },
    fieldsOf: (draft) => ({ type: textAt(draft, 'type') }),
    validateSpec: validateSecret,
    validateChange: validateSecretChange,
  },
  serviceaccounts: { returnsDeleted: true },
  services: serviceRules,
  endpoints: {
    setDefaults: (draft) => {
      for (const subset of mapsAt(draft, 'subsets')) {
        for (const port of mapsAt(subset, 'ports')) fillZero(port, { protocol: 'TCP' });
      }
    },
    validateSpec: validateEndpoints,
  },
  resourcequotas: { hasGeneration: false, returnsDeleted: true },
  persistentvolumeclaims: {
    ...claims,
    setDefaults: (draft) => {
      fillIn(ensureMap(draft, 'spec'), { volumeMode: 'Filesystem' });
    },
    validateCreate: ({ spec = {} }) => validateClaimSpec(spec, 'spec'),
    validateChange: validateClaimChange,
  },
  persistentvolumes: {
    ...claims,
    setDefaults: (draft) => {
      const spec = fillIn(ensureMap(draft, 'spec'), { volumeMode: 'Filesystem' });
      fillZero(spec, { persistentVolumeReclaimPolicy: 'Retain' });
      defaultSources(spec);
    },
    validateSpec: validateVolume,
    prepareNew: (draft, { now }) => Object.assign(ensureMap(draft, 'status'), { lastPhaseTransitionTime: now }),
    prepareChange: (draft, stored, _endpoint, { now }) => {
      if (textAt(draft.status, 'phase') === textAt(stored.status, 'phase')) return;
      Object.assign(ensureMap(draft, 'status'), { lastPhaseTransitionTime: now });
    },
  },
};

function defaultSecret(draft: Draft): void {
  fillZero(draft, { type: 'Opaque' });
  const { stringData } = draft;
  if (!isMap(stringData)) return;
  const encoded = Object.entries(stringData).map(
    ([key, text]) => [key, Buffer.from(String(text)).toString('base64')] as const,
  );
  draft['data'] = { ...mapAt(draft, 'data'), ...Object.fromEntries(encoded) };
  delete draft['stringData'];
}
