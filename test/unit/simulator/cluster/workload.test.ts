import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../src/machinery/api/pod.ts';
import { SeededRandom } from '../../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import { Workload } from '../../../../src/simulator/cluster/workload.ts';
import { Storage } from '../../../../src/simulator/server/storage.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const silent = 'silent';

/** The nodes of 300 pods: one node is tainted as unreachable, four are not. */
function placePods(pins: boolean): readonly string[] {
  const random = new SeededRandom(1);
  const storage = new Storage(new ManualClock(), random);
  for (const name of ['n1', 'n2', 'n3', 'n4', silent]) {
    const taints = name === silent ? [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }] : [];
    storage.create('nodes', { metadata: { name } });
    storage.merge('nodes', { name }, { spec: { taints } });
  }
  const workload = new Workload({ storage, random, podsWanted: 300 });
  workload.pins = pins;
  for (let round = 0; round < 20; round += 1) workload.reconcile();
  const pods: readonly Pod[] = storage.list('pods');
  return pods.map(({ spec }) => spec?.nodeName ?? '');
}

test('users bind some pods to a node that the scheduler would not choose', () => {
  const nodes = placePods(true);
  const share = nodes.filter((node) => node === silent).length / nodes.length;
  assert.ok(share > 0.005 && share < 0.05, `${share}`);
});

test('the scheduler never binds a pod to a node with a taint that the pod does not tolerate', () => {
  const nodes = placePods(false);
  assert.ok(nodes.length >= 290, `${nodes.length}`);
  assert.ok(!nodes.includes(silent));
});
