// Rare faults in which a node was marked silent wrongly, was never detected as silent, or in which a pod was never
// deleted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aWorldOf, aZonedWorld } from '../../support/zoned-world.ts';

const nodes = ['a-0', 'a-1', 'a-2', 'b-0', 'b-1', 'b-2'];

function aWorld(): ControllerWorld {
  return aZonedWorld({ a: 3, b: 3 });
}

/** The watch of nodes is refused; lists are answered, each after a moment, while `listsAnswer()`. */
function refuseNodeWatch(world: ControllerWorld, listsAnswer: () => boolean): void {
  world.nodes.state = 'backing-off';
  for (const informer of [world.nodes, world.leases]) {
    informer.onRelist = () => {
      if (!listsAnswer()) return;
      void world.clock.sleep(500, new AbortController().signal).then(() => {
        world.syncCaches();
        informer.lastListAtMs = world.clock.monotonicMs();
      });
    };
  }
}

test('an API server that is unreachable while lists replace a stale watch: no node becomes Unknown because of it', async () => {
  await using world = await aWorld().running(30);
  let up = true;
  refuseNodeWatch(world, () => up);
  await world.advance(180);
  assert.equal(world.meter.read().get('node_lifecycle_stand_in_lists'), 1);
  // For 80 s the API server is unreachable, and no node can renew its lease.
  up = false;
  world.answering = false;
  world.loseFrames();
  await world.silentFor(80, ...nodes);
  up = true;
  world.answering = true;
  await world.advance(11);
  world.renewing(...nodes);
  await world.advance(200);
  assert.deepEqual(world.writes, []);
});

