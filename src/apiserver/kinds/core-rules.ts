/** Configuration, storage and quotas of the core group (upstream `pkg/apis/core/v1/defaults.go`, `pkg/registry/core`). */
import { sameJson } from '../../api/same-json.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
} from '../api-errors/field-errors.ts';
import type { KindRules } from '../registry/plain-strategy.ts';
import { isMap, mapAt, mapsAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { ensureMap, fillIn, fillZero } from './fill-in.ts';
import { defaultSources } from './pod-spec-defaults.ts';
import { serviceRules } from './service-rules.ts';

/** Upstream `MaxSecretSize`. */
const dataBytesMax = 1024 * 1024;
const keyLengthMax = 253;
const dataKey = /^[-._a-zA-Z0-9]+$/;
const keyDetail =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const immutableDetail = 'field is immutable when `immutable` is set';
const claims = { hasGeneration: false, returnsDeleted: true, initialStatus: { phase: 'Pending' } } as const;

/** By the table of the kind. */
export const coreRules: Readonly<Record<string, KindRules>> = {
  configmaps: {
    validate: (draft) => [
      ...validateKeys(draft, 'data'),
      ...validateKeys(draft, 'binaryData'),
      ...validateSize([draft['data']], [draft['binaryData']], ''),
    ],
    validateUpdate: (draft, stored) => validateImmutable(draft, stored, ['data', 'binaryData']),
  },
  secrets: {
    setDefaults: defaultSecret,
    fieldLabels: { labels: ['metadata.name', 'metadata.namespace', 'type'] },
    fieldsOf: (draft) => ({ type: textAt(draft, 'type') }),
    validate: (draft) => [
      ...validateKeys(draft, 'data'),
      ...validateSize([], [draft['data']], 'data'),
      ...validateSecretType(draft),
    ],
    validateUpdate: validateSecretUpdate,
  },
  serviceaccounts: { returnsDeleted: true },
  services: serviceRules,
  endpoints: {
    setDefaults: (draft) => {
      for (const subset of mapsAt(draft, 'subsets')) {
        for (const port of mapsAt(subset, 'ports')) fillZero(port, { protocol: 'TCP' });
      }
    },
  },
  limitranges: { setDefaults: defaultLimitRange },
  resourcequotas: { hasGeneration: false, returnsDeleted: true },
  persistentvolumeclaims: {
    ...claims,
    setDefaults: (draft) => {
      fillIn(ensureMap(draft, 'spec'), { volumeMode: 'Filesystem' });
    },
  },
  persistentvolumes: {
    ...claims,
    setDefaults: (draft) => {
      const spec = fillIn(ensureMap(draft, 'spec'), { volumeMode: 'Filesystem' });
      fillZero(spec, { persistentVolumeReclaimPolicy: 'Retain' });
      defaultSources(spec);
    },
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

/** The limits of containers are the defaults of their limits and requests. */
function defaultLimitRange({ spec }: Draft): void {
  for (const limit of mapsAt(spec, 'limits').filter(({ type }) => type === 'Container')) {
    const limits = { ...mapAt(limit, 'max'), ...mapAt(limit, 'default') };
    const requests = { ...mapAt(limit, 'min'), ...limits, ...mapAt(limit, 'defaultRequest') };
    if (Object.keys(limits).length > 0) limit['default'] = limits;
    if (Object.keys(requests).length > 0) limit['defaultRequest'] = requests;
  }
}

function validateKeys(draft: Draft, field: string): readonly FieldError[] {
  return Object.keys(mapAt(draft, field)).flatMap((key) => {
    const errors: FieldError[] = [];
    if (key.length > keyLengthMax) {
      errors.push(invalidField(`${field}[${key}]`, key, `must be no more than ${keyLengthMax} characters`));
    }
    if (!dataKey.test(key)) errors.push(invalidField(`${field}[${key}]`, key, keyDetail));
    if (field === 'data' && mapAt(draft, 'binaryData')[key] !== undefined) {
      errors.push(invalidField(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    return errors;
  });
}

function validateSize(texts: readonly unknown[], encoded: readonly unknown[], field: string): readonly FieldError[] {
  const valuesOf = (maps: readonly unknown[]): readonly string[] =>
    maps.flatMap((map) => Object.values(isMap(map) ? map : {}).map(String));
  const bytes = [
    ...valuesOf(texts).map((text) => Buffer.byteLength(text)),
    ...valuesOf(encoded).map((text) => Buffer.byteLength(text, 'base64')),
  ].reduce((sum, length) => sum + length, 0);
  return bytes <= dataBytesMax ? [] : [tooLongField(field, `may not be more than ${dataBytesMax} bytes`)];
}

/** The keys that a type needs. */
function validateSecretType(draft: Draft): readonly FieldError[] {
  const data = mapAt(draft, 'data');
  const missing = (...keys: readonly string[]): readonly FieldError[] =>
    keys.filter((key) => data[key] === undefined).map((key) => requiredField(`data[${key}]`));
  switch (draft['type']) {
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key');
    case 'kubernetes.io/dockercfg':
      return missing('.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return missing('.dockerconfigjson');
    case 'kubernetes.io/ssh-auth':
      return missing('ssh-privatekey');
    case 'kubernetes.io/basic-auth': {
      const errors = missing('username', 'password');
      return errors.length === 2 ? errors : [];
    }
    case 'kubernetes.io/service-account-token': {
      const name = 'kubernetes.io/service-account.name';
      return draft.metadata.annotations?.[name] === undefined ? [requiredField(`metadata.annotations[${name}]`)] : [];
    }
    default:
      return [];
  }
}

function validateSecretUpdate(draft: Draft, stored: Draft): readonly FieldError[] {
  const changed = draft['type'] !== stored['type'];
  return [
    ...(changed ? [invalidField('type', draft['type'], 'field is immutable')] : []),
    ...validateImmutable(draft, stored, ['data']),
  ];
}

function validateImmutable(draft: Draft, stored: Draft, fields: readonly string[]): readonly FieldError[] {
  if (stored['immutable'] !== true) return [];
  return ['immutable', ...fields]
    .filter((field) => !sameJson(draft[field], stored[field]))
    .map((field) => forbiddenField(field, immutableDetail));
}
