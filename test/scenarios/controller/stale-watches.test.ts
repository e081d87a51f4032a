import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDecision } from '../../../src/controller/decision-log/describe-decision.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const nodes = ['a-0', 'a-1', 'a-2', 'b-0', 'b-1', 'b-2'];

function aWorld(options: Partial<ControllerOptions> = {}): ControllerWorld {
  const world = aZonedWorld({ a: 3, b: 3 }, options);
  world.addPod('impatient', 'a-0', []);
  return world;
}

/** No watch event and no response from the API server; nodes cannot renew either. */
function freezeApiServer(world: ControllerWorld): void {
  world.loseContact();
  world.goSilent(...nodes);
}

for (const seconds of [20, 120, 7_200]) {
  test(`an API server that is unreachable for ${seconds} s: no node becomes Unknown, no taint, no eviction, during it or after`, async () => {
    await using world = await aWorld().running(30);
    freezeApiServer(world);
    await world.advance(seconds);
    world.restoreContact();
    await world.advance(9);
    world.renewing(...nodes);
    await world.advance(300);
    assert.deepEqual(world.writes, []);
    assert.equal(world.decided('evaluation-paused').length >= 1, true);
    assert.equal(world.decided('evaluation-resumed').length, 1);
    assert.equal(world.nodeEventsOf('NodeHealthEvaluationPaused').length, 1);
    assert.equal(world.nodeEventsOf('NodeHealthEvaluationResumed').length, 1);
    assert.ok((world.meter.series.get('node_lifecycle_stale_seconds_total') ?? 0) >= seconds - 6);
  });
}

test('a node that becomes silent while watches are stale is detected after one grace period of fresh time', async () => {
  await using world = await aWorld().running(30);
  freezeApiServer(world);
  await world.advance(120);
  world.restoreContact();
  world.renewing(...nodes.filter((name) => name !== 'a-0'));
  await world.advance(62);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.evicted(), ['impatient']);
  assert.deepEqual(world.notReady(), ['a-0']);
});

