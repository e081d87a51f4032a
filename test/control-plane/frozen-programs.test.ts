// No healthy node is marked Unknown while the controller cannot observe leases. Ten healthy nodes, a grace period of 8 s,
// and each component between the controller and the nodes' leases fails for longer than that, one after another.
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
  controller = NlcProcess.controller(
    kubeconfig,
    '--node-monitor-grace-period=8s',
    '--node-monitor-period=1s',
    '--leader-elect=false',
  );
  await waitUntil('leading', soon, () => controller.said('leading'));
  await cluster.untilClean(...names);
});

after(async () => {
  await controller.kill();
  await cluster.stop();
  await proxy.stop();
  await plane.stop();
});

const decisions = (kind: string): readonly unknown[] => controller.logs().filter(({ decision }) => decision === kind);

/** Runs a failure, waits for the recovery, and counts the nodes that were evaluated as silent meanwhile. */
async function falseDeaths(failure: () => Promise<void>): Promise<number> {
  await sleep(3_000);
  const before = decisions('node-silent').length;
  await failure();
  await sleep(12_000);
  assert.equal(controller.hasEnded, false, controller.stderr);
  for (const name of names) assert.equal(await cluster.ready(name), 'True', name);
  return decisions('node-silent').length - before;
}

test('the API server is frozen for 20 s: no node is marked Unknown', { timeout: 60_000 }, async () => {
  const deaths = await falseDeaths(async () => {
    plane.stopApiServer();
    await sleep(20_000);
    plane.continueApiServer();
  });
  assert.equal(deaths, 0);
  assert.ok(decisions('evaluation-paused').length > 0, 'node health evaluation was paused');
});

test('etcd is frozen for 20 s: no node is marked Unknown', { timeout: 60_000 }, async () => {
  const etcd = plane.pids.etcd ?? assert.fail('etcd is not running');
  const deaths = await falseDeaths(async () => {
    process.kill(etcd, 'SIGSTOP');
    await sleep(20_000);
    process.kill(etcd, 'SIGCONT');
  });
  assert.equal(deaths, 0);
});

test('the API server is killed and restarted after 14 s: no node is marked Unknown', { timeout: 60_000 }, async () => {
  const deaths = await falseDeaths(async () => {
    await plane.killApiServer();
    await sleep(14_000);
    await plane.restartApiServer();
  });
  assert.equal(deaths, 0);
  assert.ok(cluster.failedRenewals > 0, 'renewals of nodes failed too');
});

test('the controller is frozen for 20 s: no node is marked Unknown', { timeout: 60_000 }, async () => {
  const deaths = await falseDeaths(async () => {
    controller.signal('SIGSTOP');
    await sleep(20_000);
    controller.signal('SIGCONT');
  });
  assert.equal(deaths, 0);
});

test('all connections of the controller are frozen for 25 s: no healthy node is marked Unknown, a silent one is', {
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
  cluster.stopHeartbeats('n0');
  const silentAtMs = performance.now();
  await waitUntil('n0 is Unknown', { timeoutMs: 40_000 }, async () => {
    if (performance.now() - silentAtMs > 23_000) proxy.thaw();
    return (await cluster.ready('n0')) === 'Unknown';
  });
  // A write whose connection was frozen has no answer: then the watch shows that it was carried out.
  await waitUntil('the decision is logged', soon, () => decisions('node-silent').length > 0);
  assert.equal(decisions('node-silent').length, 1);
  await cluster.resumeHeartbeats('n0');
  await cluster.untilClean('n0');
});
