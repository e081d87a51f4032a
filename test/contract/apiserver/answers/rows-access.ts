/** Forms of answers, reviews, tokens, and the bodies of subresources. */
import type { RequestRow } from './request-row.ts';

const object = '/api/v1/namespaces/$NS/configmaps/c';
const pod = '/api/v1/namespaces/$NS/pods/p';
const authorization = '/apis/authorization.k8s.io/v1';
const authentication = '/apis/authentication.k8s.io/v1';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

const accepts: Readonly<Record<string, string>> = {
  'application/foo': 'application/foo',
  'text/html': 'text/html',
  'Table of an unknown version': 'application/json;as=Table;v=v2;g=meta.k8s.io',
  'Table of another group': 'application/json;as=Table;v=v1;g=nope',
  'an unknown form': 'application/json;as=Nope;v=v1;g=meta.k8s.io',
  'Table or plain': `${table},application/json`,
  'foo or plain': 'application/foo,application/json',
  any: '*/*',
  'a server version': 'application/json;sv=v1',
  'an unknown server version': 'application/json;sv=v9',
  'an unknown stream': 'application/json;stream=nope',
};

const reviewPaths: Readonly<Record<string, readonly [string, unknown]>> = {
  SelfSubjectAccessReview: [
    `${authorization}/selfsubjectaccessreviews`,
    { spec: { nonResourceAttributes: { verb: 'get', path: '/' } } },
  ],
  SubjectAccessReview: [
    `${authorization}/subjectaccessreviews`,
    { spec: { user: 'u', nonResourceAttributes: { verb: 'get', path: '/' } } },
  ],
  LocalSubjectAccessReview: [
    `${authorization}/namespaces/$NS/localsubjectaccessreviews`,
    {
      metadata: { namespace: '$NS' },
      spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace: '$NS' } },
    },
  ],
  SelfSubjectRulesReview: [`${authorization}/selfsubjectrulesreviews`, { spec: { namespace: '$NS' } }],
  SelfSubjectReview: [`${authentication}/selfsubjectreviews`, {}],
  TokenReview: [`${authentication}/tokenreviews`, { spec: { token: 'x' } }],
  Eviction: [`${pod}/eviction?dryRun=All`, { metadata: { name: 'p' } }],
};

const forms: readonly RequestRow[] = [
  ...Object.entries(accepts).flatMap(([name, accept]): readonly RequestRow[] => [
    { name: `object as ${name}`, path: object, accept },
    { name: `list as ${name}`, path: '/api/v1/namespaces/$NS/configmaps', accept },
    {
      name: `creation as ${name}`,
      method: 'POST',
      path: '/api/v1/namespaces/$NS/configmaps?dryRun=All',
      accept,
      body: { metadata: { name: 'new' } },
    },
    { name: `error as ${name}`, path: `${object}-missing`, accept },
    { name: `discovery as ${name}`, path: '/api/v1', accept },
  ]),
  ...Object.entries(reviewPaths).flatMap(([kind, [path, body]]): readonly RequestRow[] => [
    { name: `${kind} as a table`, method: 'POST', path, body, accept: table },
    { name: `${kind} as a table or plain`, method: 'POST', path, body, accept: `${table},application/json` },
    { name: `${kind} as metadata`, method: 'POST', path, body, accept: partial },
    { name: `${kind} as foo`, method: 'POST', path, body, accept: 'application/foo' },
    {
      name: `${kind} with an unknown field, strictly`,
      method: 'POST',
      path: strictly(path),
      body: { ...Object(body), nope: 1 },
    },
    { name: `${kind} with an unknown field`, method: 'POST', path, body: { ...Object(body), nope: 1 } },
    { name: `${kind} of another kind`, method: 'POST', path, body: { kind: 'Pod', apiVersion: 'v1' } },
    { name: `${kind} with a spec that is a text`, method: 'POST', path, body: { spec: 'x' } },
    { name: `${kind} without a body`, method: 'POST', path },
    {
      name: `${kind} with an invalid dryRun`,
      method: 'POST',
      path: `${path}${path.includes('?') ? '&' : '?'}dryRun=x`,
      body,
    },
  ]),
  { name: 'a scale as a table', path: '/apis/apps/v1/namespaces/$NS/deployments/d/scale', accept: table },
  { name: 'discovery of a pod log as a table', path: `${pod}/log`, accept: table },
];

