/** Bodies: their format, their fields, and the object that they name. */
import { applyPatch, type RequestRow } from './request-row.ts';

const configMaps = '/api/v1/namespaces/$NS/configmaps';
const dryRun = 'dryRun=All';
const create = `${configMaps}?${dryRun}`;
const object = `${configMaps}/c`;
const validations = ['Strict', 'Warn', 'Ignore', 'Some'] as const;
const meta = { name: 'new' };

function posted(name: string, body: unknown, path = create): RequestRow {
  return { name: `create: ${name}`, method: 'POST', path, body };
}

function put(name: string, body: unknown, path = `${object}?${dryRun}`): RequestRow {
  return { name: `update: ${name}`, method: 'PUT', path, body };
}

const types: readonly RequestRow[] = [
  ...['text/plain', 'application/', 'application/json; charset=utf-8', 'application/x-json', 'yaml'].map(
    (type): RequestRow => ({ ...posted(`content type ${type}`, { metadata: meta }), type }),
  ),
  { ...put('content type text/plain', { metadata: { name: 'c' } }), type: 'text/plain' },
  ...['application/json', 'text/plain', 'application/merge-patch'].map(
    (type): RequestRow => ({ name: `patch: content type ${type}`, method: 'PATCH', path: object, body: {}, type }),
  ),
  {
    name: 'delete: content type text/plain',
    method: 'DELETE',
    path: `${object}?${dryRun}`,
    body: {},
    type: 'text/plain',
  },
];

const syntax: readonly RequestRow[] = [
  ...['{', '[]', 'null', '{"metadata":{"name":"new",}}'].map((body) => posted(`body ${body}`, body)),
  posted('body is followed by more', '{"metadata":{"name":"new"}} x'),
  { name: 'create: an empty body', method: 'POST', path: create, body: '' },
  { name: 'create: no body', method: 'POST', path: create },
  { ...posted('YAML that is a text', 'nope'), type: 'application/yaml' },
  { ...posted('YAML with a wrong indentation', 'metadata:\n  name: new\n bad: x\n'), type: 'application/yaml' },
];

const kinds: readonly RequestRow[] = [
  posted('no kind and no version', { metadata: meta }),
  posted('another kind', { kind: 'Secret', apiVersion: 'v1', metadata: meta }),
  posted('an unknown kind', { kind: 'Nope', apiVersion: 'v1', metadata: meta }),
  posted('an unknown version', { kind: 'ConfigMap', apiVersion: 'v2', metadata: meta }),
  posted('an unknown group', { kind: 'ConfigMap', apiVersion: 'nope/v1', metadata: meta }),
  posted('a version with two slashes', { kind: 'ConfigMap', apiVersion: 'a/b/c', metadata: meta }),
  posted('only another version', { apiVersion: 'apps/v1', metadata: meta }),
  posted('only another kind', { kind: 'Secret', metadata: meta }),
  posted('a kind that is a number', { kind: 5, apiVersion: 'v1', metadata: meta }),
  posted('a list as the kind', { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {} }),
  put('another kind', { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'c' } }),
  put('another version', { kind: 'ConfigMap', apiVersion: 'v2', metadata: { name: 'c' } }),
];

const names: readonly RequestRow[] = [
  posted('no name', { metadata: {} }),
  posted('no metadata', { data: { a: '1' } }),
  posted('another namespace', { metadata: { name: 'new', namespace: 'other' } }),
  posted('a resourceVersion', { metadata: { name: 'new', resourceVersion: '1' } }),
  posted('a name that exists', { metadata: { name: 'c' } }),
  posted('a missing namespace', { metadata: meta }, `/api/v1/namespaces/missing/configmaps?${dryRun}`),
  posted('an object without a namespace in the path', { metadata: meta }, `/api/v1/configmaps?${dryRun}`),
  put('another name', { metadata: { name: 'other' } }),
  put('no name', { metadata: {} }),
  put('another namespace', { metadata: { name: 'c', namespace: 'other' } }),
  put('another uid', { metadata: { name: 'c', uid: 'abc' } }),
  put('a missing object', { metadata: { name: 'missing' } }, `${configMaps}/missing?${dryRun}`),
  put('a missing object with a uid', { metadata: { name: 'missing', uid: 'abc' } }, `${configMaps}/missing?${dryRun}`),
  put('a resourceVersion that is a text', { metadata: { name: 'c', resourceVersion: 'abc' } }),
  put('an old resourceVersion', { metadata: { name: 'c', resourceVersion: '1' } }),
  put(
    'a resourceVersion of a pod that is a text',
    { metadata: { name: 'p', resourceVersion: 'abc' }, spec: {} },
    `/api/v1/namespaces/$NS/pods/p?${dryRun}`,
  ),
];