test('a lease watch that is dead without an error: leases are read live, and no node becomes Unknown', async () => {
  await using world = await aWorld().running(30);
  world.frozen = true; // nodes renew, the watch delivers no event of it; everything else answers
  world.loseFrames();
  await world.advance(600);
  assert.deepEqual(world.writes, []);
  assert.ok(world.decided('confirmation-held').some(({ why }) => why === 'lease-renewed'));
  assert.ok(world.leases.reopened > 0 && world.nodes.reopened > 0, 'and the watches are reopened');
  await world.silentFor(120, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown', 'a node that stops renewing is detected all the same');
  assert.deepEqual(world.notReady(), ['a-0']);
});

test('a node that recovered while its watch was dead keeps its pods, also when the watch of leases dies before they are due', async () => {
  await using world = aZonedWorld({ a: 3, b: 3 });
  const toleration = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 300 };
  world.addPod('patient', 'a-0', [toleration]);
  await world.running(30);
  await world.silentFor(60, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  world.nodesFrozen = true; // the node posts Ready, and no event of it comes
  world.recover('a-0');
  await world.advance(150);
  world.frozen = true;
  world.loseFrames();
  await world.advance(300);
  assert.deepEqual(world.evicted(), []);
  world.frozen = false;
  world.nodesFrozen = false;
  world.syncCaches();
  await world.silentFor(420, 'a-0');
  assert.deepEqual(world.evicted(), ['patient'], 'what is dead is evicted');
});

test('while watches are reopened the time does not count against any node', async () => {
  await using world = await aWorld().running(30);
  world.leases.state = 'listing';
  world.loseFrames();
  world.frozen = true;
  await world.advance(300);
  assert.deepEqual(world.writes, []);
  assert.equal(world.decided('evaluation-paused')[0]?.why, 'streams-not-open');
});

test('an API server that does not answer the read of a lease: the node is held until it does', async () => {
  await using world = aWorld().start();
  await world.silentFor(45, 'a-0');
  world.answering = false; // the lease stream of the others goes on, so contact is not lost
  await world.advance(60);
  assert.equal(world.ready('a-0'), 'True');
  assert.ok(world.decided('confirmation-held').some(({ why }) => why === 'api-not-answering'));
  world.answering = true;
  await world.advance(6);
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('while watches are stale no queued node gets a NoExecute taint and no due pod is evicted', async () => {
  await using world = aWorld();
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  await world.start().silentFor(51, 'a-0');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), ['impatient']);
  await world.silentFor(4, 'a-1');
  world.leases.state = 'listing'; // the API server answers everything else
  world.loseFrames();
  world.setTaints('a-1', []);
  world.post('a-1', 'Unknown');
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['impatient']);
  assert.deepEqual(world.taints('a-1'), ['unreachable:NoSchedule']);
  const held = world.decided('eviction-held').map(({ why }) => why);
  assert.deepEqual(held, ['stale'], 'and it is said once');
  world.leases.state = 'watching';
  world.restoreContact();
  await world.advance(14);
  assert.deepEqual(world.evicted(), ['impatient', 'patient']);
  // a-2 has to renew late enough on the health clock: until then it may have failed with a-1.
  await world.advance(16);
  assert.deepEqual(world.taints('a-1'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('a missing permission to read leases is named, and the node is held until it is granted', async () => {
  await using world = aWorld();
  world.permitted = false;
  await world.start().silentFor(90, 'a-0');
  assert.equal(world.ready('a-0'), 'True');
  const [held] = world.decided('confirmation-held');
  assert.ok(held?.why === 'not-permitted');
  assert.match(describeDecision(held), /grant get and list of leases in kube-node-lease/);
  world.permitted = true;
  await world.advance(6);
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('a read that was forbidden an hour ago does not shorten the hold of the next silent node', async () => {
  await using world = aWorld();
  await world.start().silentFor(45, 'a-0');
  world.permitted = false;
  await world.advance(7);
  assert.equal(world.decided('confirmation-held').length, 1);
  world.renewing('a-0');
  await world.advance(3_600);
  await world.silentFor(100, 'a-1');
  assert.equal(world.ready('a-1'), 'True', 'held for 60 s after its grace period');
  await world.advance(20);
  assert.equal(world.ready('a-1'), 'Unknown');
});

test('a new leader with full caches and dead watches writes nothing before the API server has answered', async () => {
  await using world = aWorld();
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  await world.start().silentFor(68, 'a-0');
  freezeApiServer(world);
  await world.advance(8);
  await world.restart();
  await world.advance(30);
  const actual = world.evicted();
  assert.deepEqual(actual, ['impatient'], 'its countdown has ended, and whether its node recovered is unknown');
  world.restoreContact();
  await world.advance(14);
  assert.deepEqual(world.evicted(), ['impatient', 'patient']);
});

test('two hours of faults: no API server, a half-open watch, a stalled process, clocks that jump: no healthy node becomes Unknown', async () => {
  await using world = aWorld();
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  await world.running(60);
  const hour = 3_600_000;
  const trouble: readonly (() => Promise<void>)[] = [
    async () => {
      freezeApiServer(world);
      await world.advance(500);
      world.restoreContact();
      world.renewing(...nodes);
    },
    async () => {
      world.frozen = true;
      world.loseFrames();
      await world.advance(500);
      world.frozen = false;
      world.restoreContact();
      world.renewing(...nodes);
    },
    async () => {
      world.clock.stall(30_000);
      world.renewing(...nodes);
      await world.advance(1);
    },
    async () => {
      world.clock.jumpWall(hour);
      await world.advance(100);
      world.clock.jumpWall(-2 * hour);
      await world.advance(100);
      world.clock.jumpWall(hour);
    },
    async () => {
      freezeApiServer(world);
      world.clock.jumpWall(-hour);
      await world.advance(70);
      world.clock.stall(30_000);
      world.clock.jumpWall(2 * hour);
      await world.advance(70);
      world.restoreContact();
      world.renewing(...nodes);
      world.clock.jumpWall(-hour);
    },
  ];
  for (let round = 0; world.seconds() < 7_200; round += 1) {
    await trouble[round % trouble.length]?.();
    await world.advance(7 + (round % 5) * 11);
  }
  assert.deepEqual(world.writes, []);
  const wrong = world.kinds().filter((kind) => kind === 'node-silent' || kind === 'eviction-scheduled');
  assert.deepEqual(wrong, []);
  await world.silentFor(90, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown', 'and a node that becomes silent afterwards is detected');
  assert.deepEqual(world.evicted(), ['impatient', 'patient']);
});

/**
 * The watch of leases cannot be opened any more, while lists are answered: after a moment each. An informer does not
 * list again within 10 s.
 */
function breakLeaseWatch(world: ControllerWorld, listsAnswer: boolean, listEveryMs = 0): void {
  world.leases.state = 'backing-off';
  world.loseFrames();
  world.frozen = true;
  for (const informer of [world.leases, world.nodes]) {
    informer.onRelist = () => {
      if (!listsAnswer || world.clock.monotonicMs() - informer.lastListAtMs < listEveryMs) return;
      void world.clock.sleep(100, new AbortController().signal).then(() => {
        world.syncCaches();
        informer.lastListAtMs = world.clock.monotonicMs();
      });
    };
  }
}

test('a watch that stays broken while lists work: lists replace it, and a silent node is detected', async () => {
  await using world = await aWorld().running(30);
  breakLeaseWatch(world, true);
  await world.advance(50);
  await world.silentFor(150, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.notReady(), ['a-0']);
  assert.equal(world.meter.read().get('node_lifecycle_stand_in_lists'), 1);
  const standIns = world.decided('lists-stand-in').map(describeDecision);
  assert.equal(standIns.length, 1);
  assert.match(standIns[0] ?? '', /^watches stale for .*; nodes and leases are listed instead$/);
  world.frozen = false;
  world.syncCaches();
  world.leases.state = 'watching';
  world.restoreContact();
  await world.advance(80);
  assert.equal(world.meter.read().get('node_lifecycle_stand_in_lists'), 0);
});

test('lists replace a watch: a renewal that the next list shows is not counted from the list before', async () => {
  await using world = await aWorld().running(30);
  breakLeaseWatch(world, true, 10_000);
  await world.advance(200);
  for (const name of nodes) {
    const listedAtMs = world.leases.lastListAtMs;
    while (world.leases.lastListAtMs === listedAtMs) await world.advance(0.25);
    await world.advance(10);
    world.goSilent(name);
    world.renewOnce(name);
    await world.advance(49.5);
    assert.equal(world.ready(name), 'True', name);
    await world.advance(25);
    assert.equal(world.ready(name), 'Unknown', name);
    world.recover(name);
  }
});

test('a watch that stays broken while lists fail: no node becomes Unknown on stale data', async () => {
  await using world = await aWorld().running(30);
  breakLeaseWatch(world, false);
  await world.silentFor(3_600, 'a-0');
  assert.deepEqual(world.writes, []);
});

test('without a limit for the hold nothing replaces a broken watch', async () => {
  await using world = await aWorld({ staleWatchHoldMs: Number.POSITIVE_INFINITY }).running(30);
  breakLeaseWatch(world, true);
  await world.silentFor(600, 'a-0');
  assert.equal(world.leases.relisted, 0);
  assert.equal(world.ready('a-0'), 'True');
});

for (const openSeconds of [5, 7, 8, 10, 13, 20]) {
  test(`a lease watch that closes for 8 s and opens for ${openSeconds} s in turn: a silent node is detected all the same`, async () => {
    await using world = await aWorld().running(30);
    world.goSilent('a-0');
    const since = world.seconds();
    while (world.seconds() - since < 180) {
      breakLeaseWatch(world, true);
      await world.advance(8);
      world.frozen = false;
      world.syncCaches();
      world.leases.state = 'watching';
      world.leases.lastFrameAtMs = () => world.clock.monotonicMs();
      await world.advance(openSeconds);
    }
    assert.equal(world.ready('a-0'), 'Unknown');
    assert.deepEqual(
      nodes.filter((name) => world.ready(name) !== 'True'),
      ['a-0'],
    );
    assert.ok(world.kinds().filter((kind) => kind === 'lists-stand-in').length <= 1);
    await world.advance(90);
    assert.equal(world.meter.read().get('node_lifecycle_stand_in_lists'), 0, 'the lists end once the watch stays open');
  });
}

for (const listsAnswer of [true, false]) {
  test(`lists replace a watch: a pod whose node recovered after the last list is not deleted, lists ${listsAnswer ? 'go on' : 'fail then'}`, async () => {
    await using world = aWorld();
    world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }]);
    await world.running(30);
    await world.silentFor(60, 'a-0');
    const tainted = world.seconds();
    assert.deepEqual(world.evicted(), ['impatient']);
    breakLeaseWatch(world, true);
    await world.advance(270);
    assert.equal(world.meter.read().get('node_lifecycle_stand_in_lists'), 1);
    if (!listsAnswer) for (const informer of [world.leases, world.nodes]) informer.onRelist = () => undefined;
    await world.advance(listsAnswer ? 19.8 : 1);
    world.recover('a-0');
    await world.advance(80);
    assert.ok(world.seconds() - tainted > 310);
    assert.deepEqual(world.evicted(), ['impatient']);
    const held = world.decisions.flatMap(({ decision }) =>
      decision.kind === 'eviction-held' && decision.pod === 'default/patient' ? [decision.why] : [],
    );
    assert.ok(!held.includes('late-cache'), 'what a list or a read shows is known, and is the reason from then on');
    assert.deepEqual(world.taints('a-0'), [], 'the recovery is complete, whichever shows it');
  });
}

test('lists replace a watch: a pod whose node stays silent is deleted after a live read of the node', async () => {
  await using world = aWorld();
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }]);
  await world.running(30);
  await world.silentFor(60, 'a-0');
  breakLeaseWatch(world, true);
  await world.advance(280);
  assert.deepEqual(world.evicted(), ['impatient']);
  await world.advance(15);
  assert.deepEqual(world.evicted(), ['impatient', 'patient']);
  const held = world.decisions.filter(
    ({ decision }) => decision.kind === 'eviction-held' && decision.why === 'late-cache',
  );
  assert.deepEqual(held, []);
});

for (const { title, isRemoved, isReadable, evicted } of [
  {
    title: 'was removed: the live read shows it, and no pod is deleted',
    isRemoved: true,
    isReadable: true,
    evicted: 0,
  },
  { title: 'stays: the live read confirms it, and the pod is deleted', isRemoved: false, isReadable: true, evicted: 1 },
  { title: 'is unknown while the node cannot be read', isRemoved: false, isReadable: false, evicted: 0 },
])
  test(`a node whose last state cannot be decoded: a taint of another client that ${title}`, async () => {
    await using world = aWorld();
    const taint = { key: 'example.com/maintenance', effect: 'NoExecute' };
    const forAMinute = [{ key: taint.key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }];
    world.addPod('patient', 'a-0', [{ operator: 'Exists', key: 'node.kubernetes.io/unreachable' }, ...forAMinute]);
    await world.running(30);
    world.setTaints('a-0', [taint]);
    await world.advance(5);
    assert.deepEqual(world.evicted(), ['impatient']);
    world.nodesFrozen = true;
    world.nodes.undecoded.add('a-0');
    if (isRemoved) world.setTaints('a-0', []);
    if (!isReadable) world.failNext('get', 'nodes', 'unavailable', 1_000);
    await world.advance(120);
    assert.deepEqual(world.evicted(), evicted === 0 ? ['impatient'] : ['impatient', 'patient']);
  });
