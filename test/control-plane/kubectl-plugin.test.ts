// `kubectl node-lifecycle` with the real kubectl and a kubeconfig that reaches only a real kube-apiserver: it forwards ports
// through a kubelet, of which this test serves the port-forward alone. The kubelet may be on loopback; a pod may not, because
// kube-apiserver proxies to no loopback address.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { hostname } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, test } from 'node:test';
import { servePortForward } from '../support/channel-socket.ts';
import { TestAuthority } from '../support/certificates.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 30_000 };
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const namespace = 'node-lifecycle-controller';
const pods = `/api/v1/namespaces/${namespace}/pods`;
const reader = 'node-lifecycle-controller-pages-reader';
const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

let plane: ControlPlane;
let kubelet: ReturnType<typeof createServer>;
const controllers: NlcProcess[] = [];
const forwarded: IncomingMessage[] = [];
const kubeconfigs: Record<string, string> = {};
const path = process.env['PATH'];

/** `kubectl-node_lifecycle` and its completion, as an installation has them on the PATH. */
function installPlugin(): void {
  const folder = join(plane.folder, 'bin');
  mkdirSync(folder);
  for (const [name, words] of [
    ['kubectl-node_lifecycle', 'kubectl'],
    ['kubectl_complete-node_lifecycle', 'kubectl __complete'],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${process.execPath} ${main} ${words} "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  process.env['PATH'] = `${folder}${delimiter}${path ?? ''}`;
}

async function startKubelet(): Promise<number> {
  const pair = await (await TestAuthority.make()).sign({ subject: 'CN=kubelet', hosts: ['127.0.0.1'] });
  kubelet = createServer({ cert: pair.cert, key: pair.key });
  kubelet.on('upgrade', (incoming: IncomingMessage, socket: Duplex) => {
    forwarded.push(incoming);
    servePortForward(incoming, socket, Number(new URL(incoming.url ?? '', 'http://kubelet').searchParams.get('port')));
  });
  kubelet.listen(0, '127.0.0.1');
  await once(kubelet, 'listening');
  return (kubelet.address() as { port: number }).port;
}

async function addNode(port: number): Promise<void> {
  await plane.client().must('POST', '/api/v1/nodes', { metadata: { name: 'worker-1' } });
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  const contentType = 'application/merge-patch+json';
  await plane.client().must('PATCH', '/api/v1/nodes/worker-1/status', { status }, { contentType });
}

/** The pod of a controller that runs as a process here: what the chart would create. */
async function addPod(name: string, portName: string, port: number): Promise<void> {
  const labels = { 'app.kubernetes.io/name': namespace, 'app.kubernetes.io/instance': namespace };
  const container = { name: 'controller', image: 'x', ports: [{ name: portName, containerPort: port }] };
  await plane
    .client()
    .must('POST', pods, { metadata: { name, labels }, spec: { nodeName: 'worker-1', containers: [container] } });
  const status = { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] };
  const contentType = 'application/merge-patch+json';
  await plane.client().must('PATCH', `${pods}/${name}/status`, { status }, { contentType });
}

async function grant(account: string, name: string, rules: readonly object[], where: string): Promise<void> {
  const base = `${rbac}/namespaces/${where}`;
  await plane.client().must('POST', `${base}/roles`, { metadata: { name }, rules });
  await plane.client().must('POST', `${base}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: account }],
  });
}

const podReads = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };
/** The rules of the chart's cluster role for users of the plugin. */
const userRules: readonly object[] = [
  podReads,
  { apiGroups: [''], resources: ['pods/portforward'], verbs: ['get', 'create'] },
  { apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: [reader], verbs: ['create'] },
];
const leaseRule = {
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  resourceNames: [namespace],
  verbs: ['get'],
};

async function startController(...flags: readonly string[]): Promise<number> {
  const controller = NlcProcess.controller(plane.kubeconfigFile, '--leader-elect-retry-period=500ms', ...flags);
  controllers.push(controller);
  await waitUntil('leading', soon, () => controller.said('serving /metrics') && controller.said('leading'));
  return Number(controller.address().split(':')[1]);
}

before(async () => {
  plane = await startControlPlane();
  installPlugin();
  for (const name of ['oncall', 'proxier', 'outsider'])
    kubeconfigs[name] = plane.kubeconfigFor(await plane.addServiceAccount('default', name));
  await plane.client().must('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await grant('oncall', 'oncall', userRules, namespace);
  await grant('oncall', 'oncall', [leaseRule], 'kube-system');
  await grant(
    'proxier',
    'proxier',
    [podReads, { apiGroups: [''], resources: ['pods/proxy'], verbs: ['get'] }],
    namespace,
  );
  await addNode(await startKubelet());
});

after(async () => {
  process.env['PATH'] = path;
  await Promise.all(controllers.map((controller) => controller.kill()));
  kubelet.closeAllConnections();
  kubelet.close();
  await plane.stop();
});

const kubectl = (account: string, ...argv: readonly string[]) =>
  plane.kubectl(['node-lifecycle', ...argv], '', kubeconfigs[account]);

test('explain, status and lists of the leader through kube-apiserver and a kubelet', async () => {
  await addPod(hostname().toLowerCase(), 'metrics', await startController());
  const explained = await kubectl('oncall', 'explain', 'node/worker-1');
  assert.deepEqual([explained.code, explained.stderr], [0, '']);
  assert.match(explained.stdout, /^node worker-1: Ready is missing/);
  const status = await kubectl('oncall', 'status', '-o', 'wide');
  assert.match(status.stdout, /^leading; leader: .*\n/);
  assert.match(status.stdout, /^worker-1 +\S+ +not-ready /m);
  const top = await kubectl('oncall', 'top');
  assert.match(top.stdout, /^NODE \(1\) .*\nworker-1 /m);
  assert.ok(
    forwarded.every(({ headers }) => headers.authorization === undefined),
    'the token ends at kube-apiserver',
  );
});

test('kubectl completes commands, flags and node names of the plugin', async () => {
  const complete = async (...words: readonly string[]): Promise<string> =>
    (await plane.kubectl(['__complete', 'node-lifecycle', ...words])).stdout;
  assert.match(await complete('expl'), /^explain\t.*\n:4\n/);
  assert.match(await complete('status', '--outp'), /^--output\t/);
  assert.match(await complete('explain', 'node/w'), /^node\/worker-1\n:4\n/);
});

test('missing permissions are named; kube-apiserver does not proxy to a pod on loopback', async () => {
  const outsider = await kubectl('outsider', 'status');
  assert.equal(outsider.code, 1);
  assert.match(
    outsider.stderr,
    /needed: list on pods in namespace node-lifecycle-controller, as in the chart's cluster role/,
  );
  const proxier = await kubectl('proxier', 'status');
  assert.equal(proxier.code, 1);
  assert.match(proxier.stderr, /needed: get and create on pods\/portforward in namespace node-lifecycle-controller/);
  assert.match(proxier.stderr, /through the API server's proxy: .*address not allowed/);
});

test('secure pages with a certificate that the controller generated: a token that only they accept', async () => {
  await controllers[0]?.terminate();
  const gone = { gracePeriodSeconds: 0 };
  await plane.client().must('DELETE', `${pods}/${hostname().toLowerCase()}`, gone);
  const port = await startController('--metrics-secure');
  await plane.client().must('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: reader } });
  await addPod(hostname().toLowerCase(), 'https-metrics', port);
  const forbidden = await kubectl('oncall', 'status');
  assert.match(forbidden.stderr, /returned 403: .*cannot get path/);
  const rules = [{ nonResourceURLs: ['/status', '/explain/*'], verbs: ['get'] }];
  await plane.client().must('POST', `${rbac}/clusterroles`, { metadata: { name: reader }, rules });
  await plane.client().must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: reader },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: reader },
    subjects: [{ kind: 'ServiceAccount', namespace, name: reader }],
  });
  const allowed = await waitUntil('the pages are read', soon, async () => {
    const run = await kubectl('oncall', 'explain', 'node/worker-1');
    return run.code === 0 ? run : undefined;
  });
  assert.match(allowed.stdout, /^node worker-1: /);
  await assertUselessElsewhere();
});

/** The token that the plugin requests, at kube-apiserver itself. */
async function assertUselessElsewhere(): Promise<void> {
  const { status } = await plane
    .client()
    .must<{ status: { token: string } }>('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${reader}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [namespace], expirationSeconds: 600 },
    });
  const asked = await plane.client(status.token).send('GET', '/api/v1/namespaces');
  assert.equal(asked.status, 401);
}