function strictly(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}fieldValidation=Strict`;
}

function reviewed(kind: string, name: string, body: unknown): RequestRow {
  const [path] = reviewPaths[kind] ?? [''];
  return { name: `${kind}: ${name}`, method: 'POST', path, body };
}

const pods = { verb: 'get', resource: 'pods' };
const path = { verb: 'get', path: '/x' };
const reviews: readonly RequestRow[] = [
  ...['SelfSubjectAccessReview', 'SubjectAccessReview', 'LocalSubjectAccessReview'].flatMap((kind) => [
    reviewed(kind, 'nothing', {}),
    reviewed(kind, 'no attributes', { spec: { user: 'u' } }),
    reviewed(kind, 'both attributes', { spec: { user: 'u', resourceAttributes: pods, nonResourceAttributes: path } }),
    reviewed(kind, 'a name', { metadata: { name: 'x' }, spec: { user: 'u', resourceAttributes: pods } }),
    reviewed(kind, 'a namespace', { metadata: { namespace: 'x' }, spec: { user: 'u', resourceAttributes: pods } }),
    reviewed(kind, 'labels', { metadata: { labels: { a: 'b' } }, spec: { user: 'u', resourceAttributes: pods } }),
    reviewed(kind, 'managed fields', {
      metadata: { managedFields: [] },
      spec: { user: 'u', resourceAttributes: pods },
    }),
    reviewed(kind, 'no user', { spec: { resourceAttributes: pods } }),
    reviewed(kind, 'only groups', { spec: { groups: ['g'], resourceAttributes: pods } }),
    reviewed(kind, 'an empty group', { spec: { groups: [], resourceAttributes: pods } }),
    reviewed(kind, 'no verb', { spec: { user: 'u', resourceAttributes: { resource: 'pods' } } }),
    reviewed(kind, 'an empty path', { spec: { user: 'u', nonResourceAttributes: { verb: 'get' } } }),
  ]),
  reviewed('LocalSubjectAccessReview', 'a matching namespace', {
    metadata: { namespace: '$NS' },
    spec: { user: 'u', resourceAttributes: { ...pods, namespace: '$NS' } },
  }),
  reviewed('LocalSubjectAccessReview', 'a namespace in the metadata only', {
    metadata: { namespace: '$NS' },
    spec: { user: 'u', resourceAttributes: pods },
  }),
  reviewed('LocalSubjectAccessReview', 'a namespace in the attributes only', {
    spec: { user: 'u', resourceAttributes: { ...pods, namespace: '$NS' } },
  }),
  reviewed('LocalSubjectAccessReview', 'another namespace', {
    metadata: { namespace: 'other' },
    spec: { user: 'u', resourceAttributes: { ...pods, namespace: 'other' } },
  }),
  reviewed('LocalSubjectAccessReview', 'a path', {
    metadata: { namespace: '$NS' },
    spec: { user: 'u', nonResourceAttributes: path },
  }),
  reviewed('SelfSubjectRulesReview', 'no namespace', { spec: {} }),
  reviewed('SelfSubjectRulesReview', 'no spec', {}),
  reviewed('SelfSubjectReview', 'a name', { metadata: { name: 'x' } }),
  reviewed('SelfSubjectReview', 'a status', { status: { userInfo: { username: 'x' } } }),
  reviewed('TokenReview', 'no token', { spec: {} }),
  reviewed('TokenReview', 'no spec', {}),
  reviewed('TokenReview', 'a namespace', { metadata: { namespace: 'x' }, spec: { token: 'x' } }),
  reviewed('TokenReview', 'a name', { metadata: { name: 'x' }, spec: { token: 'x' } }),
  reviewed('TokenReview', 'a name without a token', { metadata: { name: 'x' }, spec: {} }),
];

function below(name: string, path: string, body: unknown, method = 'POST', type?: string): RequestRow {
  return {
    name: `${path.split('?')[0]?.split('/').at(-1) ?? ''}: ${name}`,
    method,
    path,
    body,
    ...(type === undefined ? {} : { type }),
  };
}

const scale = '/apis/apps/v1/namespaces/$NS/deployments/d/scale?dryRun=All';
const merge = 'application/merge-patch+json';
const subresources: readonly RequestRow[] = [
  below('another name', `${pod}/eviction?dryRun=All`, { metadata: { name: 'other' } }),
  below('no name', `${pod}/eviction?dryRun=All`, {}),
  below('another namespace', `${pod}/eviction?dryRun=All`, { metadata: { name: 'p', namespace: 'other' } }),
  below('a missing pod', '/api/v1/namespaces/$NS/pods/missing/eviction?dryRun=All', { metadata: { name: 'missing' } }),
  below('another uid', `${pod}/eviction?dryRun=All`, {
    metadata: { name: 'p' },
    deleteOptions: { preconditions: { uid: 'abc' } },
  }),
  below('an invalid dryRun of the options', `${pod}/eviction`, {
    metadata: { name: 'p' },
    deleteOptions: { dryRun: ['x'] },
  }),
  below('an invalid propagationPolicy', `${pod}/eviction?dryRun=All`, {
    metadata: { name: 'p' },
    deleteOptions: { propagationPolicy: 'x' },
  }),
  below('version v1beta1', `${pod}/eviction?dryRun=All`, {
    kind: 'Eviction',
    apiVersion: 'policy/v1beta1',
    metadata: { name: 'p' },
  }),
  below('version v9', `${pod}/eviction?dryRun=All`, {
    kind: 'Eviction',
    apiVersion: 'policy/v9',
    metadata: { name: 'p' },
  }),
  below('no target', `${pod}/binding?dryRun=All`, { metadata: { name: 'p' } }),
  below('an empty target', `${pod}/binding?dryRun=All`, { metadata: { name: 'p' }, target: {} }),
  below('a target of another kind', `${pod}/binding?dryRun=All`, {
    metadata: { name: 'p' },
    target: { kind: 'Pod', name: 'x' },
  }),
  below('another name', `${pod}/binding?dryRun=All`, {
    metadata: { name: 'other' },
    target: { kind: 'Node', name: 'x' },
  }),
  below('a missing pod', '/api/v1/namespaces/$NS/pods/missing/binding?dryRun=All', {
    metadata: { name: 'missing' },
    target: { kind: 'Node', name: 'x' },
  }),
  below('a bound pod', '/api/v1/namespaces/$NS/pods/bound/binding?dryRun=All', {
    metadata: { name: 'bound' },
    target: { kind: 'Node', name: 'x' },
  }),
  below('another kind', scale, { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'd' } }, 'PUT'),
  below('another name', scale, { metadata: { name: 'other' }, spec: { replicas: 1 } }, 'PUT'),
  below('no name', scale, { spec: { replicas: 1 } }, 'PUT'),
  below('another namespace', scale, { metadata: { name: 'd', namespace: 'other' }, spec: { replicas: 1 } }, 'PUT'),
  below(
    'an old resourceVersion',
    scale,
    { metadata: { name: 'd', resourceVersion: '1' }, spec: { replicas: 1 } },
    'PUT',
  ),
  below('another uid', scale, { metadata: { name: 'd', uid: 'abc' }, spec: { replicas: 1 } }, 'PUT'),
  below('a negative number', scale, { metadata: { name: 'd' }, spec: { replicas: -1 } }, 'PUT'),
  below('a text as number', scale, { metadata: { name: 'd' }, spec: { replicas: 'x' } }, 'PUT'),
  below('an unknown field, strictly', `${scale}&fieldValidation=Strict`, { metadata: { name: 'd' }, nope: 1 }, 'PUT'),
  below('patch: a negative number', scale, { spec: { replicas: -1 } }, 'PATCH', merge),
  below('patch: an old resourceVersion', scale, { metadata: { resourceVersion: '1' } }, 'PATCH', merge),
  below('patch: another name', scale, { metadata: { name: 'other' } }, 'PATCH', merge),
  below('patch: a text as number', scale, { spec: { replicas: 'x' } }, 'PATCH', merge),
  below('another name', `${pod}/status?dryRun=All`, { metadata: { name: 'other' } }, 'PUT'),
  below('a missing object', '/api/v1/namespaces/$NS/pods/missing/status', { status: {} }, 'PATCH', merge),
];

export const accessRows: readonly RequestRow[] = [...forms, ...reviews, ...subresources];
