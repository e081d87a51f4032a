import { ownValue, setOwn } from '../../../machinery/api/json-map.ts';
import { isMap, type MutableJsonMap } from '../../../machinery/api/select-field.ts';
import { apiVersionOf, type GroupVersionKind } from '../resources.ts';
import { toWireField, toWireForm, type WireForm } from './wire-form.ts';

type Schema = Readonly<Record<string, unknown>>;

const objectMeta = 'k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The kind of an object; of a custom resource, with its schema. */
type FormKind = GroupVersionKind & { readonly custom?: { readonly schema: Schema } };

/** The wire form of an object, built-in or custom. Throws a WireFormError for a value that is invalid for its field. */
export function toFormOf(kind: FormKind, object: MutableJsonMap): WireForm {
  if (kind.custom !== undefined) return toCustomForm(kind.custom.schema, object);
  return toWireForm(apiVersionOf(kind), kind.kind, object);
}

/**
 * A custom resource without the fields that its structural schema does not have (upstream `structuralschema/pruning`). The
 * metadata is that of every object. Throws a WireFormError for malformed metadata.
 */
export function toCustomForm(schema: Schema, object: MutableJsonMap): WireForm {
  const { metadata, ...fields } = object;
  const known = toWireField(objectMeta, 'metadata', metadata);
  const unknown: string[] = [...known.unknown];
  const { metadata: _metadata, ...properties } = propertiesOf(schema);
  const pruned = pruneFields(fields, { ...schema, properties }, '', unknown);
  return { object: { metadata: known.object, ...pruned }, unknown };
}

function propertiesOf({ properties }: Schema): Schema {
  return isMap(properties) ? properties : {};
}

/** Adds the paths of what it drops to `unknown`. */
function prune(value: unknown, schema: unknown, path: string, unknown: string[]): unknown {
  if (!isMap(schema)) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => prune(item, schema['items'], `${path}[${index}]`, unknown));
  }
  return isMap(value) ? pruneFields(value, schema, path, unknown) : value;
}

function pruneFields(value: MutableJsonMap, schema: Schema, path: string, unknown: string[]): MutableJsonMap {
  const properties = propertiesOf(schema);
  const { additionalProperties } = schema;
  const kept: MutableJsonMap = {};
  for (const [field, part] of Object.entries(value)) {
    const place = path === '' ? field : `${path}.${field}`;
    const of = ownValue(properties, field) ?? additionalProperties;
    if (of === undefined) unknown.push(place);
    else setOwn(kept, field, prune(part, of, place, unknown));
  }
  return kept;
}