test('the watch of nodes is rejected after each list, leases are watched: a silent node is detected', async () => {
  await using world = await aWorld().running(30);
  world.nodes.state = 'backing-off';
  // As the real informer, which does not list again within 10 s.
  const listedLately = (atMs: number): boolean => world.clock.monotonicMs() - atMs < 10_000;
  world.leases.onRelist = () => {
    if (!listedLately(world.leases.lastListAtMs)) world.leases.lastListAtMs = world.clock.monotonicMs() + 100;
  };
  world.nodes.onRelist = () => {
    if (listedLately(world.nodes.lastListAtMs)) return;
    void world.clock.sleep(500, new AbortController().signal).then(() => {
      world.nodes.lastListAtMs = world.clock.monotonicMs();
      world.nodes.state = 'watching'; // until the API server has refused it
      world.renewOnce('b-2');
      world.nodes.state = 'backing-off';
    });
  };
  await world.silentFor(600, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('lists that replace a stale watch and take longer than the grace period: no healthy node becomes Unknown', async () => {
  await using world = await aWorld().running(30);
  world.frozen = true;
  world.leases.state = 'listing';
  world.leases.lastFrameAtMs = () => 1_000;
  let busy = false;
  for (const informer of [world.nodes, world.leases]) {
    informer.onRelist = () => {
      if (busy) return;
      busy = true;
      void world.clock.sleep(65_000, new AbortController().signal).then(() => {
        world.syncCaches();
        busy = false;
        for (const i of [world.nodes, world.leases]) i.lastListAtMs = world.clock.monotonicMs();
      });
    };
  }
  await world.advance(900);
  assert.deepEqual(world.writes, []);
});

test('slow lists end when the watches are fresh again', async () => {
  await using world = await aWorld().running(30);
  const stream = { watching: false };
  const informers = [world.nodes, world.leases];
  for (const informer of informers) informer.state = 'backing-off';
  for (const informer of informers) {
    informer.onRelist = () => {
      // As the real informer: one list at a time, none within 10 s of the last one, and a list closes its watch.
      if (informer.state === 'listing' || world.clock.monotonicMs() - informer.lastListAtMs < 10_000) return;
      informer.state = 'listing';
      void world.clock.sleep(7_000, new AbortController().signal).then(() => {
        informer.lastListAtMs = world.clock.monotonicMs();
        informer.state = stream.watching ? 'watching' : 'backing-off';
      });
    };
  }
  await world.advance(120);
  assert.equal(world.meter.read().get('node_lifecycle_stand_in_lists'), 1);
  stream.watching = true;
  await world.advance(300);
  assert.equal(world.meter.read().get('node_lifecycle_stand_in_lists'), 0);
});

test('a node that is deleted while the response to a write is pending is not restored by that response', async () => {
  await using world = await aWorld().running(20);
  world.goSilent('a-0');
  let deleted = false;
  world.afterWrite = async ({ subresource }) => {
    if (subresource === 'status' && !deleted) world.removeNode('a-0');
    deleted = true;
  };
  await world.advance(70);
  assert.equal(deleted, true);
  assert.equal(world.lifecycle.stages.nodes.get('a-0'), undefined);
  assert.equal(world.lifecycle.stages.zones.zoneOfMember('a-0'), undefined);
});

test('a pod whose accepted deletion was undone, as by a restore of etcd, is deleted again', async () => {
  await using world = aWorld();
  world.addPod('web', 'a-0');
  await world.running(10);
  await world.silentFor(120, 'a-0');
  assert.deepEqual(world.evicted(), ['web']);
  world.changePod('web', (pod) => {
    const { deletionTimestamp: _, ...metadata } = pod.metadata;
    return { ...pod, metadata };
  });
  await world.advance(480);
  assert.deepEqual(world.evicted(), ['web', 'web']);
});

test('Retry-After of 30 s is kept for the write of Unknown, whatever else queues the node meanwhile', async () => {
  await using world = await aWorldOf(4).running(10);
  world.goSilent('n0');
  const at: number[] = [];
  world.beforeWrite = ({ name, subresource }) => {
    if (name !== 'n0' || subresource !== 'status') return Promise.resolve();
    at.push(world.seconds());
    const error = { reason: 'too-many-requests', message: 'busy', code: 429, retryAfterMs: 30_000 } as const;
    return Promise.reject(new ApiError(error));
  };
  await world.advance(200);
  const gaps = at.slice(1).map((seconds, index) => seconds - (at[index] ?? 0));
  assert.ok(at.length > 2 && Math.min(...gaps) >= 29.9, gaps.join(', '));
});

function framesComeWithRenewals(world: ControllerWorld): void {
  let lastFrameAtMs = world.clock.monotonicMs();
  world.leases.lastFrameAtMs = () => lastFrameAtMs;
  world.leases.onChange('frames', () => {
    lastFrameAtMs = world.clock.monotonicMs();
  });
}

test('two nodes, every probe is rejected while watches and writes work: a silent node is detected within five minutes', async () => {
  await using world = await aWorldOf(2).running(30);
  framesComeWithRenewals(world);
  world.answering = false;
  await world.silentFor(300, 'n0');
  assert.equal(world.ready('n0'), 'Unknown');
  assert.equal(world.ready('n1'), 'True');
});

for (const closedSeconds of [6, 20]) {
  test(`two nodes, every probe is rejected and the watch closes for ${closedSeconds} s every minute: a silent node is detected`, async () => {
    await using world = await aWorldOf(2).running(30);
    framesComeWithRenewals(world);
    world.answering = false;
    world.goSilent('n0');
    for (let minute = 0; minute < 5; minute += 1) {
      world.leases.state = 'backing-off';
      world.frozen = true;
      await world.advance(closedSeconds);
      world.leases.state = 'watching';
      world.frozen = false;
      world.syncCaches();
      await world.advance(60 - closedSeconds);
    }
    assert.equal(world.ready('n0'), 'Unknown');
    assert.equal(world.ready('n1'), 'True');
  });
}

for (const [what, silent] of [
  ['every probe is rejected: no healthy node becomes Unknown', []],
  ['no watch event and no response at all: no node becomes Unknown', ['n0', 'n1']],
] as const)
  test(`two nodes, ${what}`, async () => {
    await using world = await aWorldOf(2).running(30);
    framesComeWithRenewals(world);
    world.answering = false;
    await world.silentFor(1_200, ...silent);
    assert.deepEqual(world.writes, []);
  });

test('two nodes and no contact for 70 s: no pod is deleted before recovered nodes have been observed', async () => {
  await using world = await aWorldOf(2).running(30);
  framesComeWithRenewals(world);
  await world.advance(60);
  world.answering = false;
  await world.silentFor(70, 'n0', 'n1');
  world.renewOnce('n1');
  await world.advance(2);
  assert.equal(world.kinds().includes('frames-stand-in'), false);
  assert.deepEqual(world.writes, []);
});

for (const staleWatchHoldMs of [0, 6_000, 60_000]) {
  test(`the API server freezes with open watches, hold ${staleWatchHoldMs} ms: evaluation stays paused`, async () => {
    await using world = await aWorldOf(2, 0, { staleWatchHoldMs }).running(120);
    world.loseContact();
    world.frozen = true;
    for (let second = 0; second < 200; second += 1) {
      await world.advance(1);
      if (second > 20) assert.notEqual(world.lifecycle.stages.freshness.staleness(), undefined, `after ${second} s`);
    }
  });
}
