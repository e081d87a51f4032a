// `nlc apiserver --authorization-mode=RBAC --token-auth-file`: users, permissions, and the controllers of the server.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NlcProcess } from '../support/nlc-process.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

const folder = tempFolder();
const kubeconfig = join(folder, 'kubeconfig');
const users = join(folder, 'users.csv');

interface Answer {
  readonly status: number;
  readonly body: { readonly message?: string };
}

/** Sends one request with that token. */
async function send(
  url: string,
  token: string,
  [method, path, body]: readonly [string, string, object?],
): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}

test('a user of the token file may do what a binding grants, and a deleted namespace is removed', async (t) => {
  writeFileSync(users, 'reader-token,reader,1,"viewers"\n');
  const flags = ['--tls=false', '--port=0', `--kubeconfig-out=${kubeconfig}`];
  const server = new NlcProcess(['apiserver', ...flags, '--authorization-mode=RBAC', `--token-auth-file=${users}`]);
  t.after(() => server.kill());
  await until(() => server.stdout.includes('press Ctrl-C'));
  const url = /listening on (\S+),/.exec(server.stdout)?.[1] ?? '';
  const admin = /token: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
  const pods = '/api/v1/namespaces/default/pods';
  const refused = await send(url, 'reader-token', ['GET', pods]);
  assert.equal(refused.status, 403);
  assert.match(
    refused.body.message ?? '',
    /User "reader" cannot list resource "pods" in API group "" in the namespace "default"/,
  );
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'viewers' }];
  const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
  assert.equal(
    (await send(url, admin, ['POST', bindings, { metadata: { name: 'viewers' }, roleRef, subjects }])).status,
    201,
  );
  assert.equal((await send(url, 'reader-token', ['GET', pods])).status, 200);
  assert.equal((await send(url, 'reader-token', ['DELETE', `${pods}/none`])).status, 403);
  assert.equal((await send(url, admin, ['POST', '/api/v1/namespaces', { metadata: { name: 'gone' } }])).status, 201);
  assert.equal((await send(url, admin, ['DELETE', '/api/v1/namespaces/gone'])).status, 200);
  const startedAtMs = performance.now();
  while ((await send(url, admin, ['GET', '/api/v1/namespaces/gone'])).status !== 404) {
    assert.ok(performance.now() - startedAtMs < 10_000, 'the namespace is still there after 10 s');
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
});

test('invalid flags: one line each, with the accepted values', async () => {
  writeFileSync(users, 'secret,user\n');
  const flags = [
    '--port=0',
    `--kubeconfig-out=${kubeconfig}`,
    `--token-auth-file=${users}`,
    '--controllers=job-controller',
  ];
  const server = new NlcProcess(['apiserver', ...flags]);
  assert.deepEqual(await server.exited, { code: 2, signal: null });
  assert.match(server.stderr, /--token-auth-file: .*users\.csv": line 1: must be token,user,uid/);
  assert.match(server.stderr, /--controllers: must be .*namespace-controller.*\(got "job-controller"\)/);
  assert.doesNotMatch(server.stderr, /secret/);
});
