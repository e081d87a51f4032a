/** Tokens of service accounts: who they are, for whom they are valid, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiResponse, expect, type Json, openClient, podPath } from './client.ts';

const client = await openClient({ authorizationMode: 'RBAC' });

interface Account {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly path: string;
}

async function makeAccount(): Promise<Account> {
  const namespace = await client.namespace();
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const { metadata } = await client.make(accounts, { metadata: { name: 'robot' } });
  return { name: 'robot', namespace, uid: metadata.uid, path: `${accounts}/robot` };
}

function requestToken({ path }: Account, spec: Json = {}, metadata?: Json): Promise<ApiResponse> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  return client.post(`${path}/token`, metadata === undefined ? body : { ...body, metadata });
}

async function whoami(token: string): Promise<ApiResponse> {
  const headers = { authorization: `Bearer ${token}` };
  return client.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { headers });
}

async function reviewToken(token: string, audiences?: readonly string[]): Promise<Json> {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  return expect(await client.post(path, { spec: { token, audiences } }), 201).status;
}

/** A real server remembers a valid token for some seconds. */
async function eventuallyInvalid(token: string): Promise<void> {
  for (let tried = 0; tried < 150; tried += 1) {
    if ((await whoami(token)).code === 401) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(await whoami(token), 401);
}

test('a token identifies its service account', async () => {
  const account = await makeAccount();
  const { name, namespace, uid } = account;
  const made = expect(await requestToken(account), 201, { kind: 'TokenRequest' });
  assert.partialDeepStrictEqual(made.metadata, { name, namespace });
  const { audiences, ...spec } = made.spec;
  assert.equal(audiences.length, 1);
  assert.deepEqual(spec, { expirationSeconds: 3_600, boundObjectRef: null });
  const leftMs = Date.parse(made.status.expirationTimestamp) - Date.now();
  assert.ok(leftMs > 3_590_000 && leftMs < 3_610_000, String(leftMs));
  const { userInfo } = expect(await whoami(made.status.token), 201).status;
  const { extra, ...identity } = userInfo;
  assert.deepEqual(identity, {
    username: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  });
  assert.match(extra['authentication.kubernetes.io/credential-id'][0], /^JTI=[0-9a-f-]{36}$/);
});

test('the claims of a token', async () => {
  const account = await makeAccount();
  const { status } = expect(await requestToken(account, { expirationSeconds: 7_200 }), 201);
  const claims = JSON.parse(Buffer.from(status.token.split('.')[1], 'base64url').toString());
  assert.equal(claims.exp - claims.iat, 7_200);
  assert.equal(claims.sub, `system:serviceaccount:${account.namespace}:robot`);
  assert.deepEqual(claims.aud, [claims.iss]);
  assert.deepEqual(claims['kubernetes.io'], {
    namespace: account.namespace,
    serviceaccount: { name: 'robot', uid: account.uid },
  });
});

test('a token for another audience is not one for the server', async () => {
  const account = await makeAccount();
  const { status } = expect(await requestToken(account, { audiences: ['elsewhere'] }), 201);
  expect(await whoami(status.token), 401);
  assert.equal((await reviewToken(status.token)).authenticated, undefined);
  const reviewed = await reviewToken(status.token, ['elsewhere', 'nowhere']);
  assert.deepEqual([reviewed.authenticated, reviewed.audiences], [true, ['elsewhere']]);
});

test('a token that is bound to a pod says so', async () => {
  const account = await makeAccount();
  const { pod, ref, token } = await podToken(account);
  const { userInfo } = expect(await whoami(token), 201).status;
  assert.deepEqual(userInfo.extra['authentication.kubernetes.io/pod-name'], [pod.metadata.name]);
  assert.deepEqual(userInfo.extra['authentication.kubernetes.io/pod-uid'], [pod.metadata.uid]);
  const wrong = { ...ref, uid: 'another' };
  expect(await requestToken(account, { boundObjectRef: wrong }), 409);
  expect(await requestToken(account, { boundObjectRef: { ...ref, name: 'missing' } }), 404);
  expect(await requestToken(account, { boundObjectRef: { ...ref, kind: 'Service' } }), 400);
  const foreign = await client.pod(account.namespace);
  const { message } = expect(
    await requestToken(account, { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: foreign.metadata.name } }),
    400,
  );
  assert.match(
    message,
    /cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name/,
  );
});

async function podToken(account: Account): Promise<{ pod: Json; ref: Json; token: string }> {
  const pod = await client.pod(account.namespace, { spec: { serviceAccountName: account.name } });
  const ref = { kind: 'Pod', apiVersion: 'v1', name: pod.metadata.name, uid: pod.metadata.uid };
  const { status } = expect(await requestToken(account, { boundObjectRef: ref }), 201);
  return { pod, ref, token: status.token };
}

test('a token ends with its service account, and with the pod to which it is bound', async () => {
  const [account, ofPod] = [await makeAccount(), await makeAccount()];
  const { status } = expect(await requestToken(account), 201);
  const bound = await podToken(ofPod);
  for (const token of [status.token, bound.token]) expect(await whoami(token), 201);
  expect(await client.delete(account.path), 200);
  expect(await client.delete(podPath(bound.pod)), 200);
  await Promise.all([status.token, bound.token].map(eventuallyInvalid));
  await client.make(account.path.replace(/\/robot$/, ''), { metadata: { name: 'robot' } });
  expect(await whoami(status.token), 401);
});

test('a token request is validated', async () => {
  const account = await makeAccount();
  const short = expect(await requestToken(account, { expirationSeconds: 599 }), 422);
  assert.match(
    short.message,
    /spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes/,
  );
  expect(await requestToken(account, { expirationSeconds: 2 ** 33 }), 422);
  expect(await requestToken(account, {}, { name: 'another' }), 422);
  expect(await requestToken({ ...account, path: account.path.replace('robot', 'missing') }), 404);
  expect(await client.get(`${account.path}/token`), 405);
});

test('a token that was changed is refused', async () => {
  const account = await makeAccount();
  const { status } = expect(await requestToken(account), 201);
  const [header, claims, signature] = status.token.split('.');
  const changed = {
    ...JSON.parse(Buffer.from(claims, 'base64url').toString()),
    sub: 'system:serviceaccount:kube-system:x',
  };
  const forged = Buffer.from(JSON.stringify(changed)).toString('base64url');
  expect(await whoami(`${header}.${forged}.${signature}`), 401);
  expect(await whoami(`${header}.${claims}.`), 401);
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  expect(await whoami(`${none}.${claims}.`), 401);
});
