/** Patches that cannot be applied, and paths and methods that are not served. */
import { applyPatch, type RequestRow } from './request-row.ts';

const configMaps = '/api/v1/namespaces/$NS/configmaps';
const object = `${configMaps}/c?dryRun=All`;
const pod = '/api/v1/namespaces/$NS/pods/p?dryRun=All';
const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';

function patched(name: string, type: string, body: unknown, path = object): RequestRow {
  return { name: `${type.split('/')[1] ?? ''}: ${name}`, method: 'PATCH', path, body, type };
}

function json(name: string, ...operations: readonly unknown[]): RequestRow {
  return patched(name, jsonPatch, operations);
}

const jsonPatches: readonly RequestRow[] = [
  json('a test that fails', { op: 'test', path: '/data/a', value: '2' }),
  json('a test of a missing value', { op: 'test', path: '/data/zzz', value: '2' }),
  json('a test of a missing parent', { op: 'test', path: '/nope/zzz', value: '2' }),
  json('a test that succeeds', { op: 'test', path: '/data/a', value: '1' }),
  json('a test of null for a missing value', { op: 'test', path: '/data/zzz', value: null }),
  json('remove a missing value', { op: 'remove', path: '/data/zzz' }),
  json('remove below a missing value', { op: 'remove', path: '/nope/zzz' }),
  json('replace a missing value', { op: 'replace', path: '/data/zzz', value: '1' }),
  json('replace below a missing value', { op: 'replace', path: '/nope/zzz', value: '1' }),
  json('add below a missing value', { op: 'add', path: '/nope/a', value: '1' }),
  json('move a missing value', { op: 'move', from: '/data/zzz', path: '/data/b' }),
  json('copy a missing value', { op: 'copy', from: '/data/zzz', path: '/data/b' }),
  json('an unknown operation', { op: 'nope', path: '/data/a' }),
  json('no operation', { path: '/data/a' }),
  json('no path', { op: 'add', value: '1' }),
  json('no value', { op: 'add', path: '/data/b' }),
  json('a path without a slash', { op: 'add', path: 'data', value: '1' }),
  json('an operation that is a number', { op: 5, path: '/data/a' }),
  json('an index out of bounds', { op: 'add', path: '/metadata/finalizers/5', value: 'a/b' }),
  json('a value of the wrong type', { op: 'add', path: '/data', value: 5 }),
  json('another name', { op: 'replace', path: '/metadata/name', value: 'other' }),
  json('another kind', { op: 'replace', path: '/kind', value: 'Secret' }),
  patched('an object', jsonPatch, { op: 'add' }),
  patched('no JSON', jsonPatch, '{'),
  patched('an empty list', jsonPatch, []),
  patched('a list of texts', jsonPatch, ['x']),
];

const merges: readonly RequestRow[] = [mergePatch, strategicPatch].flatMap((type) => [
  patched('a list', type, []),
  patched('a text', type, '"x"'),
  patched('null', type, 'null'),
  patched('no JSON', type, '{'),
  patched('an empty body', type, ''),
  patched('another name', type, { metadata: { name: 'other' } }),
  patched('another namespace', type, { metadata: { namespace: 'other' } }),
  patched('another kind', type, { kind: 'Secret' }),
  patched('another version', type, { apiVersion: 'v2' }),
  patched('another uid', type, { metadata: { uid: 'abc' } }),
  patched('an old resourceVersion', type, { metadata: { resourceVersion: '1' } }),
  patched('a resourceVersion that is a text', type, { metadata: { resourceVersion: 'abc' } }),
  patched('data that is a number', type, { data: 5 }),
  patched('data with a number', type, { data: { a: 5 } }),
  patched('a label that is invalid', type, { metadata: { labels: { 'a b': 'c' } } }),
  patched('a missing object', type, { data: {} }, `${configMaps}/missing?dryRun=All`),
  patched('containers that are a text', type, { spec: { containers: 'x' } }, pod),
  patched('containers without a name', type, { spec: { containers: [{ image: 'x' }] } }, pod),
  patched('an immutable field', type, { spec: { nodeName: 'x' } }, pod),
  patched('null as metadata', type, { metadata: null }),
]);

const strategic: readonly RequestRow[] = [
  patched('an unknown directive', strategicPatch, { data: { $patch: 'nope' } }),
  patched('a directive that is a number', strategicPatch, { data: { $patch: 5 } }),
  patched('replace', strategicPatch, { data: { $patch: 'replace', b: '1' } }),
  patched(
    'an unknown directive in a list',
    strategicPatch,
    { spec: { containers: [{ name: 'c', $patch: 'nope' }] } },
    pod,
  ),
  patched(
    'an order of a missing list',
    strategicPatch,
    { spec: { '$setElementOrder/containers': [{ name: 'c' }] } },
    pod,
  ),
  patched(
    'an order that does not match',
    strategicPatch,
    { spec: { '$setElementOrder/containers': [{ name: 'x' }], containers: [{ name: 'c', image: 'i' }] } },
    pod,
  ),
  patched('a deletion from a primitive list', strategicPatch, {
    metadata: { '$deleteFromPrimitiveList/finalizers': ['x'] },
  }),
];

