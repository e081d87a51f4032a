// The cache of pods is behind: what a pod tolerates now decides, not what it tolerated when the watch brought it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainPod } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const sizes = { a: 6, b: 6 };
const holdSeconds = 60;

/** The user lengthens it on a running pod. */
function tolerateForEver(world: ControllerWorld, pod: string): void {
  world.changePod(pod, (stored) => ({
    ...stored,
    spec: { ...stored.spec, tolerations: [{ operator: 'Exists', effect: 'NoExecute' }] },
  }));
}

/** How each pod left: `evict web`. */
function removals(world: ControllerWorld): readonly string[] {
  return world.writes.flatMap(({ verb, name }) => (verb === 'patch' ? [] : [`${verb} ${name}`]));
}

test('a pod that gained a toleration is not evicted, although the watch of pods is dead', async () => {
  const policies = [aPolicy({ evictReachable: { timeoutMs: 600_000 } })];
  await using world = aZonedWorld(sizes, { policies }).start();
  world.addPod('web', 'a-0');
  world.addPod('other', 'a-0');
  await world.advance(5);
  world.podsFrozen = true;
  tolerateForEver(world, 'web');
  world.post('a-0', 'False');
  await world.advance(300);
  assert.ok(world.taints('a-0').includes('not-ready:NoExecute'));
  assert.deepEqual(removals(world), ['evict other']);
});

test('a pod that gained a toleration is not deleted, although an earlier attempt marked it', async () => {
  await using world = aZonedWorld(sizes).start();
  world.addPod('web', 'a-0');
  world.addPod('other', 'a-0');
  const mark = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' };
  for (const name of ['web', 'other']) {
    const at = formatTime(world.clock.nowMs());
    world.changePod(name, (pod) => ({
      ...pod,
      status: { ...pod.status, conditions: [{ ...mark, message: '', lastTransitionTime: at }] },
    }));
  }
  world.podsFrozen = true;
  tolerateForEver(world, 'web');
  await world.silentFor(300, 'a-0');
  assert.deepEqual(removals(world), ['delete other']);
});

test('no pod is deleted while the watch of pods is not open, for a bounded time, by whichever taint', async () => {
  await using world = aZonedWorld(sizes, { staleWatchHoldMs: holdSeconds * 1_000 }).start();
  world.addPod('silent', 'a-0');
  world.addPod('drained', 'b-0');
  await world.silentFor(40, 'a-0');
  world.pods.state = 'backing-off';
  world.setTaints('b-0', [{ key: 'example.com/drain', effect: 'NoExecute' }]);
  const sinceSeconds = world.seconds();
  await world.advance(holdSeconds - 5);
  assert.ok(world.taints('a-0').includes('unreachable:NoExecute'), 'taints do not depend on pods');
  assert.deepEqual(removals(world), []);
  const [hold] = explainPod(world, 'drained').holds.filter(({ kind }) => kind === 'stale-pods');
  assert.deepEqual(hold?.unblockedBy, [{ kind: 'pods-watched' }]);
  assert.deepEqual(
    world.decided('eviction-held').map((decision) => ('why' in decision ? decision.why : undefined)),
    ['stale-pods', 'stale-pods'],
    'once for each pod',
  );
  await world.advance(30);
  assert.deepEqual([...removals(world)].sort(), ['delete drained', 'delete silent']);
  for (const pod of ['silent', 'drained'])
    assert.ok((world.evictedAtSeconds(pod) ?? 0) - sinceSeconds >= holdSeconds - 1, pod);
});

test('pods that no watch shows are listed once it has not been open for the hold, and then leave', async () => {
  await using world = aZonedWorld(sizes, { staleWatchHoldMs: holdSeconds * 1_000 }).start();
  const { pods } = world;
  world.podsFrozen = true;
  for (const state of ['opening', 'backing-off'] as const) {
    pods.state = state;
    const [name, sinceSeconds] = [`web-${state}`, world.seconds()];
    world.addPod(name, 'a-0');
    pods.onRelist = () => {
      world.podsFrozen = false;
      if (world.evictedAtSeconds(name) === undefined) world.changePod(name, (pod) => pod);
      world.podsFrozen = true;
    };
    world.setTaints('a-0', [{ key: 'example.com/drain', effect: 'NoExecute' }]);
    await world.advance(holdSeconds - 10);
    assert.equal(pods.relisted, 0);
    await world.advance(80);
    assert.ok((world.evictedAtSeconds(name) ?? Infinity) - sinceSeconds <= holdSeconds + 65, name);
    await world.advance(300);
    assert.ok(pods.relisted >= 5 && pods.relisted <= 7, `${pods.relisted} lists in 370 s`);
    pods.state = 'watching';
    await world.advance(500);
    pods.relisted = 0;
  }
});

test('pods leave as soon as their watch is open again', async () => {
  await using world = aZonedWorld(sizes).start();
  world.addPod('web', 'a-0');
  world.pods.state = 'listing';
  world.setTaints('a-0', [{ key: 'example.com/drain', effect: 'NoExecute' }]);
  await world.advance(20);
  assert.deepEqual(removals(world), []);
  world.pods.state = 'watching';
  await world.advance(3);
  assert.deepEqual(removals(world), ['delete web']);
});

test('in eviction mode no pod is deleted while their watch is not open', async () => {
  await using world = aZonedWorld(sizes, { taintBasedEvictions: false, podEvictionTimeoutMs: 10_000 }).start();
  world.addPod('web', 'a-0');
  world.goSilent('a-0');
  await world.advance(45);
  world.pods.state = 'backing-off';
  await world.advance(50);
  assert.deepEqual(removals(world), []);
  await world.advance(60);
  assert.deepEqual(removals(world), ['delete web']);
});
