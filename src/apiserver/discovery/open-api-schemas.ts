/**
 * Component schemas: the shape of every type of the served kinds, from the same table that decodes protobuf, with the
 * merge rules of lists. `kubectl explain` prints them, and `kubectl apply` computes its patches from them.
 */
import { ownValue, setOwn } from '../../api/json-map.ts';
import { type MessageField, messageFields } from '../codec/message-table.ts';
import { apiVersionOf, type GroupVersionKind, type ServedResource } from '../resources.ts';
import { describedFields, describedTypes } from './schema-descriptions.ts';

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
  'k8s.io.api.authentication.v1.ExtraValue': { type: 'array', items: { type: 'string' } },
  'k8s.io.api.authorization.v1.ExtraValue': { type: 'array', items: { type: 'string' } },
  'k8s.io.api.certificates.v1.ExtraValue': { type: 'array', items: { type: 'string' } },
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
  apiVersion: { type: 'string', description: 'Group and version of the schema of this object.' },
  kind: { type: 'string', description: 'Kind of the object.' },
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

/** The schema of a list of a kind, with its name. */
export function listSchema(kind: GroupVersionKind, message: string): readonly [string, Schema] {
  const items = {
    type: 'array',
    items: schemaRef(schemaName(message)),
    description: `The objects, of kind ${kind.kind}.`,
  };
  const schema = {
    type: 'object',
    description: `A list of ${kind.kind} objects of ${apiVersionOf(kind)}.`,
    required: ['items'],
    properties: { ...typeMetaProperties, metadata: listMetaSchema, items },
    'x-kubernetes-group-version-kind': [gvkOf({ ...kind, kind: `${kind.kind}List` })],
  };
  return [`${schemaName(message)}List`, schema];
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
  const metadata = { allOf: [schemaRef(schemaName(objectMetaMessage))], description: 'Standard object metadata.' };
  const schema = {
    ...custom.schema,
    properties: { ...properties, ...typeMetaProperties, metadata },
    'x-kubernetes-group-version-kind': [gvkOf(served)],
  };
  const [, list] = listSchema(served, '');
  const items = { type: 'array', items: schemaRef(name), description: `The objects, of kind ${served.kind}.` };
  const listProperties = isSchema(list['properties']) ? list['properties'] : {};
  return [
    [name, schema],
    [`${name}List`, { ...list, properties: { ...listProperties, items } }],
  ];
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
  description: 'Standard list metadata.',
  properties: {
    resourceVersion: {
      type: 'string',
      description: 'Version of the server state that the list shows; a watch can start from it.',
    },
    continue: { type: 'string', description: 'Token for the next page; empty on the last.' },
    remainingItemCount: { type: 'integer', format: 'int64', description: 'Number of objects on the following pages.' },
  },
};

function messageSchema(message: string, kinds: readonly GroupVersionKind[]): Schema {
  const name = message.split('.').at(-1) ?? message;
  const fields = [...(messageFields(message) ?? [])];
  const properties = Object.fromEntries(
    fields.map(([field, declared]) => [field, fieldSchema(declared, ownValue(ownValue(describedFields, name), field))]),
  );
  const description = ownValue(describedTypes, name);
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: kinds.length === 0 ? properties : { ...typeMetaProperties, ...properties },
    ...(kinds.length === 0 ? {} : { 'x-kubernetes-group-version-kind': kinds.map(gvkOf) }),
  };
}

function fieldSchema(field: MessageField, description: string | undefined): Schema {
  const { patchStrategy, mergeKey } = field.options ?? {};
  return {
    ...shapeOf(field),
    ...(description === undefined ? {} : { description }),
    ...(patchStrategy === undefined ? {} : { 'x-kubernetes-patch-strategy': patchStrategy }),
    ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
  };
}

function shapeOf(field: MessageField): Schema {
  const scalar = ownValue(scalarSchemas, field.type);
  const one = scalar ?? schemaRef(schemaName(field.type));
  if (field.rule === 'repeated') return { type: 'array', items: one };
  if (field.keyType !== undefined) return { type: 'object', additionalProperties: one };
  // $ref ignores its siblings, so it is wrapped in allOf to carry a description.
  return scalar ?? { allOf: [one] };
}

function usedBy(message: string): readonly string[] {
  return [...(messageFields(message)?.values() ?? [])]
    .map((field) => field.type)
    .filter((type) => ownValue(scalarSchemas, type) === undefined);
}
