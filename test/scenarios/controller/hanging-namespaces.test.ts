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

test('taints: nor where some pods of that namespace are answered at once', async () => {
  const end = new AbortController();
  await using world = aWorldOf(40, 3);
  for (let each = 0; each < 100; each += 1) {
    world.addPod(`bad-${each}`, 'n0', [], inBatch);
    world.addPod(`quick-${each}`, 'n0', [], inBatch);
  }
  for (let each = 1; each < 30; each += 1) world.addPod(`good-${each}`, `n${each}`);
  hang(world, 'bad', end.signal);
  const hanging = world.beforeWrite;
  world.beforeWrite = (write) =>
    write.name.startsWith('quick')
      ? Promise.reject(new ApiError({ reason: 'internal', message: 'denied' }))
      : hanging(write);
  await world.running(20);
  world.setTaints('n0', [broken]);
  await world.advance(60);
  for (let each = 1; each < 30; each += 1) {
    const from = world.seconds();
    world.setTaints(`n${each}`, [broken]);
    await world.advance(7);
    assert.ok((world.evictedAtSeconds(`good-${each}`) ?? Infinity) - from < 2, `good-${each}`);
  }
  end.abort();
});

/** Three nodes, of which pod GC knows; `a` is out of service, with a pod that terminates. */
function aWorldWithGc(): ControllerWorld {
  const world = new ControllerWorld({}, { podGc: true }, { terminatedPodGcThreshold: 10 });
  for (const name of ['a', 'b', 'c']) world.addNode(name);
  world.renewing('a', 'b', 'c');
  return world;
}

function addCompleted(world: ControllerWorld, count: number): void {
  for (let each = 0; each < count; each += 1) {
    world.addPod(`batch-${each}`, 'b', [], inBatch);
    world.changePod(`batch-${each}`, (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  }
}

function addStuck(world: ControllerWorld, namespace: string): void {
  world.addPod('stuck', 'a', [{ operator: 'Exists' }], { namespace });
  world.post('a', 'False');
  world.goSilent('a');
  world.setTaints('a', [outOfService]);
  const terminating = { deletionTimestamp: '2026-01-02T03:05:05Z', deletionGracePeriodSeconds: 30 };
  world.changePod('stuck', (pod) => ({ ...pod, metadata: { ...pod.metadata, ...terminating } }));
}

for (const [count, namespace] of [
  [500, 'default'],
  [500, 'batch'],
  [11, 'batch'],
] as const) {
  test(`pod gc: ${count} completed pods whose deletion hangs do not hold up a stuck pod in ${namespace}`, async () => {
    const end = new AbortController();
    const world = aWorldWithGc();
    addCompleted(world, count);
    hang(world, 'batch', end.signal);
    await using _ = await world.running(30);
    const from = world.seconds();
    addStuck(world, namespace);
    await world.advance(120);
    end.abort();
    assert.ok((world.evictedAtSeconds('stuck') ?? Infinity) - from < 90, `after ${world.evictedAtSeconds('stuck')} s`);
  });
}

for (const [count, node] of [
  [40, 'gone-b'],
  [700, 'gone-a'],
] as const) {
  test(`pod gc: ${count} orphans that hang do not hold up one of their namespace on ${node}`, async () => {
    const end = new AbortController();
    const world = aWorldWithGc();
    for (let each = 0; each < count; each += 1) world.addPod(`bad-${each}`, 'gone-a', [], inBatch);
    world.addPod('fine', node, [], inBatch);
    const requests = hang(world, 'bad', end.signal);
    await using _ = await world.running(30);
    await world.advance(1_200);
    end.abort();
    assert.deepEqual([...new Set(world.evicted())], ['fine']);
    assert.ok(requests() >= count, `${requests()} requests`);
  });
}

test('pod gc: a webhook that hangs for all namespaces holds up no other step for long', async () => {
  const end = new AbortController();
  const world = aWorldWithGc();
  for (let each = 0; each < 300; each += 1) {
    const name = `batch-${each}`;
    world.addPod(name, 'b', [], { namespace: `ns-${each % 60}` });
    world.changePod(name, (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  }
  hang(world, 'batch', end.signal);
  await using _ = await world.running(30);
  const from = world.seconds();
  world.addPod('orphan', 'gone');
  await world.advance(200);
  end.abort();
  assert.ok((world.evictedAtSeconds('orphan') ?? Infinity) - from < 180, `after ${world.evictedAtSeconds('orphan')} s`);
});
