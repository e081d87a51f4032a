// `kubectl node-lifecycle` against an API server that forwards ports to pods.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import {
  type Route,
  type RunningHttp,
  startHttp,
  textAnswer,
} from '../../../src/machinery/page-server/observability-server.ts';
import { pageBytesMax, PageError } from '../../../src/cli/client/page-source.ts';
import { dispatch } from '../../../src/cli/commands/dispatch.ts';
import { readFlags } from '../../../src/cli/flags/flag-schema.ts';
import { clusterFlags } from '../../../src/cli/kubectl/flags.ts';
import { LeaderPages } from '../../../src/cli/kubectl/leader-pages.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { FakeCluster, type FakePod } from '../../support/fake-cluster.ts';
import { nlc } from '../../support/run-command.ts';
import { until } from '../../support/until.ts';

let cluster: FakeCluster;
const servers: RunningHttp[] = [];

before(async () => {
  cluster = await FakeCluster.start();
});

afterEach(async () => {
  cluster.pods.length = 0;
  cluster.requests.length = 0;
  cluster.forbidden.clear();
  cluster.holder = undefined;
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

after(() => cluster[Symbol.asyncDispose]());

/** A replica: its pages, and its pod. */
async function addReplica(name: string, leading: boolean, changes: Partial<FakePod> = {}): Promise<void> {
  const page = (path: string): Route => ({
    path,
    answer: (url) =>
      url.searchParams.get('output') !== 'text'
        ? { status: 200, contentType: 'application/json', body: `${JSON.stringify({ leading, from: name })}\n` }
        : textAnswer(200, `${url.pathname} of ${name}\n`),
  });
  const paths = ['/status', '/shadow', '/explain/nodes', '/explain/nodes/', '/explain/pods/', '/explain/zones'];
  const routes = [...paths, '/explain/evictions'].map(page);
  const server = await startHttp({ address: { host: '127.0.0.1', port: 0 }, routes, logger: new RecordingLogger() });
  servers.push(server);
  cluster.pods.push({ namespace: 'node-lifecycle-controller', name, port: server.address.port, ...changes });
}

const kubectl = (...argv: readonly string[]) => nlc('kubectl', ...argv, `--kubeconfig=${cluster.kubeconfig()}`);

test('the pages of the leader, which the lease names, are read through a port-forward', async () => {
  await addReplica('c-1', false);
  await addReplica('c-2', true);
  cluster.holder = 'c-2_uuid';
  const explained = await kubectl('explain', 'node/worker-7');
  assert.deepEqual(explained, { code: 0, out: '/explain/nodes/worker-7 of c-2\n', err: '' });
  assert.equal((await kubectl('explain', 'pod/default/web')).out, '/explain/pods/default/web of c-2\n');
  assert.equal((await kubectl('status')).out, '/status of c-2\n');
  assert.equal((await kubectl('shadow')).out, '/shadow of c-2\n');
  assert.ok(
    cluster.requests.some((line) => line.startsWith('FORWARD /api/v1/namespaces/node-lifecycle-controller/pods/c-2/')),
  );
});

test('-o yaml, json and wide; flags of the cluster may stand before the command', async () => {
  await addReplica('c-1', true);
  assert.equal((await kubectl('status', '-o', 'yaml')).out, 'leading: true\nfrom: c-1\n');
  assert.equal((await kubectl('status', '-ojson')).out, '{"leading":true,"from":"c-1"}\n');
  const wide = (await kubectl('status', '--output=wide')).out;
  assert.equal(wide, '/status of c-1\n/explain/nodes of c-1\n/explain/evictions of c-1\n');
  const before = await nlc(
    'kubectl',
    '--kubeconfig',
    cluster.kubeconfig(),
    '-n',
    'node-lifecycle-controller',
    'status',
  );
  assert.deepEqual([before.code, before.out], [0, '/status of c-1\n'], before.err);
});

test('without a lease each replica is asked; the one that leads is read', async () => {
  await addReplica('c-1', false);
  await addReplica('c-2', true);
  assert.equal((await kubectl('status')).out, '/status of c-2\n');
  cluster.forbidden.add('get leases');
  assert.equal((await kubectl('status')).out, '/status of c-2\n');
});

test('if no replica leads, the replicas are named; --pod reads one of them', async () => {
  await addReplica('c-1', false);
  await addReplica('c-2', false);
  cluster.holder = 'c-gone_uuid';
  const none = await kubectl('status');
  assert.deepEqual([none.code, none.out], [1, '']);
  assert.match(
    none.err,
    /no replica leads \(c-1: stands by; c-2: stands by\) of node-lifecycle-controller\/c-1 \(Running\)/,
  );
  assert.match(none.err, /--pod\n$/);
  assert.equal((await kubectl('status', '--pod=c-1')).out, '/status of c-1\n');
});

test('a controller in another namespace is found by its labels; two of them need --namespace', async () => {
  await addReplica('c-1', true, { namespace: 'platform' });
  assert.equal((await kubectl('status')).out, '/status of c-1\n');
  await addReplica('c-9', true, { namespace: 'tenant' });
  const several = await kubectl('status');
  assert.equal(several.code, 1);
  assert.match(several.err, /pods in several namespaces match \(platform, tenant\); set --namespace/);
  assert.equal((await kubectl('status', '-n', 'platform')).out, '/status of c-1\n');
});

test('pods in both usual namespaces need --namespace', async () => {
  await addReplica('c-1', true, { namespace: 'kube-system' });
  await addReplica('c-9', true, { namespace: 'node-lifecycle-controller' });
  const both = await kubectl('status');
  assert.deepEqual([both.code, both.out], [1, '']);
  assert.match(
    both.err,
    /pods in several namespaces match \(node-lifecycle-controller, kube-system\); set --namespace/,
  );
});

test('a pod in the namespace of the context is not preferred: a tenant may have created it', async () => {
  await addReplica('c-9', true, { namespace: 'tenant' });
  await addReplica('c-1', true, { namespace: 'kube-system' });
  const own = cluster.kubeconfig('tenant');
  const found = await nlc('kubectl', 'status', `--kubeconfig=${own}`);
  assert.deepEqual([found.code, found.out], [0, '/status of c-1\n'], found.err);
  const named = await nlc('kubectl', 'status', `--kubeconfig=${own}`, '--namespace=tenant');
  assert.equal(named.out, '/status of c-9\n', 'given explicitly');
});

test('a list that is cut off is an error: the controller may be among the pods that are not listed', async () => {
  for (let index = 0; index < 100; index += 1)
    cluster.pods.push({ namespace: 'a-tenant', name: `c-${index}`, port: 1 });
  await addReplica('c-1', true, { namespace: 'platform' });
  const cut = await kubectl('status');
  assert.deepEqual([cut.code, cut.out], [1, '']);
  assert.match(cut.err, /more than 100 pods with the labels \S+ in all namespaces; set --namespace/);
  assert.equal((await kubectl('status', '-n', 'platform')).out, '/status of c-1\n');
});

test('where a port-forward is forbidden, plain pages are read through the proxy of the API server', async () => {
  await addReplica('c-1', true);
  cluster.forbidden.add('create pods/portforward');
  assert.deepEqual(await kubectl('status'), { code: 0, out: '/status of c-1\n', err: '' });
  cluster.forbidden.add('get pods/proxy');
  const neither = await kubectl('status');
  assert.equal(neither.code, 1);
  assert.match(neither.err, /needed: get and create on pods\/portforward in namespace node-lifecycle-controller/);
  assert.match(neither.err, /--clusterrole=node-lifecycle-controller-kubectl/);
  assert.match(neither.err, /through the API server's proxy: .*cannot get resource "pods\/proxy"/);
});

test('a missing permission, a missing controller, pages that are off and a missing kubeconfig are explained', async () => {
  cluster.forbidden.add('list pods');
  assert.match(
    (await kubectl('status')).err,
    /cannot find the controller: forbidden; needed: list on pods in namespace node-lifecycle-controller.*; if it runs in another namespace, set --namespace\n$/,
  );
  cluster.forbidden.clear();
  const missing = await kubectl('status');
  assert.equal(missing.code, 1);
  assert.match(
    missing.err,
    /^kubectl node-lifecycle status: no controller found: .* in node-lifecycle-controller, kube-system, all namespaces; set --namespace/,
  );
  cluster.forbidden.add('list pods in ');
  assert.match(
    (await kubectl('status')).err,
    /in node-lifecycle-controller, kube-system, all namespaces \(forbidden\)/,
  );
  cluster.forbidden.clear();
  await addReplica('c-1', true, { phase: 'Pending' });
  assert.match((await kubectl('status')).err, /no replica is running: .*c-1 \(Pending\)/);
  const lost = await nlc('kubectl', 'status', '--kubeconfig=/does/not/exist');
  assert.equal(lost.code, 1);
  assert.match(lost.err, /\/does\/not\/exist cannot be read/);
});

test('usage errors and help name the plugin', async () => {
  const wrong = await kubectl('explain', 'service/x');
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.err,
    /^kubectl node-lifecycle explain: invalid arguments .*\n  object: must be node\/NAME or pod\/NAMESPACE\/NAME/,
  );
  assert.match(
    (await nlc('kubectl', 'help')).out,
    /^kubectl node-lifecycle - .*Usage: kubectl node-lifecycle COMMAND/s,
  );
  assert.match((await nlc('kubectl', 'status', '--help')).out, /^kubectl node-lifecycle status - .*-n, --namespace/s);
  assert.match((await nlc('help', 'kubectl', 'top')).out, /--interval DURATION \(default 2s\)/);
  assert.match((await nlc('kubectl', 'statsu')).err, /unknown command "statsu"; did you mean status\?/);
});

test('control characters from a pod do not reach the terminal', async () => {
  const server = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    routes: [{ path: '/status', answer: () => textAnswer(200, 'node \x1b]0;owned\x07 \x9b2J\n') }],
    logger: new RecordingLogger(),
  });
  servers.push(server);
  cluster.pods.push({ namespace: 'node-lifecycle-controller', name: 'c-1', port: server.address.port });
  assert.equal((await kubectl('status')).out, 'node \\x1b]0;owned\\x07 \\x9b2J\n');
});

