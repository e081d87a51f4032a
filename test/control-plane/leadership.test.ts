// Leader election on a real API server with the default times: 15 s, 10 s and 2 s. The leader is frozen for longer than its
// lease duration while nodes become silent; a proxy records its requests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { holderWritten, ProxiedController } from '../support/proxied-controller.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 30_000 };
const stoppedMs = 20_000;
const crowdSize = 30;
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/node-lifecycle-controller';

interface LeaseJson {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly holderIdentity: string; readonly leaseTransitions: number };
}

let plane: ControlPlane;
let cluster: ScriptedCluster;
const controllers: ProxiedController[] = [];

async function start(): Promise<ProxiedController> {
  const controller = await ProxiedController.start({
    url: plane.url,
    ca: readFileSync(plane.caFile, 'utf8'),
    token: plane.adminToken,
    args: [
      '--node-monitor-grace-period=8s',
      '--node-monitor-period=1s',
      '--node-eviction-rate=10',
      // Slow enough that the leader is frozen before all pods are marked.
      '--kube-api-qps=10',
      '--kube-api-burst=5',
    ],
  });
  controllers.push(controller);
  return controller;
}

const lease = (): Promise<LeaseJson> => plane.client().must<LeaseJson>('GET', leasePath);
const said = (controller: ProxiedController, message: string) => (): boolean => controller.said(message);

async function marked(): Promise<number> {
  const ready = await Promise.all(Array.from({ length: crowdSize }, (_, i) => cluster.podReady(`crowd-${i}`)));
  return ready.filter((status) => status === 'False').length;
}

before(async () => {
  plane = await startControlPlane();
  cluster = new ScriptedCluster(plane.client());
  for (let i = 0; i < 6; i++) await cluster.addNode(`n${i}`, `z${i % 2}`);
  for (let i = 0; i < crowdSize; i++) await cluster.addPod(`crowd-${i}`, 'n0', [{ operator: 'Exists' }]);
  cluster.start();
});

after(async () => {
  await Promise.all(controllers.map((controller) => controller.stop()));
  await cluster.stop();
  await plane.stop();
});

test('a leader that is frozen for 20 s between its writes writes nothing after it continues', {
  timeout: 120_000,
}, async () => {
  const first = await start();
  await waitUntil('leading', soon, said(first, 'leading'));
  const second = await start();
  await waitUntil('standing by', soon, said(second, 'the leader changed'));
  for (let i = 0; i < 6; i++) await cluster.untilClean(`n${i}`);

  cluster.stopHeartbeats('n0');
  const marks = (): number => first.proxy.writes.filter(({ path }) => path.includes('/pods/crowd-')).length;
  await waitUntil('in the middle of the crowd', soon, () => marks() >= 5);
  first.process.signal('SIGSTOP');
  await sleep(200); // requests in flight arrive
  assert.ok(marks() < crowdSize, 'in the middle');
  const writtenBefore = first.proxy.writes.length;
  const { spec: before } = await lease();
  await sleep(stoppedMs);
  assert.equal(first.proxy.writes.length, writtenBefore);
  await waitUntil('the second leads', { timeoutMs: 4_000 }, said(second, 'leading'));

  first.process.signal('SIGCONT');
  assert.equal((await first.process.exited).code, 1);
  const seen = first.proxy.writes.slice(writtenBefore).map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(seen, []);
  assert.ok(first.endedByItself, first.process.stdout);
  await waitUntil('the crowd is marked', soon, async () => (await marked()) === crowdSize);
  const { spec } = await lease();
  assert.notEqual(spec.holderIdentity, before.holderIdentity);
  assert.equal(spec.leaseTransitions, before.leaseTransitions + 1);
});

test('a deleted lease is created again by its leader, which keeps leading; SIGTERM releases it with the last write', {
  timeout: 60_000,
}, async () => {
  const leader = controllers.at(-1) ?? assert.fail('no leader');
  const { metadata, spec } = await lease();
  await plane.client().must('DELETE', leasePath);
  const recreated = await waitUntil('a new lease', { timeoutMs: 6_000 }, async () => {
    const { status, body } = await plane.client().send<LeaseJson>('GET', leasePath);
    return status === 200 ? body : undefined;
  });
  assert.notEqual(recreated.metadata.uid, metadata.uid);
  assert.equal(recreated.spec.holderIdentity, spec.holderIdentity);
  assert.equal(leader.process.hasEnded, false);

  assert.deepEqual(await leader.process.terminate(), { code: 0, signal: null });
  const last = leader.proxy.writes.at(-1) ?? assert.fail('nothing was written');
  assert.equal(holderWritten(last), '');
  assert.equal((await lease()).spec.holderIdentity, '');
});
