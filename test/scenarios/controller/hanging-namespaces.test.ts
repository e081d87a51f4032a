// A webhook that hangs for the pods of one namespace delays no pod of another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { aWorldOf } from '../../support/zoned-world.ts';

const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
const broken = { key: 'example.com/broken', effect: 'NoExecute' };
const inBatch = { namespace: 'batch' };

/** Deletions and patches of pods with these names end after 10 s, with a timeout. Returns how many began. */
function hang(world: ControllerWorld, prefix: string, signal: AbortSignal): () => number {
  let requests = 0;
  world.beforeWrite = async ({ name, resource }) => {
    if (resource !== 'pods' || !name.startsWith(prefix)) return;
    requests += 1;
    await world.clock.sleep(10_000, signal);
    throw new ApiError({ reason: 'timeout', message: 'no response within 10000 ms' });
  };
  return () => requests;
}

test('taints: a pod of another node is deleted at once, and those that hang are tried on', async () => {
  const end = new AbortController();
  await using world = aWorldOf(9, 3);
  for (let each = 0; each < 300; each += 1) world.addPod(`bad-${each}`, 'n0', [], inBatch);
  world.addPod('good', 'n1');
  const requests = hang(world, 'bad', end.signal);
  await world.running(20);
  world.setTaints('n0', [broken]);
  await world.advance(60);
  const [from, before] = [world.seconds(), requests()];
  world.setTaints('n1', [broken]);
  await world.advance(120);
  end.abort();
  assert.ok((world.evictedAtSeconds('good') ?? Infinity) - from < 2, `after ${world.evictedAtSeconds('good')} s`);
  assert.ok(requests() - before >= 80, `${requests() - before} further requests`);
});

test('pod gc: completed pods whose deletion hangs do not hold up a stuck pod of an out-of-service node', async () => {
  const end = new AbortController();
  const world = new ControllerWorld({}, { podGc: true }, { terminatedPodGcThreshold: 10 });
  for (const name of ['a', 'b', 'c']) world.addNode(name);
  world.renewing('a', 'b', 'c');
  for (let each = 0; each < 500; each += 1) {
    world.addPod(`batch-${each}`, 'b', [], inBatch);
    world.changePod(`batch-${each}`, (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  }
  hang(world, 'batch', end.signal);
  await using _ = await world.running(30);
  const from = world.seconds();
  world.addPod('stuck', 'a', [{ operator: 'Exists' }]);
  world.post('a', 'False');
  world.goSilent('a');
  world.setTaints('a', [outOfService]);
  const terminating = { deletionTimestamp: '2026-01-02T03:05:05Z', deletionGracePeriodSeconds: 30 };
  world.changePod('stuck', (pod) => ({ ...pod, metadata: { ...pod.metadata, ...terminating } }));
  await world.advance(120);
  end.abort();
  assert.ok((world.evictedAtSeconds('stuck') ?? Infinity) - from < 60, `after ${world.evictedAtSeconds('stuck')} s`);
});