const values: readonly RequestRow[] = [
  posted('data that is a number', { metadata: meta, data: 5 }),
  posted('data with a number', { metadata: meta, data: { a: 1 } }),
  posted('data that is a list', { metadata: meta, data: [] }),
  posted('a name that is a number', { metadata: { name: 5 } }),
  posted('metadata that is a text', { metadata: 'x' }),
  posted('labels with a flag', { metadata: { name: 'new', labels: { a: true } } }),
  posted('finalizers that are a text', { metadata: { name: 'new', finalizers: 'x' } }),
  posted('immutable that is a text', { metadata: meta, immutable: 'yes' }),
  posted('binaryData that is no base64', { metadata: meta, binaryData: { a: '%%' } }),
  posted(
    'containers that are a text',
    { metadata: meta, spec: { containers: 'x' } },
    `/api/v1/namespaces/$NS/pods?${dryRun}`,
  ),
  posted(
    'a container that is a text',
    { metadata: meta, spec: { containers: ['x'] } },
    `/api/v1/namespaces/$NS/pods?${dryRun}`,
  ),
  posted(
    'a grace period that is a text',
    { metadata: meta, spec: { terminationGracePeriodSeconds: 'x' } },
    `/api/v1/namespaces/$NS/pods?${dryRun}`,
  ),
  posted(
    'a fraction of a second',
    { metadata: meta, spec: { terminationGracePeriodSeconds: 1.5 } },
    `/api/v1/namespaces/$NS/pods?${dryRun}`,
  ),
  posted('a spec that is a list', { metadata: meta, spec: [] }, `/api/v1/namespaces/$NS/pods?${dryRun}`),
  posted(
    'a time that is a word',
    { metadata: meta, spec: { renewTime: 'now' } },
    `/apis/coordination.k8s.io/v1/namespaces/$NS/leases?${dryRun}`,
  ),
  posted(
    'a time that is a number',
    { metadata: meta, spec: { renewTime: 5 } },
    `/apis/coordination.k8s.io/v1/namespaces/$NS/leases?${dryRun}`,
  ),
  posted(
    'a quantity that is a word',
    { metadata: meta, status: { capacity: { cpu: 'many' } } },
    `/api/v1/nodes?${dryRun}`,
  ),
  posted(
    'a number beyond 32 bits',
    { metadata: meta, spec: { leaseTransitions: 5_000_000_000 } },
    `/apis/coordination.k8s.io/v1/namespaces/$NS/leases?${dryRun}`,
  ),
];

const duplicates: Readonly<Record<string, string>> = {
  'unknown fields': '{"nope":1,"metadata":{"name":"new","other":2},"Data":{}}',
  'a field twice': '{"metadata":{"name":"new"},"data":{"a":"1"},"data":{"b":"2"}}',
  'spaces and escapes': '{ "metadata" : { "name" : "new", "\\u006eame" : "new" } }\n',
};

const podDuplicates: Readonly<Record<string, string>> = {
  'fields of a container':
    '{"metadata":{"name":"new"},"spec":{"containers":[{"name":"a","image":"i"},{"name":"c","image":"i","image":"j","nope":1}]}}',
};

const yamlDuplicates: Readonly<Record<string, string>> = {
  'a key of data twice': 'metadata:\n  name: new\ndata:\n  a: "1"\n  a: "2"\n',
};

const strict: readonly RequestRow[] = validations.flatMap((validation) => [
  ...Object.entries(duplicates).flatMap(([name, body]) => [
    posted(`${validation}: ${name}`, body, `${create}&fieldValidation=${validation}`),
  ]),
  ...Object.entries(podDuplicates).map(([name, body]) =>
    posted(`${validation}: ${name}`, body, `/api/v1/namespaces/$NS/pods?${dryRun}&fieldValidation=${validation}`),
  ),
  ...Object.entries(yamlDuplicates).map(([name, body]) => ({
    ...posted(`${validation}: YAML: ${name}`, body, `${create}&fieldValidation=${validation}`),
    type: 'application/yaml',
  })),
  put(
    `${validation}: a field twice and unknown ones`,
    '{"x":1,"metadata":{"name":"c"},"data":{},"data":{}}',
    `${object}?${dryRun}&fieldValidation=${validation}`,
  ),
]);

const patchBodies: readonly (readonly [string, string, string])[] = [
  ['application/merge-patch+json', 'a key twice', '{"data":{"a":"1","a":"2"}}'],
  ['application/strategic-merge-patch+json', 'a key twice', '{"data":{"a":"1","a":"2"}}'],
  ['application/json-patch+json', 'a key twice', '[{"op":"add","op":"add","path":"/data/b","value":"1"}]'],
  [applyPatch, 'a key twice', 'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: c\ndata:\n  b: "1"\n  b: "2"\n'],
  [applyPatch, 'an unknown field', 'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: c\nnope: 1\n'],
];

const strictPatches: readonly RequestRow[] = validations.flatMap((validation) =>
  patchBodies.map(([type, name, body]): RequestRow => {
    const manager = type === applyPatch ? '&fieldManager=m' : '';
    const path = `${object}?${dryRun}&fieldValidation=${validation}${manager}`;
    return { name: `patch: ${validation}: ${type}: ${name}`, method: 'PATCH', path, body, type };
  }),
);

export const bodyRows: readonly RequestRow[] = [
  ...types,
  ...syntax,
  ...kinds,
  ...names,
  ...values,
  ...strict,
  ...strictPatches,
];
