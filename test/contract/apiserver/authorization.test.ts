/** RBAC: what roles allow, what a denied request says, impersonation, and who may grant what. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byVersion } from '../../support/by-version.ts';
import { type ApiResponse, expect, type Json, mergePatch, openClient, tableAccept } from './client.ts';

const client = await openClient({ authorizationMode: 'RBAC' });
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';

/** Sends a request as another user, whom the administrator impersonates. */
function as(user: string, groups: readonly string[] = []): { headers: Record<string, string> } {
  const [first] = groups;
  return { headers: { 'impersonate-user': user, ...(first === undefined ? {} : { 'impersonate-group': first }) } };
}

interface Grant {
  readonly rules: readonly Json[];
  /** Undefined for a grant in the whole cluster. */
  readonly namespace?: string;
}

/** Grants rules to a user, and returns the name of the role. */
async function grant(user: string, { rules, namespace }: Grant): Promise<string> {
  const name = client.name('role');
  const [role, binding, kind] =
    namespace === undefined
      ? [`${rbac}/clusterroles`, `${rbac}/clusterrolebindings`, 'ClusterRole']
      : [`${rbac}/namespaces/${namespace}/roles`, `${rbac}/namespaces/${namespace}/rolebindings`, 'Role'];
  await client.make(role, { metadata: { name }, rules });
  const subjects = [{ kind: 'User', apiGroup: group, name: user }];
  await client.make(binding, { metadata: { name }, roleRef: { apiGroup: group, kind, name }, subjects });
  return name;
}

