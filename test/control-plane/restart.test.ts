// After a restart the controller continues from the state in the API: interrupted pod marking is completed, and tolerations
// end at the same time as without the restart.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NlcProcess } from '../support/nlc-process.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 40_000 };
const crowdSize = 40;
const patienceSeconds = 24;
const unreachable = 'node.kubernetes.io/unreachable';

let plane: ControlPlane;
let cluster: ScriptedCluster;
let controller: NlcProcess;

function start(): NlcProcess {
  return NlcProcess.controller(
    plane.kubeconfigFile,
    '--node-monitor-grace-period=8s',
    '--node-monitor-period=1s',
    '--node-eviction-rate=10',
    '--leader-elect=false',
    // Slow enough that the controller is killed before all pods are marked.
    '--kube-api-qps=10',
    '--kube-api-burst=5',
  );
}

before(async () => {
  plane = await startControlPlane();
  cluster = new ScriptedCluster(plane.client());
  for (let i = 0; i < 6; i++) await cluster.addNode(`n${i}`, `z${i % 2}`);
  for (let i = 0; i < crowdSize; i++) await cluster.addPod(`crowd-${i}`, 'n0', [{ operator: 'Exists' }]);
  await cluster.addPod('patient', 'n1', [
    { key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: patienceSeconds },
  ]);
  cluster.start();
  controller = start();
  for (let i = 0; i < 6; i++) await cluster.untilClean(`n${i}`);
});

after(async () => {
  await controller.kill();
  await cluster.stop();
  await plane.stop();
});

async function markedInCrowd(): Promise<number> {
  const ready = await Promise.all(Array.from({ length: crowdSize }, (_, i) => cluster.podReady(`crowd-${i}`)));
  return ready.filter((status) => status === 'False').length;
}

test('a controller that is killed while it marks the pods of a silent node marks the rest after a restart', {
  timeout: 120_000,
}, async () => {
  cluster.stopHeartbeats('n0');
  const marked = await waitUntil('some pods marked', soon, async () => {
    const count = await markedInCrowd();
    return count >= 5 ? count : undefined;
  });
  await controller.kill();
  assert.ok((await markedInCrowd()) < crowdSize, `killed in the middle, not at the end (${marked})`);
  controller = start();
  await waitUntil('all pods marked', soon, async () => (await markedInCrowd()) === crowdSize);
  await cluster.resumeHeartbeats('n0');
});

test('a controller that is killed 14 s into a toleration of 24 s evicts at 24 s', { timeout: 120_000 }, async () => {
  cluster.stopHeartbeats('n1');
  const taintedAtMs = await waitUntil('n1 tainted', soon, async () => {
    const taint = (await cluster.node('n1')).spec.taints?.find(({ effect }) => effect === 'NoExecute');
    return taint === undefined ? undefined : Date.parse(taint.timeAdded ?? '');
  });
  await sleep(14_000);
  await controller.kill();
  assert.ok((await cluster.pod('patient')) !== undefined);
  controller = start();
  const goneAtMs = await waitUntil('patient gone', soon, async () =>
    (await cluster.pod('patient')) === undefined ? Date.now() : undefined,
  );
  const waitedMs = goneAtMs - taintedAtMs;
  assert.ok(
    waitedMs >= patienceSeconds * 1_000 && waitedMs <= patienceSeconds * 1_000 + 3_000,
    `evicted ${waitedMs} ms after the taint`,
  );
});
