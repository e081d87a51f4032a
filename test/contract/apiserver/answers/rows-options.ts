/** The options of reads, writes and deletions, and selectors. */
import { applyPatch, type RequestRow } from './request-row.ts';

const configMaps = '/api/v1/namespaces/$NS/configmaps';
const pods = '/api/v1/namespaces/$NS/pods';
const object = `${configMaps}/c`;
const body = { metadata: { name: 'new' } };

function read(name: string, path: string): RequestRow {
  return { name: `read: ${name}`, path };
}

const timeouts: readonly RequestRow[] = [
  ...['invalid', '5', '-1s', '1h', '1x', '', '0', '1m1.5s', 's', '1.s', '.s', '9999999999h', '+5s'].map((value) =>
    read(`timeout=${value}`, `${object}?timeout=${encodeURIComponent(value)}`),
  ),
  { name: 'write: timeout=invalid', method: 'POST', path: `${configMaps}?dryRun=All&timeout=invalid`, body },
  read('a list with timeout=invalid', `${configMaps}?timeout=invalid`),
  read('discovery with timeout=invalid', '/api/v1?timeout=invalid'),
  read('an unknown path with timeout=invalid', '/nope?timeout=invalid'),
  read('a watch with timeout=invalid', `${configMaps}?timeout=invalid&watch=1&timeoutSeconds=1&resourceVersion=0`),
];

const lists: readonly RequestRow[] = [
  'resourceVersion=abc',
  'resourceVersion=-1',
  'resourceVersion=abc&limit=5',
  'resourceVersion=1.5',
  'resourceVersion=0&resourceVersionMatch=Exact',
  'resourceVersionMatch=Exact',
  'resourceVersionMatch=NotOlderThan',
  'resourceVersion=1&resourceVersionMatch=Some',
  'limit=abc',
  'limit=1.5',
  'limit=-1',
  'limit=99999999999999999999',
  'limit=',
  'continue=abc',
  'continue=abc&resourceVersion=5',
  'continue=abc&limit=5&resourceVersionMatch=Exact&resourceVersion=5',
  `continue=${Buffer.from('{"v":"nope","rv":1,"start":"x"}').toString('base64url')}`,
  `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":0,"start":"x"}').toString('base64url')}`,
  `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1}').toString('base64url')}`,
  `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"../x"}').toString('base64url')}`,
  'timeoutSeconds=abc',
  'timeoutSeconds=-1',
  'sendInitialEvents=true',
  'sendInitialEvents=maybe',
  'sendInitialEvents=true&watch=1&timeoutSeconds=1',
  'sendInitialEvents=true&watch=1&timeoutSeconds=1&resourceVersionMatch=Exact',
  'resourceVersionMatch=NotOlderThan&watch=1&timeoutSeconds=1',
  'watch=maybe&timeoutSeconds=1',
  'watch=1&resourceVersion=abc',
  'watch=1&timeoutSeconds=abc',
  'watch=1&allowWatchBookmarks=maybe&timeoutSeconds=1&resourceVersion=0',
  'watch=1&limit=abc',
  'labelSelector=a b',
  'labelSelector=a=b c',
  'labelSelector=a in b',
  'labelSelector=a in (b',
  'labelSelector=a in ()',
  'labelSelector=,',
  'labelSelector=a,',
  'labelSelector=!',
  'labelSelector=!!a',
  'labelSelector=a==b==c',
  'labelSelector=a>b',
  'labelSelector=a>1',
  'labelSelector=a/b/c=d',
  'labelSelector=-a=b',
  'labelSelector=a=-b',
  'labelSelector=a~b',
  `labelSelector=a=${'x'.repeat(64)}`,
  'watch=1&labelSelector=a b',
  'fieldSelector=a',
  'fieldSelector=a=b',
  'fieldSelector=metadata.name',
  'fieldSelector=metadata.name=a,metadata.uid=b',
  'fieldSelector=metadata.name>a',
  'fieldSelector=metadata.name=a=b',
  String.raw`fieldSelector=metadata.name=a\b`,
  'fieldSelector==',
  'fieldSelector=,',
  'watch=1&fieldSelector=a=b',
].map((query) => read(`list with ${query.slice(0, 90)}`, `${configMaps}?${encoded(query)}`));

function encoded(query: string): string {
  return query
    .split('&')
    .map((part) => {
      const at = part.indexOf('=');
      return `${part.slice(0, at)}=${encodeURIComponent(part.slice(at + 1))}`;
    })
    .join('&');
}

const reads: readonly RequestRow[] = [
  ...lists,
  read('list of pods with an unknown field', `${pods}?fieldSelector=spec.nope%3Da`),
  read('list of pods with a known field', `${pods}?fieldSelector=spec.nodeName%3Da,status.phase!%3DFailed`),
  read('get with resourceVersion=abc', `${object}?resourceVersion=abc`),
  read('get with watch=1', `${object}?watch=1&timeoutSeconds=1&resourceVersion=abc`),
  read('get of a missing object', `${configMaps}/missing`),
  read('get in a missing namespace', '/api/v1/namespaces/missing/configmaps/c'),
  read('get of a name that is invalid', `${configMaps}/A%20b`),
  {
    ...read('table with includeObject=Some', `${object}?includeObject=Some`),
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  },
  read('object with includeObject=Some', `${object}?includeObject=Some`),
];

