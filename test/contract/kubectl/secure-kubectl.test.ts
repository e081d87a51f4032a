// Credentials of `kubectl node-lifecycle` for secure pages: what is sent to which server.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readFlags } from '../../../src/cli/flags/flag-schema.ts';
import { clusterFlags } from '../../../src/cli/kubectl/flags.ts';
import { LeaderPages } from '../../../src/cli/kubectl/leader-pages.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { FakeCluster } from '../../support/fake-cluster.ts';
import { nlc } from '../../support/run-command.ts';
import { SecurePagesStage } from '../../support/secure-pages.ts';

const account = 'node-lifecycle-controller-pages-reader';
const audience = 'node-lifecycle-controller';

function jwt(aud: string): string {
  return `e30.${Buffer.from(JSON.stringify({ aud: [aud] })).toString('base64url')}.signature`;
}

interface Stage {
  readonly cluster: FakeCluster;
  readonly pages: SecurePagesStage;
  readonly kubectl: (...flags: readonly string[]) => ReturnType<typeof nlc>;
}

async function staged(t: TestContext): Promise<Stage> {
  const cluster = await FakeCluster.start();
  t.after(() => cluster[Symbol.asyncDispose]());
  const pages = await SecurePagesStage.open();
  t.after(() => pages.close());
  cluster.pods.push({ namespace: 'node-lifecycle-controller', name: 'c-1', port: pages.port, secure: true });
  cluster.tokens.set(account, jwt(audience));
  pages.api.add('reader', jwt(audience), 'get /status').add('user', 'user-token', 'get /status');
  pages.api.audiences.set(jwt(audience), [audience]);
  return {
    cluster,
    pages,
    kubectl: (...flags) => nlc('kubectl', 'status', `--kubeconfig=${cluster.kubeconfig()}`, ...flags),
  };
}

test('a short-lived token for the audience of the pages is requested and sent; that of the user is not', async (t) => {
  const { cluster, pages, kubectl } = await staged(t);
  assert.deepEqual(await kubectl(), { code: 0, out: 'page /status', err: '' });
  assert.deepEqual(cluster.tokenRequests, [{ account, audiences: [audience], expirationSeconds: 600 }]);
  assert.deepEqual(pages.api.tokensAsked, [jwt(audience)]);
});

test('without the right to request a token nothing is sent to a server that is not verified', async (t) => {
  const { cluster, pages, kubectl } = await staged(t);
  cluster.forbidden.add('create serviceaccounts/token');
  const refused = await kubectl();
  assert.deepEqual([refused.code, refused.out], [1, '']);
  assert.match(
    refused.err,
    new RegExp(`needed: create on serviceaccounts/token of ${account} in namespace node-lifecycle-controller`),
  );
  assert.match(
    refused.err,
    /--certificate-authority with --namespace or --tls-server-name sends the credentials of the kubeconfig instead, to a verified server/,
  );
  assert.deepEqual(pages.api.tokensAsked, []);
});

test('with --certificate-authority the credentials of the kubeconfig are sent, to a verified server only', async (t) => {
  const { cluster, pages, kubectl } = await staged(t);
  cluster.tokens.clear();
  const named = ['--tls-server-name=pages.example', `--certificate-authority=${pages.caFile}`];
  assert.deepEqual(await kubectl(...named), { code: 0, out: 'page /status', err: '' });
  assert.deepEqual(pages.api.tokensAsked, ['user-token']);
});

test('a controller that was found without --namespace gets no credentials of the kubeconfig, even if it is verified', async (t) => {
  const { cluster, pages, kubectl } = await staged(t);
  const name = 'node-lifecycle-controller-metrics.node-lifecycle-controller.svc';
  pages.write(await pages.authority.sign({ subject: 'CN=pages', hosts: [name] }));
  await pages.clock.advance(10_000);
  cluster.tokens.clear();
  const refused = await kubectl(`--certificate-authority=${pages.caFile}`);
  assert.deepEqual([refused.code, refused.out], [1, '']);
  assert.match(refused.err, /--certificate-authority with --namespace or --tls-server-name sends/);
  assert.deepEqual(pages.api.tokensAsked, []);
  const named = await kubectl(`--certificate-authority=${pages.caFile}`, '--namespace=node-lifecycle-controller');
  assert.deepEqual(named, { code: 0, out: 'page /status', err: '' });
  assert.deepEqual(pages.api.tokensAsked, ['user-token']);
});

test('a token that the pages reject is replaced once: its validity passes while the machine is suspended', async (t) => {
  const { cluster, pages } = await staged(t);
  const read = readFlags([`--kubeconfig=${cluster.kubeconfig()}`], clusterFlags);
  assert.ok('values' in read);
  const leader = await LeaderPages.open(read.values);
  t.after(() => leader.close());
  const get = async () => (await leader.get('/status', AbortSignal.timeout(10_000))).status;
  assert.equal(await get(), 200);
  const next = `${jwt(audience)}2`;
  cluster.tokens.set(account, next);
  pages.api.users.delete(jwt(audience));
  await pages.clock.advance(3_600_000);
  pages.api.add('reader', next, 'get /status');
  pages.api.audiences.set(next, [audience]);
  assert.equal(await get(), 200);
  assert.equal(cluster.tokenRequests.length, 2);
  pages.api.users.clear();
  await pages.clock.advance(3_600_000);
  assert.equal(await get(), 401);
  assert.equal(cluster.tokenRequests.length, 3, 'once for each page');
});

test('neither credential is sent to a server with another certificate or name', async (t) => {
  const { cluster, pages, kubectl } = await staged(t);
  const other = join(pages.folder, 'other.crt');
  writeFileSync(other, (await TestAuthority.make('other')).cert);
  const wrongAuthority = await kubectl('--tls-server-name=pages.example', `--certificate-authority=${other}`);
  assert.equal(wrongAuthority.code, 1);
  assert.match(wrongAuthority.err, /no response from pod node-lifecycle-controller\/c-1 \(.*certificate/);
  const wrongName = await kubectl(`--certificate-authority=${pages.caFile}`);
  assert.match(wrongName.err, /node-lifecycle-controller-metrics\.node-lifecycle-controller\.svc/);
  cluster.tokens.clear();
  assert.equal((await kubectl(`--certificate-authority=${pages.caFile}`)).code, 1);
  assert.deepEqual(pages.api.tokensAsked, []);
});

test('secure pages are not read through the proxy of the API server, which would send no token', async (t) => {
  const { cluster, kubectl } = await staged(t);
  cluster.forbidden.add('create pods/portforward');
  const refused = await kubectl();
  assert.match(refused.err, /needed: get and create on pods\/portforward/);
  assert.ok(!cluster.requests.some((line) => line.includes('/proxy')));
});

test('a token for another audience is rejected by the pages, and one that claims the audience falsely too', async (t) => {
  const { pages } = await staged(t);
  pages.api.users.set(jwt('elsewhere'), 'reader');
  pages.api.audiences.set(jwt('elsewhere'), ['elsewhere']);
  assert.equal((await pages.get('/status', { token: jwt('elsewhere') })).status, 401);
  pages.api.audiences.delete(jwt(audience));
  assert.equal((await pages.get('/status', { token: jwt(audience) })).status, 401);
});

test('a missing permission of the reader names the role', async (t) => {
  const { pages, kubectl } = await staged(t);
  pages.api.grants.clear();
  const refused = await kubectl();
  assert.match(refused.err, /returned 403: .*cannot get path/);
});