test('control characters in an error of a pod do not reach the terminal, nor do those of top', async () => {
  const body = JSON.stringify({ error: { message: 'no \x1b]0;owned\x07' } });
  const server = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    routes: [{ path: '/status', answer: () => ({ status: 500, contentType: 'application/json', body }) }],
    logger: new RecordingLogger(),
  });
  servers.push(server);
  cluster.pods.push({ namespace: 'node-lifecycle-controller', name: 'c-1', port: server.address.port });
  assert.match((await kubectl('status')).err, /returned 500: no \\x1b\]0;owned\\x07\n$/);
  assert.match((await kubectl('top')).err, /returned 500: no \\x1b\]0;owned\\x07\n$/);
  const direct = await nlc('top', `--server=http://127.0.0.1:${server.address.port}`);
  assert.match(direct.err, /returned 500: no \\x1b\]0;owned\\x07\n$/);
});

test('top --watch follows the leader when another replica leads', async () => {
  await addReplica('c-1', false);
  await addReplica('c-2', true);
  cluster.holder = 'c-1_uuid';
  const stop = new AbortController();
  let out = '';
  const code = dispatch(['kubectl', 'top', '--watch', '--interval=500ms', `--kubeconfig=${cluster.kubeconfig()}`], {
    stdout: (text) => void (out += text),
    stderr: (text) => assert.fail(text),
    env: {},
    signal: stop.signal,
  });
  await until(() => out.includes('standing by'));
  cluster.holder = 'c-2_uuid';
  await until(() => out.includes('  leading  '));
  stop.abort();
  assert.equal(await code, 0);
});

