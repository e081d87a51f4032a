/** Configuration and Services of the core group (upstream `pkg/apis/core/v1/defaults.go`, `pkg/registry/core`). */
import type { KindRules } from '../registry/plain-strategy.ts';
import { isMap, mapAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { validateConfigMap, validateConfigMapChange, validateSecret, validateSecretChange } from './data-validation.ts';
import { fillZero } from './fill-in.ts';
import { serviceRules } from './service-rules.ts';

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
  resourcequotas: { hasGeneration: false, returnsDeleted: true },
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
