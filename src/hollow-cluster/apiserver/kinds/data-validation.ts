/** What ConfigMaps and Secrets must be (upstream `ValidateConfigMap`, `ValidateSecret`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
} from '../api-errors/field-errors.ts';
import { isMap, mapAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { checkFormat, checkKept } from '../validation/field-checks.ts';
import { explainDataKey } from '../validation/formats.ts';

/** Upstream `MaxSecretSize`. */
const dataBytesMax = 1024 * 1024;
const immutableDetail = 'field is immutable when `immutable` is set';
const accountName = 'kubernetes.io/service-account.name';

export function validateConfigMap(draft: Draft): readonly FieldError[] {
  const binary = mapAt(draft, 'binaryData');
  const repeated = Object.keys(mapAt(draft, 'data')).filter((key) => ownValue(binary, key) !== undefined);
  return [
    ...validateKeys(draft, 'data'),
    ...repeated.map((key) => invalidField(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...validateKeys(draft, 'binaryData'),
    ...validateSize([draft['data']], [draft['binaryData']], ''),
  ];
}

function validateKeys(draft: Draft, field: string): readonly FieldError[] {
  return Object.keys(mapAt(draft, field)).flatMap((key) => checkFormat(`${field}[${key}]`, key, explainDataKey));
}

/** The bytes of texts and of base64 texts together. */
function validateSize(texts: readonly unknown[], encoded: readonly unknown[], field: string): readonly FieldError[] {
  const bytesOf = (maps: readonly unknown[], encoding: BufferEncoding): number =>
    maps
      .flatMap((map) => Object.values(isMap(map) ? map : {}))
      .reduce<number>((sum, text) => sum + Buffer.byteLength(String(text), encoding), 0);
  if (bytesOf(texts, 'utf8') + bytesOf(encoded, 'base64') <= dataBytesMax) return [];
  return [tooLongField(field, `may not be more than ${dataBytesMax} bytes`)];
}

export function validateSecret(draft: Draft): readonly FieldError[] {
  const ofType = ownValue(rulesOfTypes, textAt(draft, 'type'))?.(mapAt(draft, 'data'), draft) ?? [];
  return [...validateKeys(draft, 'data'), ...validateSize([], [draft['data']], 'data'), ...ofType];
}

/** What a type needs. */
const rulesOfTypes: Readonly<Record<string, (data: MutableJsonMap, draft: Draft) => readonly FieldError[]>> = {
  'kubernetes.io/tls': (data) => missingOf(data, ['tls.crt', 'tls.key']),
  'kubernetes.io/dockercfg': (data) => validateDocument(data['.dockercfg'], 'data[.dockercfg]'),
  'kubernetes.io/dockerconfigjson': (data) => validateDocument(data['.dockerconfigjson'], 'data[.dockerconfigjson]'),
  'kubernetes.io/ssh-auth': (data) =>
    textAt(data, 'ssh-privatekey') === '' ? [requiredField('data[ssh-privatekey]')] : [],
  'kubernetes.io/basic-auth': (data) => {
    const errors = missingOf(data, ['username', 'password']);
    return errors.length === 2 ? errors : [];
  },
  'kubernetes.io/service-account-token': (_data, { metadata }) =>
    (metadata.annotations?.[accountName] ?? '') === '' ? [requiredField(`metadata.annotations[${accountName}]`)] : [],
};

function missingOf(data: MutableJsonMap, keys: readonly string[]): readonly FieldError[] {
  return keys.filter((key) => ownValue(data, key) === undefined).map((key) => requiredField(`data[${key}]`));
}

/** A JSON object in base64. The message does not show the content. */
function validateDocument(encoded: unknown, field: string): readonly FieldError[] {
  if (typeof encoded !== 'string') return [requiredField(field)];
  const problem = explainDocument(Buffer.from(encoded, 'base64').toString());
  return problem === undefined ? [] : [invalidField(field, '<secret contents redacted>', problem)];
}

/** In the words of Go where they do not depend on the place of the error. */
function explainDocument(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return 'unexpected end of JSON input';
  const parsed = parse(trimmed);
  if (parsed === undefined) return explainSyntax(trimmed);
  if (parsed === null || isMap(parsed)) return undefined;
  const type = Array.isArray(parsed) ? 'array' : typeof parsed === 'boolean' ? 'bool' : typeof parsed;
  return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function explainSyntax(text: string): string {
  const [first = '', second = ''] = text.replaceAll(/\s/g, '');
  if (first === '{' && second !== '"' && second !== '') {
    return `invalid character '${second}' looking for beginning of object key string`;
  }
  if (!'{["-0123456789tfn'.includes(first)) return `invalid character '${first}' looking for beginning of value`;
  return 'the content is not valid JSON';
}

export function validateConfigMapChange(draft: Draft, stored: Draft): readonly FieldError[] {
  return validateImmutable(draft, stored, ['data', 'binaryData']);
}

export function validateSecretChange(draft: Draft, stored: Draft): readonly FieldError[] {
  return [...checkKept([draft, stored], ['type'], ''), ...validateImmutable(draft, stored, ['data'])];
}

function validateImmutable(draft: Draft, stored: Draft, fields: readonly string[]): readonly FieldError[] {
  if (stored['immutable'] !== true) return [];
  return ['immutable', ...fields]
    .filter((field) => !sameJson(ownValue(draft, field), ownValue(stored, field)))
    .map((field) => forbiddenField(field, immutableDetail));
}