test('a caller that goes away does not end the search of the others', async () => {
  await addReplica('c-1', true);
  const read = readFlags([`--kubeconfig=${cluster.kubeconfig()}`], clusterFlags);
  assert.ok('values' in read);
  const leader = await LeaderPages.open(read.values);
  const answer = Promise.withResolvers<void>();
  cluster.held = answer.promise;
  try {
    const first = new AbortController();
    const left = leader.current(first.signal);
    const other = leader.current(AbortSignal.timeout(10_000));
    await until(() => cluster.requests.length > 0);
    first.abort();
    await assert.rejects(left, PageError);
    answer.resolve();
    assert.equal((await other).name, 'pod node-lifecycle-controller/c-1');
  } finally {
    answer.resolve();
    cluster.held = Promise.resolve();
    await leader.close();
  }
});

test('closing ends a search', { timeout: 10_000 }, async () => {
  const read = readFlags([`--kubeconfig=${cluster.kubeconfig()}`], clusterFlags);
  assert.ok('values' in read);
  const leader = await LeaderPages.open(read.values);
  const answer = Promise.withResolvers<void>();
  cluster.held = answer.promise;
  const waiting = assert.rejects(leader.current(AbortSignal.timeout(60_000)), PageError);
  await until(() => cluster.requests.length > 0);
  await leader.close();
  await waiting;
  cluster.held = Promise.resolve();
  answer.resolve();
});

test('a page without end is read to the limit, through a port-forward and through the proxy of the API server', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  const endless = createServer((_, response) => {
    const send = (): void => {
      while (!response.destroyed && sent < 100 * pageBytesMax) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', send);
      }
    };
    send();
  });
  await new Promise<void>((resolve) => void endless.listen(0, '127.0.0.1', resolve));
  const { port } = endless.address() as AddressInfo;
  cluster.pods.push({ namespace: 'node-lifecycle-controller', name: 'c-1', port });
  cluster.holder = 'c-1_uuid';
  try {
    for (const refused of [undefined, 'create pods/portforward']) {
      if (refused !== undefined) cluster.forbidden.add(refused);
      sent = 0;
      const { code, out, err } = await kubectl('status');
      assert.deepEqual([code, out], [1, ''], err);
      assert.match(err, /(?:longer|larger) than \d+ bytes/u);
      assert.ok(sent < 10 * pageBytesMax, `${sent} bytes were sent`);
    }
  } finally {
    endless.closeAllConnections();
    endless.close();
  }
});
