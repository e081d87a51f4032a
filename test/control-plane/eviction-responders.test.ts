// Evictions of lifecycle.k8s.io/v1alpha1 (EvictionRequestAPI, alpha in 1.37) as kube-apiserver admits them: a pod waits for its
// responder. Their controller is not in 1.37, so the test writes the statuses. And the API server without the gate.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatMicroTime, formatTime } from '../../src/machinery/api/timestamps.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 30_000 };
const evictions = '/apis/lifecycle.k8s.io/v1alpha1/namespaces/default/evictions';
const merge = { contentType: 'application/merge-patch+json' } as const;
const responder = 'pg.example.com/operator';
const imperative = 'imperative-eviction.k8s.io/evictor';
const atOnce = ['not-ready', 'unreachable'].map((name) => {
  return { key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 };
});
const config = `apiVersion: nodelifecycle/v1alpha1
kind: ControllerConfiguration
nodeMonitorPeriod: 1s
nodeMonitorGracePeriod: 8s
nodeEvictionRate: 10
waitForEvictionResponders: true
policies:
  - name: careful
    nodeSelector: { matchLabels: { kubernetes.io/os: linux } }
    evictReachable: { timeout: 5m }
`;

interface Side {
  readonly plane: ControlPlane;
  readonly cluster: ScriptedCluster;
  readonly controller: NlcProcess;
}

const folder = mkdtempSync(join(tmpdir(), 'nlc-responders-'));
const configFile = join(folder, 'config.yaml');
const planes: ControlPlane[] = [];
const clusters: ScriptedCluster[] = [];
const controllers: NlcProcess[] = [];

/** Pods `on-n0`, ... of four nodes, with a controller that leads. */
async function startSide(...apiServerArgs: readonly string[]): Promise<Side> {
  const plane = await startControlPlane({ apiServerArgs });
  planes.push(plane);
  const cluster = new ScriptedCluster(plane.client());
  clusters.push(cluster);
  for (let place = 0; place < 4; place++) {
    await cluster.addNode(`n${place}`, 'z', { labels: { 'kubernetes.io/os': 'linux' } });
    await cluster.addPod(`on-n${place}`, `n${place}`, atOnce);
  }
  cluster.start();
  const controller = NlcProcess.controller(plane.kubeconfigFile, `--config=${configFile}`);
  controllers.push(controller);
  await waitUntil('leading', soon, () => controller.said('leading'));
  for (let place = 0; place < 4; place++) await cluster.untilClean(`n${place}`);
  return { plane, cluster, controller };
}

before(() => {
  writeFileSync(configFile, config);
});

after(async () => {
  await Promise.all(controllers.map((controller) => controller.kill()));
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  await Promise.all(planes.map((plane) => plane.stop()));
  rmSync(folder, { recursive: true });
});

/** Writes what the controller of Evictions and the responder would: the responder is active, and has sent a heartbeat. */
async function requestEviction({ plane, cluster }: Side, pod: string): Promise<void> {
  const client = plane.client();
  const { uid } = (await cluster.pod(pod))?.metadata ?? {};
  await client.must('POST', evictions, {
    apiVersion: 'lifecycle.k8s.io/v1alpha1',
    kind: 'Eviction',
    metadata: { name: `of-${pod}` },
    spec: { target: { pod: { name: pod, uid } } },
  });
  const at = formatTime(Date.now());
  const status = {
    requesters: [{ name: 'drain.example.com/nodes', intent: 'Eviction' }],
    targetResponders: [
      { name: responder, priority: 10_000, state: 'Active' },
      { name: imperative, priority: 100, state: 'Inactive' },
    ],
    responders: [{ name: responder, startTime: at, heartbeatTime: at }, { name: imperative }],
  };
  await client.must('PATCH', `${evictions}/of-${pod}/status`, { status }, merge);
}

async function completeResponder({ plane }: Side, pod: string): Promise<void> {
  const client = plane.client();
  const path = `${evictions}/of-${pod}/status`;
  const { status } = await client.must<{ status: { responders: readonly { name: string }[] } }>('GET', path);
  const completionTime = formatTime(Date.now());
  const responders = status.responders.map((each) => (each.name === responder ? { ...each, completionTime } : each));
  await client.must('PATCH', path, { status: { responders } }, merge);
}

test('a pod waits for its responder, and is evicted when that has completed; a silent node waits for none', {
  timeout: 150_000,
}, async () => {
  const side = await startSide(
    '--feature-gates=EvictionRequestAPI=true',
    '--runtime-config=lifecycle.k8s.io/v1alpha1=true',
  );
  const { cluster, controller } = side;
  for (const pod of ['on-n0', 'on-n1']) await requestEviction(side, pod);
  await cluster.post('n0', { Ready: 'False' });
  await waitUntil('tainted', soon, async () => (await cluster.taints('n0')).length === 2);
  await sleep(5_000);
  assert.ok((await cluster.pod('on-n0')) !== undefined);
  const text = await controller.page('/explain/pods/default/on-n0?output=text');
  assert.match(
    text,
    /waits for responder pg\.example\.com\/operator of Eviction default\/of-on-n0, last heartbeat \d+/,
  );
  assert.match(
    text,
    /requested +Eviction default\/of-on-n0, by drain\.example\.com\/nodes; active responder pg\.example/,
  );
  assert.match(await controller.page('/metrics'), /waiting_pods\{policy="careful",reason="responder"\} 1/);

  cluster.stopHeartbeats('n1');
  await waitUntil('the pod of the silent node is gone', soon, async () => (await cluster.pod('on-n1')) === undefined);
  assert.ok((await cluster.pod('on-n0')) !== undefined);

  const beforeMs = Date.now();
  await completeResponder(side, 'on-n0');
  await waitUntil('evicted', soon, async () => (await cluster.pod('on-n0')) === undefined);
  assert.ok(Date.now() - beforeMs < 10_000, `at ${formatMicroTime(Date.now())}`);
});

test('without the gate the replica is ready and leads, says once why, and pods wait for no responder', {
  timeout: 150_000,
}, async () => {
  const { cluster, controller } = await startSide();
  assert.equal((await fetch(`http://${controller.address('health')}/readyz`)).status, 200);
  await cluster.post('n0', { Ready: 'False' });
  await waitUntil('evicted', soon, async () => (await cluster.pod('on-n0')) === undefined);
  const said = controller
    .logs()
    .filter(({ resource, level }) => resource === 'evictions.lifecycle.k8s.io' && level !== 'debug' && level !== 20);
  assert.equal(said.length, 1);
  assert.match(
    String(said[0]?.['detail']),
    /lifecycle\.k8s\.io\/v1alpha1 is not served; pods of reachable nodes do not wait/,
  );
  const text = await controller.page('/explain/pods/default/on-n1?output=text');
  assert.match(text, /requested +not known: lifecycle\.k8s\.io\/v1alpha1 is not served/);
});