const long = 'm'.repeat(129);
const writeOptions = [
  'dryRun=x',
  'dryRun=All&dryRun=x',
  'dryRun=',
  'dryRun=All&dryRun=All',
  'dryRun=true',
  `dryRun=All&fieldManager=${long}`,
  'dryRun=All&fieldManager=a%07b',
  'dryRun=All&fieldManager=%C3%A9%0A',
  'dryRun=All&fieldValidation=some',
  'dryRun=x&fieldManager=%07&fieldValidation=y',
  'dryRun=All&force=true',
  'dryRun=All&force=maybe',
  'dryRun=All&pretty=maybe',
];

const writes: readonly RequestRow[] = writeOptions.flatMap((query): readonly RequestRow[] => {
  const shown = query.replace(long, 'mmm...');
  return [
    {
      name: `create with ${shown}`,
      method: 'POST',
      path: `${configMaps}?${query}`,
      body: { metadata: { generateName: 'new-' } },
    },
    {
      name: `update with ${shown}`,
      method: 'PUT',
      path: `${object}?${query}`,
      body: { metadata: { name: 'c' }, data: { a: '1' } },
    },
    {
      name: `merge patch with ${shown}`,
      method: 'PATCH',
      path: `${object}?${query}`,
      body: {},
      type: 'application/merge-patch+json',
    },
    {
      name: `apply with ${shown}`,
      method: 'PATCH',
      path: `${object}?${query}`,
      body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c' } },
      type: applyPatch,
    },
  ];
});

function deleted(name: string, query: string, sent?: unknown): RequestRow {
  const path = `${object}?${query}`;
  return { name: `delete: ${name}`, method: 'DELETE', path, ...(sent === undefined ? {} : { body: sent }) };
}

const dry = { dryRun: ['All'] };
const deletions: readonly RequestRow[] = [
  ...[
    'dryRun=x',
    'dryRun=All&propagationPolicy=x',
    'dryRun=All&propagationPolicy=',
    'dryRun=All&propagationPolicy=Orphan&orphanDependents=true',
    'dryRun=All&orphanDependents=maybe',
    'dryRun=All&orphanDependents=false',
    'dryRun=All&gracePeriodSeconds=abc',
    'dryRun=All&gracePeriodSeconds=-1',
    'dryRun=All&gracePeriodSeconds=1.5',
    'dryRun=x&propagationPolicy=y',
  ].map((query) => deleted(`query ${query}`, query)),
  deleted('body of another kind', 'dryRun=All', { kind: 'ConfigMap', apiVersion: 'v1' }),
  deleted('body of an unknown kind', 'dryRun=All', { kind: 'Nope', apiVersion: 'v1' }),
  deleted('body of the meta group', 'dryRun=All', { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...dry }),
  deleted('body of another group', 'dryRun=All', { kind: 'DeleteOptions', apiVersion: 'apps/v1', ...dry }),
  deleted('body of an unknown version', 'dryRun=All', { kind: 'DeleteOptions', apiVersion: 'v9', ...dry }),
  deleted('body that is no JSON', 'dryRun=All', '{'),
  deleted('body that is a text', 'dryRun=All', '"x"'),
  deleted('body with an unknown field', 'dryRun=All', { ...dry, nope: 1 }),
  deleted('body with a field twice', 'dryRun=All', '{"dryRun":["All"],"gracePeriodSeconds":1,"gracePeriodSeconds":2}'),
  deleted('dryRun of the body', '', { dryRun: ['x'] }),
  deleted('dryRun of the body that is a text', '', { dryRun: 'All' }),
  deleted('propagationPolicy of the body', '', { ...dry, propagationPolicy: 'x' }),
  deleted('propagationPolicy and orphanDependents', '', {
    ...dry,
    propagationPolicy: 'Orphan',
    orphanDependents: true,
  }),
  deleted('gracePeriodSeconds of the body', '', { ...dry, gracePeriodSeconds: 'x' }),
  deleted('a negative gracePeriodSeconds', '', { ...dry, gracePeriodSeconds: -5 }),
  deleted('another uid', '', { ...dry, preconditions: { uid: 'abc' } }),
  deleted('another resourceVersion', '', { ...dry, preconditions: { resourceVersion: '1' } }),
  deleted('another uid and another resourceVersion', '', {
    ...dry,
    preconditions: { uid: 'abc', resourceVersion: '1' },
  }),
  deleted('preconditions that are a text', '', { ...dry, preconditions: 'x' }),
  {
    name: 'delete a pod with another uid',
    method: 'DELETE',
    path: `${pods}/p`,
    body: { ...dry, preconditions: { uid: 'abc' } },
  },
  {
    name: 'delete a node with another uid',
    method: 'DELETE',
    path: '/api/v1/nodes/$NODE',
    body: { ...dry, preconditions: { uid: 'abc' } },
  },
  {
    name: 'delete a lease with another resourceVersion',
    method: 'DELETE',
    path: '/apis/coordination.k8s.io/v1/namespaces/$NS/leases/l',
    body: { ...dry, preconditions: { resourceVersion: '1' } },
  },
  { name: 'delete a missing object', method: 'DELETE', path: `${configMaps}/missing` },
  ...[
    'dryRun=x',
    'dryRun=All&labelSelector=a%20b',
    'dryRun=All&fieldSelector=a%3Db',
    'dryRun=All&limit=abc',
    'dryRun=All&resourceVersion=abc',
  ].map(
    (query): RequestRow => ({
      name: `delete a collection with ${query}`,
      method: 'DELETE',
      path: `${configMaps}?${query}`,
    }),
  ),
];

export const optionRows: readonly RequestRow[] = [...timeouts, ...reads, ...writes, ...deletions];
