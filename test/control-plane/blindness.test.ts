// A controller that stops hearing is not proof that nodes stopped talking. Ten healthy nodes, a grace period of 8 s, and
// everything between the controller and the nodes' leases fails for longer than that, one thing after another.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FreezingProxy } from '../support/freezing-proxy.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 30_000 };
const names = Array.from({ length: 10 }, (_, index) => `n${index}`);

let plane: ControlPlane;
let cluster: ScriptedCluster;
let proxy: FreezingProxy;
let controller: NlcProcess;

before(async () => {
  plane = await startControlPlane();
  cluster = new ScriptedCluster(plane.client());
  for (const [index, name] of names.entries()) await cluster.addNode(name, `z${index % 2}`);
  cluster.start();
  proxy = await FreezingProxy.start(plane.url);
  const kubeconfig = join(plane.folder, 'through-the-proxy.kubeconfig');
  writeFileSync(kubeconfig, readFileSync(plane.kubeconfigFile, 'utf8').replaceAll(plane.url, proxy.url), {
    mode: 0o600,
  });
  controller = new NlcProcess([
    'controller',
    `--kubeconfig=${kubeconfig}`,
    '--node-monitor-grace-period=8s',
    '--node-monitor-period=1s',
    '--leader-elect=false',
    '--metrics-bind-address=0',
    '--health-probe-bind-address=0',
    '--log-format=json',
  ]);
  await waitUntil('leading', soon, () => controller.logs().find(({ msg }) => msg === 'leading'));
  for (const name of names)
    await waitUntil(`${name} clean`, soon, async () => ((await cluster.taints(name)).length === 0 ? true : undefined));
});

after(async () => {
  await controller.kill();
  await cluster.stop();
  await proxy.stop();
  await plane.stop();
});

const decisions = (kind: string): readonly unknown[] => controller.logs().filter(({ decision }) => decision === kind);

/** Runs a failure, waits until it must have been got over, and counts the nodes that were called dead meanwhile. */
async function falseDeaths(failure: () => Promise<void>): Promise<number> {
  await sleep(3_000);
  const before = decisions('node-silent').length;
  await failure();
  await sleep(12_000);
  assert.equal(controller.hasEnded, false, controller.stderr);
  for (const name of names) {
    const ready = (await cluster.node(name)).status.conditions.find(({ type }) => type === 'Ready');
    assert.equal(ready?.status, 'True', name);
  }
  return decisions('node-silent').length - before;
}

test('the API server stands still for 20 s: nobody is called dead', { timeout: 60_000 }, async () => {
  const deaths = await falseDeaths(async () => {
    plane.stopApiServer();
    await sleep(20_000);
    plane.continueApiServer();
  });
  assert.equal(deaths, 0);
  assert.ok(decisions('sight-lost').length > 0, 'and it knew that it did not see');
});

test('etcd stands still for 20 s: nobody is called dead', { timeout: 60_000 }, async () => {
  const etcd = plane.pids.etcd ?? assert.fail('etcd is not running');
  const deaths = await falseDeaths(async () => {
    process.kill(etcd, 'SIGSTOP');
    await sleep(20_000);
    process.kill(etcd, 'SIGCONT');
  });
  assert.equal(deaths, 0);
});

test('the API server is killed and back after 14 s: nobody is called dead', { timeout: 60_000 }, async () => {
  const deaths = await falseDeaths(async () => {
    await plane.killApiServer();
    await sleep(14_000);
    await plane.restartApiServer();
  });
  assert.equal(deaths, 0);
  assert.ok(cluster.failedRenewals > 0, 'the nodes felt it too');
});

test('the controller itself stands still for 20 s: nobody is called dead', { timeout: 60_000 }, async () => {
  const deaths = await falseDeaths(async () => {
    controller.signal('SIGSTOP');
    await sleep(20_000);
    controller.signal('SIGCONT');
  });
  assert.equal(deaths, 0);
});

test('every connection of the controller is dead for 25 s: nobody healthy is called dead, and who falls silent meanwhile is noticed', {
  timeout: 120_000,
}, async () => {
  const deaths = await falseDeaths(async () => {
    proxy.freeze();
    await sleep(25_000);
    proxy.thaw();
  });
  assert.equal(deaths, 0);

  proxy.freeze();
  await sleep(2_000);
  cluster.goDark('n0');
  const darkAtMs = performance.now();
  await waitUntil('n0 is noticed', { timeoutMs: 40_000 }, async () => {
    if (performance.now() - darkAtMs > 23_000) proxy.thaw();
    const ready = (await cluster.node('n0')).status.conditions.find(({ type }) => type === 'Ready');
    return ready?.status === 'Unknown' ? true : undefined;
  });
  assert.deepEqual(decisions('node-silent').length, 1);
  await cluster.comeBack('n0');
  await waitUntil('n0 clean', soon, async () => ((await cluster.taints('n0')).length === 0 ? true : undefined));
});
