/**
 * OpenAPI paths and operations. Clients use only a few parts: the kind of an operation, whether a patch accepts
 * `fieldValidation` (otherwise `kubectl create` sends no request), and the supported patch types.
 */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { messageNameOf } from '../codec/message-table.ts';
import { customSchemaName, gvkOf, type Schema, schemaName, schemaRef } from './open-api-schemas.ts';
import { apiVersionOf, type GroupVersionKind, type ServedResource, type Verb } from '../resources.ts';

interface Operation {
  readonly method: 'delete' | 'get' | 'patch' | 'post' | 'put';
  readonly action: string;
  readonly parameters: readonly string[];
  /** The request body: the object itself, one of the patch types, or DeleteOptions. */
  readonly body?: 'object' | 'patch' | 'options';
}

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

const selection = ['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion', 'resourceVersionMatch'];
const watching = ['watch', 'allowWatchBookmarks', 'sendInitialEvents', 'timeoutSeconds'];
const writing = ['dryRun', 'fieldManager', 'fieldValidation'];
const deleting = ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'];

const parameterTypes: Readonly<Record<string, string>> = {
  limit: 'integer',
  timeoutSeconds: 'integer',
  gracePeriodSeconds: 'integer',
  watch: 'boolean',
  allowWatchBookmarks: 'boolean',
  sendInitialEvents: 'boolean',
  orphanDependents: 'boolean',
};

const operations: Readonly<Record<Exclude<Verb, 'watch'>, Operation>> = {
  list: { method: 'get', action: 'list', parameters: [...selection, ...watching] },
  create: { method: 'post', action: 'post', parameters: writing, body: 'object' },
  deletecollection: {
    method: 'delete',
    action: 'deletecollection',
    parameters: [...selection, ...deleting],
    body: 'options',
  },
  get: { method: 'get', action: 'get', parameters: ['resourceVersion'] },
  update: { method: 'put', action: 'put', parameters: writing, body: 'object' },
  patch: { method: 'patch', action: 'patch', parameters: [...writing, 'force'], body: 'patch' },
  delete: { method: 'delete', action: 'delete', parameters: deleting, body: 'options' },
};

const collectionVerbs = ['list', 'create', 'deletecollection'] as const;
const objectVerbs = ['get', 'update', 'patch', 'delete'] as const;

/** Every path of one resource, with its operations. */
export function pathsOf(served: ServedResource): readonly (readonly [string, Schema])[] {
  const root = served.group === '' ? `/api/${served.version}` : `/apis/${apiVersionOf(served)}`;
  const scope = served.namespaced ? `${root}/namespaces/{namespace}` : root;
  const collection = `${scope}/${served.plural}`;
  const everywhere = served.namespaced && served.verbs.includes('list') ? [`${root}/${served.plural}`] : [];
  return [
    [collection, pathItem(served, served, pick(collectionVerbs, served.verbs))],
    ...(served.verbs.includes('get')
      ? [[`${collection}/{name}`, pathItem(served, served, pick(objectVerbs, served.verbs))] as const]
      : []),
    ...everywhere.map((path) => [path, pathItem(served, served, ['list'])] as const),
    ...served.subresources.map(({ name, responseKind, verbs }) => {
      const offered = pick([...objectVerbs, 'create' as const], verbs);
      return [`${collection}/{name}/${name}`, pathItem(served, responseKind, offered)] as const;
    }),
  ];
}

type OfferedVerb = Exclude<Verb, 'watch'>;

function pick<V extends OfferedVerb>(offered: readonly V[], verbs: readonly string[]): readonly V[] {
  return offered.filter((verb) => verbs.includes(verb));
}

function pathItem(served: ServedResource, kind: GroupVersionKind, verbs: readonly OfferedVerb[]): Schema {
  return Object.fromEntries(
    verbs.map((verb) => [operations[verb].method, describeOperation(served, kind, operations[verb])]),
  );
}

function describeOperation(served: ServedResource, kind: GroupVersionKind, operation: Operation): Schema {
  const isCustom = served.custom !== undefined;
  const sent = requestBody(kind, operation, isCustom);
  return {
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': gvkOf(kind),
    parameters: operation.parameters.map(queryParameter),
    ...(sent === undefined ? {} : { requestBody: { required: operation.body !== 'options', content: sent } }),
    responses: { '200': { description: 'OK', content: jsonOf(kind, operation.action === 'list', isCustom) } },
  };
}

function queryParameter(name: string): Schema {
  return { name, in: 'query', schema: { type: ownValue(parameterTypes, name) ?? 'string', uniqueItems: true } };
}

function requestBody(kind: GroupVersionKind, { body }: Operation, isCustom: boolean): Schema | undefined {
  const types = isCustom ? patchTypes.filter((type) => !type.includes('strategic')) : patchTypes;
  if (body === 'patch') return Object.fromEntries(types.map((type) => [type, { schema: { type: 'object' } }]));
  if (body === 'options') return jsonOf({ ...kind, kind: 'DeleteOptions' }, false, false);
  return body === 'object' ? jsonOf(kind, false, isCustom) : undefined;
}

function jsonOf(kind: GroupVersionKind, list: boolean, isCustom: boolean): Schema {
  if (isCustom) return { 'application/json': { schema: schemaRef(`${customSchemaName(kind)}${list ? 'List' : ''}`) } };
  const message = messageNameOf(apiVersionOf(kind), kind.kind);
  if (message === undefined) return { 'application/json': { schema: { type: 'object' } } };
  return { 'application/json': { schema: schemaRef(`${schemaName(message)}${list ? 'List' : ''}`) } };
}
