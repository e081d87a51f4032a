/** ConfigMaps (upstream `ValidateConfigMap`, `printConfigMap`). */
import { ownValue } from '../../../../machinery/api/json-map.ts';
import { sameJson } from '../../../../machinery/api/json-values.ts';
import { type FieldError, forbiddenField, invalidField, tooLongField } from '../../api-errors/field-errors.ts';
import { mapAt } from '../../../../machinery/api/select-field.ts';
import type { KindRules } from '../plain-strategy.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { checkFormat } from '../../validation/field-checks.ts';
import { explainDataKey } from '../../validation/formats.ts';
import { ageColumn, nameColumn, numberColumn, type PrintedColumn } from '../../printing/describe-columns.ts';

/** Upstream `MaxSecretSize`. */
const dataBytesMax = 1024 * 1024;
const immutableDetail = 'field is immutable when `immutable` is set';

export const configMapRules: KindRules = {
  validateSpec: validateConfigMap,
  validateChange: validateConfigMapChange,
};

function validateConfigMap(draft: Draft): readonly FieldError[] {
  const binary = mapAt(draft, 'binaryData');
  const repeated = Object.keys(mapAt(draft, 'data')).filter((key) => ownValue(binary, key) !== undefined);
  return [
    ...validateKeys(draft, 'data'),
    ...repeated.map((key) => invalidField(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...validateKeys(draft, 'binaryData'),
    ...validateSize(draft),
  ];
}

function validateKeys(draft: Draft, field: string): readonly FieldError[] {
  return Object.keys(mapAt(draft, field)).flatMap((key) => checkFormat(`${field}[${key}]`, key, explainDataKey));
}

/** The texts and the base64 texts together are limited. */
function validateSize(draft: Draft): readonly FieldError[] {
  const bytesOf = (field: string, encoding: BufferEncoding): number =>
    Object.values(mapAt(draft, field)).reduce<number>(
      (sum, text) => sum + Buffer.byteLength(String(text), encoding),
      0,
    );
  if (bytesOf('data', 'utf8') + bytesOf('binaryData', 'base64') <= dataBytesMax) return [];
  return [tooLongField('', `may not be more than ${dataBytesMax} bytes`)];
}

/** A ConfigMap that is marked as immutable stays as it is. */
function validateConfigMapChange(draft: Draft, stored: Draft): readonly FieldError[] {
  if (stored['immutable'] !== true) return [];
  return ['immutable', 'data', 'binaryData']
    .filter((field) => !sameJson(ownValue(draft, field), ownValue(stored, field)))
    .map((field) => forbiddenField(field, immutableDetail));
}

export const configMapColumns: readonly PrintedColumn[] = [
  nameColumn,
  numberColumn('Data', 'Number of entries.', (configMap) =>
    ['data', 'binaryData'].reduce((sum, field) => sum + Object.keys(mapAt(configMap, field)).length, 0),
  ),
  ageColumn,
];