/** RBAC of a real server follows its watches: a grant counts a moment later. */
async function eventually(send: () => Promise<ApiResponse>, code: number): Promise<Json> {
  for (let tried = 0; tried < 100; tried += 1) {
    const response = await send();
    if (response.code === code) return response.body;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return expect(await send(), code);
}

const rule = (verbs: readonly string[], resources: readonly string[], apiGroups: readonly string[] = ['']): Json => ({
  verbs,
  apiGroups,
  resources,
});

test('a user without roles may discover the API and nothing else', async () => {
  const user = client.name('user');
  expect(await client.get('/api', as(user)), 200);
  expect(await client.get('/apis/apps/v1', as(user)), 200);
  expect(await client.get('/version', as(user)), 200);
  expect(await client.get('/openapi/v3', as(user)), 200);
  expect(await client.get('/api/v1/nodes', as(user)), 403);
  expect(await client.get('/metrics', as(user)), 403);
});

test('the message of a denied request names user, verb, resource, group and scope', async () => {
  const user = client.name('user');
  const denied = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const response = await client.send(method, path, { ...as(user), ...(body === undefined ? {} : { body }) });
    return expect(response, 403, { kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 });
  };
  const list = await denied('GET', '/api/v1/nodes');
  assert.equal(
    list.message,
    `nodes is forbidden: User "${user}" cannot list resource "nodes" in API group "" at the cluster scope`,
  );
  assert.deepEqual(list.details, { kind: 'nodes' });
  const lease = await denied('GET', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l');
  assert.equal(
    lease.message,
    `leases.coordination.k8s.io "l" is forbidden: User "${user}" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "default"`,
  );
  assert.deepEqual(lease.details, { name: 'l', group: 'coordination.k8s.io', kind: 'leases' });
  const evict = await denied('POST', '/api/v1/namespaces/default/pods/p/eviction', { metadata: { name: 'p' } });
  assert.match(evict.message, /cannot create resource "pods\/eviction" in API group "" in the namespace "default"$/);
  const path = await denied('GET', '/metrics');
  assert.equal(path.message, `forbidden: User "${user}" cannot get path "/metrics"`);
  assert.deepEqual(path.details, {});
  const unknown = await denied('GET', '/apis/nothing.example/v1/things');
  assert.match(unknown.message, /^things.nothing.example is forbidden: .* at the cluster scope$/);
  const namespace = await denied('GET', '/api/v1/namespaces/default');
  assert.match(namespace.message, /cannot get resource "namespaces" in API group "" in the namespace "default"$/);
  const watch = await denied('GET', '/api/v1/pods?watch=true');
  assert.match(watch.message, /cannot watch resource "pods"/);
  const all = await denied('DELETE', '/api/v1/nodes');
  assert.match(all.message, /cannot deletecollection resource "nodes"/);
});

test('a denied request for a table, or with an unknown method, is denied in the same way', async () => {
  const user = client.name('user');
  expect(await client.get('/api/v1/nodes', { ...as(user), accept: tableAccept }), 403, { kind: 'Status' });
});

test('a role of the cluster allows its verbs everywhere, a role of a namespace only there', async () => {
  const [everywhere, here] = [client.name('user'), client.name('user')];
  const namespace = await client.namespace();
  await grant(everywhere, { rules: [rule(['list'], ['pods'])] });
  await grant(here, { rules: [rule(['list'], ['pods'])], namespace });
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  await eventually(() => client.get('/api/v1/pods', as(everywhere)), 200);
  await eventually(() => client.get(pods, as(everywhere)), 200);
  await eventually(() => client.get(pods, as(here)), 200);
  expect(await client.get('/api/v1/pods', as(here)), 403);
  expect(await client.get('/api/v1/namespaces/default/pods', as(here)), 403);
  expect(await client.post(pods, {}, as(here)), 403);
});

test('a ClusterRole bound in a namespace counts there', async () => {
  const user = client.name('user');
  const namespace = await client.namespace();
  const name = client.name('role');
  await client.make(`${rbac}/clusterroles`, { metadata: { name }, rules: [rule(['get'], ['pods'])] });
  await client.make(`${rbac}/namespaces/${namespace}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name },
    subjects: [{ kind: 'User', apiGroup: group, name: user }],
  });
  await eventually(() => client.get(`/api/v1/namespaces/${namespace}/pods/none`, as(user)), 404);
  expect(await client.get('/api/v1/namespaces/default/pods/none', as(user)), 403);
});

test('names, subresources, wildcards and paths of rules', async () => {
  const user = client.name('user');
  const { metadata } = await client.node();
  const rules = [
    { ...rule(['get', 'list'], ['nodes']), resourceNames: [metadata.name] },
    rule(['get'], ['*/status']),
    rule(['*'], ['leases'], ['*']),
    { verbs: ['get'], nonResourceURLs: ['/metrics', '/livez/*'] },
  ];
  await grant(user, { rules });
  await eventually(() => client.get(`/api/v1/nodes/${metadata.name}`, as(user)), 200);
  expect(await client.get('/api/v1/nodes/another', as(user)), 403);
  expect(await client.get('/api/v1/nodes', as(user)), 403);
  expect(await client.get(`/api/v1/nodes?fieldSelector=metadata.name%3D${metadata.name}`, as(user)), 200);
  expect(await client.get('/api/v1/nodes/another/status', as(user)), 404);
  expect(await client.patch('/api/v1/nodes/another/status', mergePatch, {}, as(user)), 403);
  expect(await client.get('/apis/coordination.k8s.io/v1/leases', as(user)), 200);
  expect(await client.get('/metrics', as(user)), 200);
  expect(await client.get('/livez/ping', as(user)), 200);
});

test('subjects: groups and service accounts', async () => {
  const [ofGroup, account] = [client.name('group'), client.name('account')];
  const namespace = await client.namespace();
  const name = client.name('role');
  await client.make(`${rbac}/clusterroles`, { metadata: { name }, rules: [rule(['list'], ['nodes'])] });
  await client.make(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name },
    subjects: [
      { kind: 'Group', apiGroup: group, name: ofGroup },
      { kind: 'ServiceAccount', name: account, namespace },
    ],
  });
  await eventually(() => client.get('/api/v1/nodes', as('member', [ofGroup])), 200);
  expect(await client.get('/api/v1/nodes', as(`system:serviceaccount:${namespace}:${account}`)), 200);
  expect(await client.get('/api/v1/nodes', as(`system:serviceaccount:default:${account}`)), 403);
});

test('a binding whose role is missing grants nothing, and the denial says so', async () => {
  const user = client.name('user');
  const name = client.name('missing');
  await client.make(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name },
    subjects: [{ kind: 'User', apiGroup: group, name: user }],
  });
  const expected = `at the cluster scope: ${byVersion({ '1.34': '', '1.37': 'rbac: ' })}RBAC: clusterrole.rbac.authorization.k8s.io "${name}" not found`;
  for (let tried = 0; ; tried += 1) {
    const { message } = expect(await client.get('/api/v1/nodes', as(user)), 403);
    if (message.endsWith(expected)) break;
    assert.ok(tried < 100, message);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test('a user grants only permissions that the user has', async () => {
  const user = client.name('user');
  await grant(user, {
    rules: [rule(['*'], ['clusterroles', 'clusterrolebindings'], [group]), rule(['list'], ['nodes'])],
  });
  await eventually(() => client.get(`${rbac}/clusterroles`, as(user)), 200);
  const name = client.name('role');
  const allowed = { metadata: { name }, rules: [rule(['list'], ['nodes'])] };
  // The verb * includes escalate, so that a rule without it is needed for the rest.
  expect(await client.post(`${rbac}/clusterroles`, allowed, as(user)), 201);

  const limited = client.name('user');
  const verbs = ['get', 'list', 'create', 'update', 'patch'];
  await grant(limited, {
    rules: [rule(verbs, ['clusterroles', 'clusterrolebindings'], [group]), rule(['list'], ['nodes'])],
  });
  await eventually(() => client.get(`${rbac}/clusterroles`, as(limited)), 200);
  const fine = { metadata: { name: client.name('role') }, rules: [rule(['list'], ['nodes'])] };
  expect(await client.post(`${rbac}/clusterroles`, fine, as(limited)), 201);
  const tooMuch = {
    metadata: { name: client.name('role') },
    rules: [rule(['delete', 'get'], ['nodes']), { verbs: ['get'], nonResourceURLs: ['/x'] }],
  };
  const denied = expect(await client.post(`${rbac}/clusterroles`, tooMuch, as(limited)), 403, { reason: 'Forbidden' });
  assert.equal(
    denied.message,
    `clusterroles.rbac.authorization.k8s.io "${tooMuch.metadata.name}" is forbidden: user "${limited}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["nodes"], Verbs:["delete" "get"]}
{NonResourceURLs:["/x"], Verbs:["get"]}`,
  );
  const update = { ...tooMuch, metadata: fine.metadata };
  expect(await client.put(`${rbac}/clusterroles/${fine.metadata.name}`, update, as(limited)), 403);
  const rules = { rules: tooMuch.rules };
  expect(await client.patch(`${rbac}/clusterroles/${fine.metadata.name}`, mergePatch, rules, as(limited)), 403);
  const labels = { metadata: { labels: { a: 'b' } } };
  expect(await client.patch(`${rbac}/clusterroles/${fine.metadata.name}`, mergePatch, labels, as(limited)), 200);
});

test('a user binds only roles whose permissions the user has, unless the user may bind them', async () => {
  const user = client.name('user');
  const roleName = client.name('role');
  await client.make(`${rbac}/clusterroles`, { metadata: { name: roleName }, rules: [rule(['delete'], ['nodes'])] });
  await grant(user, { rules: [rule(['create'], ['clusterrolebindings'], [group]), rule(['list'], ['nodes'])] });
  await eventually(() => client.get('/api/v1/nodes', as(user)), 200);
  const bind = (name: string): Promise<ApiResponse> =>
    client.post(
      `${rbac}/clusterrolebindings`,
      { metadata: { name: client.name('binding') }, roleRef: { apiGroup: group, kind: 'ClusterRole', name } },
      as(user),
    );
  const { message } = expect(await bind(roleName), 403);
  assert.match(
    message,
    /^clusterrolebindings.rbac.authorization.k8s.io "binding-.*\{APIGroups:\[""\], Resources:\["nodes"\], Verbs:\["delete"\]\}$/s,
  );
  const missing = expect(await bind('missing-role'), 404);
  assert.equal(missing.message, 'clusterrolebindings.rbac.authorization.k8s.io "missing-role" not found');
  await grant(user, { rules: [{ ...rule(['bind'], ['clusterroles'], [group]), resourceNames: [roleName] }] });
  await eventually(() => bind(roleName), 201);
});

test('roles and bindings are validated, and a roleRef does not change', async () => {
  const bad = { metadata: { name: client.name('role') }, rules: [{ verbs: [], resources: ['pods'] }] };
  const roles = await client.post(`${rbac}/clusterroles`, bad);
  const { message } = expect(roles, 422);
  assert.match(
    message,
    byVersion({ '1.34': /rules\[0\].verbs: Required value: verbs must/, '1.37': /rules\[0\].verbs: Required value/ }),
  );
  assert.match(message, /rules\[0\].apiGroups: Required value: resource rules must supply at least one api group/);
  const mixed = { metadata: { name: 'r' }, rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] };
  const ofNamespace = expect(await client.post(`${rbac}/namespaces/default/roles`, mixed), 422);
  assert.match(ofNamespace.message, /namespaced rules cannot apply to non-resource URLs/);
  const name = client.name('binding');
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'view' };
  const wrong = { metadata: { name }, roleRef: { ...roleRef, kind: 'Role' }, subjects: [{ kind: 'Robot', name: 'x' }] };
  const refused = expect(await client.post(`${rbac}/clusterrolebindings`, wrong), 422);
  assert.match(refused.message, /roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"/);
  assert.match(refused.message, /subjects\[0\].kind: Unsupported value: "Robot"/);
  const subjects = [
    { kind: 'User', name: 'x' },
    { kind: 'ServiceAccount', name: 'a', namespace: 'default' },
  ];
  const made = await client.make(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
  assert.deepEqual(made.subjects, [
    { kind: 'User', apiGroup: group, name: 'x' },
    { kind: 'ServiceAccount', name: 'a', namespace: 'default' },
  ]);
  const change = { roleRef: { name: 'edit' } };
  const kept = expect(await client.patch(`${rbac}/clusterrolebindings/${name}`, mergePatch, change), 422);
  const why = byVersion({ '1.34': /cannot change roleRef/, '1.37': /"Kind":"ClusterRole",.*: field is immutable/ });
  assert.match(kept.message, why);
});

test('impersonation needs the permission for each part of the identity', async () => {
  const user = client.name('user');
  const token = { authorization: 'Bearer none' };
  expect(await client.get('/api/v1/nodes', { headers: { ...token, 'impersonate-user': user } }), 401);
  const withoutUser = await client.get('/api/v1/nodes', { headers: { 'impersonate-group': 'g' } });
  expect(withoutUser, byVersion({ '1.34': 500, '1.35': 400 }));
  const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const headers = {
    'impersonate-user': user,
    'impersonate-group': 'g',
    'impersonate-uid': '7',
    'impersonate-extra-a%2fb': 'v',
  };
  const { status } = expect(await client.post(reviews, {}, { headers }), 201);
  assert.deepEqual(status.userInfo, {
    username: user,
    uid: '7',
    groups: ['g', 'system:authenticated'],
    extra: { 'a/b': ['v'] },
  });
  const account = expect(await client.post(reviews, {}, as('system:serviceaccount:default:robot')), 201);
  assert.deepEqual(account.status.userInfo.groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:default',
    'system:authenticated',
  ]);
  const refused = expect(await client.post(reviews, {}, as('system:anonymous', ['system:unauthenticated'])), 403);
  assert.match(refused.message, /User "system:anonymous" cannot create resource "selfsubjectreviews"/);
});

test('without a token a user is anonymous, with an invalid one unknown', async () => {
  const headers = { authorization: '' };
  expect(await client.get('/version', { headers }), 200);
  expect(await client.get('/livez', { headers }), 200);
  const { message } = expect(await client.get('/api/v1/nodes', { headers }), 403);
  assert.match(message, /^nodes is forbidden: User "system:anonymous" cannot list resource "nodes"/);
  expect(await client.get('/api', { headers }), 403);
  expect(await client.get('/version', { headers: { authorization: 'Bearer wrong' } }), 401);
});

test('the roles and bindings of a new cluster exist', async () => {
  const { rules } = expect(await client.get(`${rbac}/clusterroles/cluster-admin`), 200);
  assert.deepEqual(rules, [rule(['*'], ['*'], ['*']), { verbs: ['*'], nonResourceURLs: ['*'] }]);
  const scheduler = expect(await client.get(`${rbac}/clusterrolebindings/system:kube-scheduler`), 200);
  assert.deepEqual(scheduler.subjects, [{ kind: 'User', apiGroup: group, name: 'system:kube-scheduler' }]);
  const { items } = expect(await client.get(`${rbac}/clusterroles`), 200);
  assert.ok(items.length >= 69);
});

test('a user who creates an object by PUT or by apply needs the permission to create it', async () => {
  const user = client.name('user');
  const rules = [rule(['get', 'update', 'patch'], ['configmaps', 'leases'], ['', 'coordination.k8s.io'])];
  await grant(user, { rules, namespace: 'default' });
  const [name, path] = [client.name('made'), '/api/v1/namespaces/default/configmaps'];
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
  const headers = { ...as(user).headers, 'content-type': 'application/apply-patch+yaml' };
  const query = '?fieldManager=test';
  await eventually(() => client.get(`${path}/${name}`, as(user)), 404);
  const applied = expect(await client.send('PATCH', `${path}/${name}${query}`, { headers, body }), 403);
  assert.match(String(applied.message), new RegExp(`^configmaps "${name}" is forbidden: User "${user}" cannot create`));
  const lease = client.name('lease');
  const leases = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${lease}`;
  expect(await client.send('PUT', leases, { ...as(user), body: { metadata: { name: lease } } }), 403);
  await grant(user, { rules: [rule(['create'], ['configmaps'])], namespace: 'default' });
  await eventually(() => client.send('PATCH', `${path}/${name}${query}`, { headers, body }), 201);
  expect(await client.send('PATCH', `${path}/${name}${query}`, { headers, body }), 200);
});
