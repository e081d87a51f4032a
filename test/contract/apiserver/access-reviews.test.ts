/** Reviews: what a user may do, and whose a token is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, type Json, openClient } from './client.ts';

const client = await openClient({ authorizationMode: 'RBAC' });
const authorization = '/apis/authorization.k8s.io/v1';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';

/** A user who may list pods everywhere and delete one lease of a namespace. */
async function makeUser(): Promise<{ name: string; namespace: string; role: string }> {
  const [name, role, namespace] = [client.name('user'), client.name('role'), await client.namespace()];
  const subjects = [{ kind: 'User', apiGroup: group, name }];
  const rules = [
    { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['get'], nonResourceURLs: ['/metrics'] },
  ];
  await client.make(`${rbac}/clusterroles`, { metadata: { name: role }, rules });
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: role };
  await client.make(`${rbac}/clusterrolebindings`, { metadata: { name: role }, roleRef, subjects });
  const ofLease = [
    { verbs: ['delete'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['l'] },
  ];
  await client.make(`${rbac}/namespaces/${namespace}/roles`, { metadata: { name: role }, rules: ofLease });
  const own = { metadata: { name: role }, roleRef: { ...roleRef, kind: 'Role' }, subjects };
  await client.make(`${rbac}/namespaces/${namespace}/rolebindings`, own);
  for (let tried = 0; tried < 100 && !(await mayDelete(name, namespace)); tried += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { name, namespace, role };
}

const lease = (namespace: string): Json => ({
  namespace,
  verb: 'delete',
  group: 'coordination.k8s.io',
  resource: 'leases',
  name: 'l',
});

async function mayDelete(user: string, namespace: string): Promise<boolean> {
  return (await review({ user, resourceAttributes: lease(namespace) })).allowed;
}

async function review(spec: Json): Promise<Json> {
  const made = expect(await client.post(`${authorization}/subjectaccessreviews`, { spec }), 201);
  assert.partialDeepStrictEqual(made, { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec });
  return made.status;
}

test('SubjectAccessReview: the decision and its reason', async () => {
  const { name, namespace, role } = await makeUser();
  const pods = { verb: 'list', resource: 'pods' };
  assert.deepEqual(await review({ user: name, resourceAttributes: pods }), {
    allowed: true,
    reason: `RBAC: allowed by ClusterRoleBinding "${role}" of ClusterRole "${role}" to User "${name}"`,
  });
  assert.deepEqual(await review({ user: name, resourceAttributes: lease(namespace) }), {
    allowed: true,
    reason: `RBAC: allowed by RoleBinding "${role}/${namespace}" of Role "${role}" to User "${name}"`,
  });
  assert.deepEqual(await review({ user: name, resourceAttributes: lease('default') }), { allowed: false });
  assert.deepEqual(await review({ user: name, resourceAttributes: { ...pods, subresource: 'status' } }), {
    allowed: false,
  });
  assert.equal((await review({ user: name, nonResourceAttributes: { verb: 'get', path: '/metrics' } })).allowed, true);
  assert.equal((await review({ user: name, nonResourceAttributes: { verb: 'get', path: '/livez' } })).allowed, false);
  assert.deepEqual(await review({ groups: ['system:masters'], resourceAttributes: pods }), { allowed: true });
});

test('SelfSubjectAccessReview: the decision for the user of the request', async () => {
  const { name } = await makeUser();
  const path = `${authorization}/selfsubjectaccessreviews`;
  const own = async (resourceAttributes: Json, headers: Record<string, string> = {}): Promise<Json> =>
    expect(await client.post(path, { spec: { resourceAttributes } }, { headers }), 201).status;
  assert.deepEqual(await own({ verb: 'delete', resource: 'nodes' }), { allowed: true });
  const headers = { 'impersonate-user': name };
  assert.equal((await own({ verb: 'list', resource: 'pods' }, headers)).allowed, true);
  assert.deepEqual(await own({ verb: 'delete', resource: 'nodes' }, headers), { allowed: false });
});

test('LocalSubjectAccessReview: the decision in one namespace', async () => {
  const { name, namespace } = await makeUser();
  const path = `${authorization}/namespaces/${namespace}/localsubjectaccessreviews`;
  const spec = { user: name, resourceAttributes: lease(namespace) };
  const made = expect(await client.post(path, { metadata: { namespace }, spec }), 201);
  assert.equal(made.status.allowed, true);
  const other = { metadata: { namespace }, spec: { ...spec, resourceAttributes: lease('default') } };
  const { message } = expect(await client.post(path, other), 422);
  assert.match(message, /spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace/);
});

test('SelfSubjectRulesReview: all rules of the user in a namespace', async () => {
  const { name, namespace } = await makeUser();
  const headers = { 'impersonate-user': name };
  const path = `${authorization}/selfsubjectrulesreviews`;
  const { status, spec } = expect(await client.post(path, { spec: { namespace } }, { headers }), 201);
  assert.deepEqual(spec, {});
  assert.equal(status.incomplete, false);
  const has = (rules: Json, wanted: Json): boolean =>
    rules.some((rule: Json) => JSON.stringify(rule) === JSON.stringify(wanted));
  assert.ok(has(status.resourceRules, { verbs: ['list'], apiGroups: [''], resources: ['pods'] }));
  assert.ok(
    has(status.resourceRules, {
      verbs: ['delete'],
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: ['l'],
    }),
  );
  assert.ok(has(status.nonResourceRules, { verbs: ['get'], nonResourceURLs: ['/metrics'] }));
  expect(await client.post(path, { spec: {} }, { headers }), 400, { message: 'no namespace on request' });
});

test('an access review is validated', async () => {
  const path = `${authorization}/subjectaccessreviews`;
  const { message, details } = expect(await client.post(path, { spec: {} }), 422);
  assert.match(message, /^.authorization.k8s.io "" is invalid: /);
  assert.match(message, /exactly one of nonResourceAttributes or resourceAttributes must be specified/);
  assert.match(message, /spec.user: Invalid value: "": at least one of user or group must be specified/);
  assert.equal(details.causes.length, 2);
});

test('TokenReview: the user of a valid token, and an error for another', async () => {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  const { token } = client.backend;
  const { status } = expect(await client.post(path, { spec: { token } }), 201);
  assert.equal(status.authenticated, true);
  assert.ok(status.user.groups.includes('system:masters') && status.user.groups.includes('system:authenticated'));
  assert.equal(status.audiences.length, 1);
  const wrong = expect(await client.post(path, { spec: { token: 'wrong' } }), 201);
  assert.equal(wrong.status.authenticated, undefined);
  assert.match(wrong.status.error, /invalid bearer token/);
  assert.deepEqual(wrong.status.user, {});
  expect(await client.post(path, { spec: {} }), 400);
  const other = expect(await client.post(path, { spec: { token, audiences: ['elsewhere'] } }), 201);
  assert.equal(other.status.authenticated, undefined, JSON.stringify(other));
});