const manager = `${object}&fieldManager=m`;
const config = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c' } };
const applies: readonly RequestRow[] = [
  patched('no manager', applyPatch, config),
  patched('no kind', applyPatch, { apiVersion: 'v1', metadata: { name: 'c' } }, manager),
  patched('no version', applyPatch, { kind: 'ConfigMap', metadata: { name: 'c' } }, manager),
  patched('no name', applyPatch, { kind: 'ConfigMap', apiVersion: 'v1' }, manager),
  patched('another name', applyPatch, { ...config, metadata: { name: 'other' } }, manager),
  patched('another namespace', applyPatch, { ...config, metadata: { name: 'c', namespace: 'other' } }, manager),
  patched('another kind', applyPatch, { ...config, kind: 'Secret' }, manager),
  patched('another version', applyPatch, { ...config, apiVersion: 'v2' }, manager),
  patched('another group', applyPatch, { ...config, apiVersion: 'apps/v1' }, manager),
  patched(
    'managed fields',
    applyPatch,
    { ...config, metadata: { name: 'c', managedFields: [{ manager: 'x' }] } },
    manager,
  ),
  patched('an old resourceVersion', applyPatch, { ...config, metadata: { name: 'c', resourceVersion: '1' } }, manager),
  patched('another uid', applyPatch, { ...config, metadata: { name: 'c', uid: 'abc' } }, manager),
  patched('data that is a number', applyPatch, { ...config, data: 5 }, manager),
  patched('data with a number', applyPatch, { ...config, data: { a: 5 } }, manager),
  patched('an empty body', applyPatch, '', manager),
  patched('a list', applyPatch, '[]', manager),
  patched('a text', applyPatch, 'nope', manager),
  patched('a conflict', applyPatch, { ...config, data: { a: '2' } }, manager),
  patched(
    'an object that is to be created under another name',
    applyPatch,
    config,
    `${configMaps}/missing?dryRun=All&fieldManager=m`,
  ),
];

function asked(method: string, path: string, body?: unknown): RequestRow {
  return { name: `${method} ${path}`, method, path, ...(body === undefined ? {} : { body }) };
}

const paths: readonly RequestRow[] = [
  asked('GET', '/nope'),
  asked('GET', '/api/v2/pods'),
  asked('GET', '/api/v1/nope'),
  asked('GET', '/api/v1/nope/x'),
  asked('GET', '/apis/nope/v1/x'),
  asked('GET', '/apis/nope'),
  asked('GET', '/apis/apps/v2/deployments'),
  asked('GET', '/apis/apps/v1/nope'),
  asked('GET', '/api/v1/namespaces/$NS/nope'),
  asked('GET', '/api/v1/namespaces/$NS/nope/x'),
  asked('GET', '/api/v1/namespaces/$NS/nodes'),
  asked('GET', '/api/v1/pods/p'),
  asked('GET', '/api/v1/namespaces/$NS/pods/p/nope'),
  asked('GET', '/api/v1/namespaces/$NS/configmaps/c/status'),
  asked('GET', '/api/v1/namespaces/$NS/pods/p/status/x'),
  asked('GET', '/api/v1/namespaces/$NS/pods/p/eviction'),
  asked('GET', '/api/v1/namespaces/$NS/pods/p/binding'),
  asked('POST', '/api/v1/namespaces/$NS/pods/p', {}),
  asked('POST', '/api/v1/namespaces/$NS/pods/p/status', {}),
  asked('DELETE', '/api/v1/namespaces/$NS/pods/p/status'),
  asked('PUT', '/api/v1/namespaces/$NS/pods/p/eviction', {}),
  asked('PUT', '/api/v1/namespaces/$NS/pods', {}),
  asked('PATCH', '/api/v1/namespaces/$NS/pods', {}),
  asked('DELETE', '/api/v1/namespaces'),
  asked('DELETE', '/api/v1/pods'),
  asked('GET', '/apis/authorization.k8s.io/v1/subjectaccessreviews'),
  asked('PUT', '/apis/authorization.k8s.io/v1/subjectaccessreviews/x', {}),
  asked('DELETE', '/apis/authorization.k8s.io/v1/subjectaccessreviews'),
  asked('POST', '/apis/authorization.k8s.io/v1/localsubjectaccessreviews', {}),
  asked('POST', '/api/v1/namespaces/$NS/nodes', {}),
  asked('POST', '/api/v1/nodes/$NODE', {}),
  asked('POST', '/api/v1', {}),
  asked('DELETE', '/apis'),
  asked('POST', '/version', {}),
  asked('GET', '/api/v1/namespaces/$NS/pods/missing/status'),
  asked('GET', '/api/v1/namespaces/'),
  asked('GET', '/api/v1/namespaces/$NS/'),
];

export const patchRows: readonly RequestRow[] = [...jsonPatches, ...merges, ...strategic, ...applies, ...paths];
