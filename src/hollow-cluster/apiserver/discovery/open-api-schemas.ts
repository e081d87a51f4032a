/**
 * Component schemas: the shape of every type of the served kinds, from the same table that decodes protobuf, with the
 * merge rules of lists. `kubectl explain` prints them, and `kubectl apply` computes its patches from them. They have no
 * descriptions, which would be larger than all else in them.
 */
import { ownValue, setOwn } from '../../../machinery/api/json-map.ts';
import { type MessageField, messageFields, textLists } from '../codec/message-table.ts';
import type { GroupVersionKind, ServedResource } from '../resources.ts';

export type Schema = Readonly<Record<string, unknown>>;

const metaPackage = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** Types whose JSON form is a single value, and their OpenAPI schema. */
const valueSchemas: Readonly<Record<string, Schema>> = {
  [`${metaPackage}.Time`]: { type: 'string', format: 'date-time' },
  [`${metaPackage}.MicroTime`]: { type: 'string', format: 'date-time' },
  [`${metaPackage}.FieldsV1`]: { type: 'object' },
  'k8s.io.apimachinery.pkg.runtime.RawExtension': { type: 'object' },
  'k8s.io.apimachinery.pkg.api.resource.Quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': {
    format: 'int-or-string',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  },
  ...Object.fromEntries([...textLists].map((name) => [name, { type: 'array', items: { type: 'string' } }] as const)),
};

const scalarSchemas: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

const typeMetaProperties: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
};

/** A name under `#/components/schemas/`: the package with its domain reversed, as upstream, and the type. */
export function schemaName(message: string): string {
  return message.replace(/^k8s\.io\./, 'io.k8s.');
}

export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Schemas of these messages and of all types they use. `kinds` marks the messages that are top-level objects. */
export function schemasOf(
  roots: readonly string[],
  kinds: ReadonlyMap<string, readonly GroupVersionKind[]>,
): Readonly<Record<string, Schema>> {
  const schemas: Record<string, Schema> = {};
  const waiting = [...roots];
  for (let message = waiting.pop(); message !== undefined; message = waiting.pop()) {
    const name = schemaName(message);
    if (ownValue(schemas, name) !== undefined) continue;
    setOwn(schemas, name, ownValue(valueSchemas, message) ?? messageSchema(message, kinds.get(message) ?? []));
    if (ownValue(valueSchemas, message) === undefined) waiting.push(...usedBy(message));
  }
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The schema of a list of a kind, with its name. `schema` is the name of the schema of its items. */
export function listSchema(kind: GroupVersionKind, schema: string): readonly [string, Schema] {
  const list = {
    type: 'object',
    required: ['items'],
    properties: { ...typeMetaProperties, metadata: listMetaSchema, items: { type: 'array', items: schemaRef(schema) } },
    'x-kubernetes-group-version-kind': [gvkOf({ ...kind, kind: `${kind.kind}List` })],
  };
  return [`${schema}List`, list];
}

export const objectMetaMessage = `${metaPackage}.ObjectMeta`;

/** The name of the schema of a custom resource: its group reversed, its version and kind. */
export function customSchemaName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

/** The schemas of a custom resource and of its list; none for any other. */
export function customSchemas(served: ServedResource): readonly (readonly [string, Schema])[] {
  const { custom } = served;
  if (custom === undefined) return [];
  const name = customSchemaName(served);
  const properties = isSchema(custom.schema['properties']) ? custom.schema['properties'] : {};
  const metadata = schemaRef(schemaName(objectMetaMessage));
  const schema = {
    ...custom.schema,
    properties: { ...properties, ...typeMetaProperties, metadata },
    'x-kubernetes-group-version-kind': [gvkOf(served)],
  };
  return [[name, schema], listSchema(served, name)];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}

/** The value of the extension `x-kubernetes-group-version-kind` for a kind. */
export function gvkOf({ group, version, kind }: GroupVersionKind): Schema {
  return { group, kind, version };
}

const listMetaSchema: Schema = {
  type: 'object',
  properties: {
    resourceVersion: { type: 'string' },
    continue: { type: 'string' },
    remainingItemCount: { type: 'integer', format: 'int64' },
  },
};

function messageSchema(message: string, kinds: readonly GroupVersionKind[]): Schema {
  const fields = [...(messageFields(message) ?? [])];
  const properties = Object.fromEntries(fields.map(([field, declared]) => [field, fieldSchema(declared)]));
  return {
    type: 'object',
    properties: kinds.length === 0 ? properties : { ...typeMetaProperties, ...properties },
    ...(kinds.length === 0 ? {} : { 'x-kubernetes-group-version-kind': kinds.map(gvkOf) }),
  };
}

function fieldSchema(field: MessageField): Schema {
  const { patchStrategy, mergeKey } = field.options ?? {};
  return {
    ...shapeOf(field),
    ...(patchStrategy === undefined ? {} : { 'x-kubernetes-patch-strategy': patchStrategy }),
    ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
  };
}

function shapeOf(field: MessageField): Schema {
  const scalar = ownValue(scalarSchemas, field.type);
  const one = scalar ?? schemaRef(schemaName(field.type));
  if (field.rule === 'repeated') return { type: 'array', items: one };
  if (field.keyType !== undefined) return { type: 'object', additionalProperties: one };
  // $ref ignores its siblings, so it is wrapped in allOf to carry a patch strategy.
  return scalar ?? { allOf: [one] };
}

function usedBy(message: string): readonly string[] {
  return [...(messageFields(message)?.values() ?? [])]
    .map((field) => field.type)
    .filter((type) => ownValue(scalarSchemas, type) === undefined);
}
