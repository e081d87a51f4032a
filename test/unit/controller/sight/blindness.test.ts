import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDecision } from '../../../../src/controller/describe-decision.ts';
import { ControllerWorld } from '../../../support/controller-world.ts';

const nodes = ['a-0', 'a-1', 'a-2', 'b-0', 'b-1', 'b-2'];

function aWorld(): ControllerWorld {
  const world = new ControllerWorld();
  for (const name of nodes) world.addNode(name, { zone: name.slice(0, 1) });
  world.addPod('impatient', 'a-0', []);
  world.renewing(...nodes);
  return world;
}

/** Nothing comes from the API server any more and it answers nothing; nobody can renew either. */
function freezeApiServer(world: ControllerWorld): void {
  const frozenAtMs = world.clock.monotonicMs();
  world.leases.lastFrameAtMs = () => frozenAtMs;
  world.answering = false;
  world.goDark(...nodes);
}

function thawApiServer(world: ControllerWorld): void {
  world.leases.lastFrameAtMs = () => world.clock.monotonicMs();
  world.answering = true;
}

for (const seconds of [20, 120, 7_200]) {
  test(`an API server that is gone for ${seconds} s: no verdict, no taint, no eviction, during it or after`, async () => {
    const world = aWorld();
    world.start();
    await world.advance(30);
    freezeApiServer(world);
    await world.advance(seconds);
    thawApiServer(world);
    await world.advance(9);
    world.renewing(...nodes);
    await world.advance(300);
    assert.deepEqual(world.writes, []);
    assert.equal(world.kinds().filter((kind) => kind === 'sight-lost').length >= 1, true);
    assert.equal(world.kinds().filter((kind) => kind === 'sight-regained').length, 1);
    const reasons = world.nodeEvents.drafts.map(({ reason }) => reason);
    assert.equal(reasons.filter((reason) => reason === 'NodeVerdictsFrozen').length, 1);
    assert.equal(reasons.filter((reason) => reason === 'NodeVerdictsResumed').length, 1);
    assert.ok((world.meter.series.get('node_lifecycle_blind_seconds_total') ?? 0) >= seconds - 6);
    await world.stop();
  });
}

test('a node that really fell silent while we were blind is noticed one grace period of sight later', async () => {
  const world = aWorld();
  world.start();
  await world.advance(30);
  freezeApiServer(world);
  await world.advance(120);
  thawApiServer(world);
  world.renewing(...nodes.filter((name) => name !== 'a-0'));
  await world.advance(62);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.evicted(), ['impatient']);
  assert.deepEqual(
    nodes.filter((name) => world.ready(name) !== 'True'),
    ['a-0'],
  );
  await world.stop();
});

test('a lease stream that is dead without a word: the API server itself is asked, and nobody is called silent', async () => {
  const world = aWorld();
  world.start();
  await world.advance(30);
  world.frozen = true; // nodes renew, our stream shows nothing of it; everything else answers
  const frozenAtMs = world.clock.monotonicMs();
  world.leases.lastFrameAtMs = () => frozenAtMs;
  await world.advance(600);
  assert.deepEqual(world.writes, []);
  assert.ok(
    world.decisions.some(({ decision }) => decision.kind === 'verdict-held' && decision.why === 'lease-renewed'),
  );
  assert.ok(world.leases.reopened > 0 && world.nodes.reopened > 0, 'and the streams are opened anew');
  world.goDark('a-0');
  await world.advance(120);
  assert.equal(world.ready('a-0'), 'Unknown', 'who stops renewing is noticed all the same');
  assert.deepEqual(
    nodes.filter((name) => world.ready(name) !== 'True'),
    ['a-0'],
  );
  await world.stop();
});

test('while streams are opened anew nothing is held against anybody', async () => {
  const world = aWorld();
  world.start();
  await world.advance(30);
  world.leases.state = 'listing';
  const since = world.clock.monotonicMs();
  world.leases.lastFrameAtMs = () => since;
  world.frozen = true;
  await world.advance(300);
  assert.deepEqual(world.writes, []);
  const lost = world.decisions.find(({ decision }) => decision.kind === 'sight-lost')?.decision;
  assert.ok(lost?.kind === 'sight-lost' && lost.why === 'streams-not-open');
  await world.stop();
});

test('an API server that answers nothing when it is asked for one lease: the verdict waits for its answer', async () => {
  const world = aWorld();
  world.start();
  world.goDark('a-0');
  await world.advance(45);
  world.answering = false; // the lease stream of the others goes on, so contact is not lost
  await world.advance(60);
  assert.equal(world.ready('a-0'), 'True');
  assert.ok(
    world.decisions.some(({ decision }) => decision.kind === 'verdict-held' && decision.why === 'api-not-answering'),
  );
  world.answering = true;
  await world.advance(6);
  assert.equal(world.ready('a-0'), 'Unknown');
  await world.stop();
});

test('while we do not see, nobody in line gets a NoExecute taint and nobody whose time has come is evicted', async () => {
  const world = aWorld();
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  world.start();
  world.goDark('a-0');
  await world.advance(51);
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.deepEqual(world.evicted(), ['impatient']);
  world.goDark('a-1');
  await world.advance(4);
  world.leases.state = 'listing'; // the API server answers everything else
  const since = world.clock.monotonicMs();
  world.leases.lastFrameAtMs = () => since;
  world.setTaints('a-1', []);
  world.post('a-1', 'Unknown');
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['impatient']);
  assert.deepEqual(world.taints('a-1'), ['unreachable:NoSchedule']);
  const held = world.decisions.filter(({ decision }) => decision.kind === 'eviction-held');
  assert.deepEqual(
    held.map(({ decision }) => decision.kind === 'eviction-held' && decision.why),
    ['blind'],
    'and it is said once',
  );
  world.leases.state = 'watching';
  world.leases.lastFrameAtMs = () => world.clock.monotonicMs();
  await world.advance(14);
  assert.deepEqual(world.evicted(), ['impatient', 'patient']);
  assert.deepEqual(world.taints('a-1'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  await world.stop();
});

test('a missing permission to read leases is called by its name, and the verdict waits until it is given', async () => {
  const world = aWorld();
  world.permitted = false;
  world.start();
  world.goDark('a-0');
  await world.advance(90);
  assert.equal(world.ready('a-0'), 'True');
  const held = world.decisions.find(({ decision }) => decision.kind === 'verdict-held')?.decision;
  assert.ok(held?.kind === 'verdict-held' && held.why === 'not-permitted');
  assert.match(describeDecision(held), /permit get and list of leases in kube-node-lease/);
  world.permitted = true;
  await world.advance(6);
  assert.equal(world.ready('a-0'), 'Unknown');
  await world.stop();
});

test('who takes over with full caches and dead streams acts on nothing before the API server has answered', async () => {
  const world = aWorld();
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  world.start();
  world.goDark('a-0');
  await world.advance(68);
  freezeApiServer(world);
  await world.advance(8);
  await world.restart();
  await world.advance(30);
  assert.deepEqual(world.evicted(), ['impatient'], 'its time has come, and nobody knows whether its node is back');
  thawApiServer(world);
  await world.advance(14);
  assert.deepEqual(world.evicted(), ['impatient', 'patient']);
  await world.stop();
});

test('two hours of everything: no API server, a half-open stream, a stalled process, clocks that jump: not one false verdict', async () => {
  const world = aWorld();
  world.addPod('patient', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }]);
  world.start();
  await world.advance(60);
  const hour = 3_600_000;
  const trouble: readonly (() => Promise<void>)[] = [
    async () => {
      freezeApiServer(world);
      await world.advance(500);
      thawApiServer(world);
      world.renewing(...nodes);
    },
    async () => {
      world.frozen = true;
      const frozenAtMs = world.clock.monotonicMs();
      world.leases.lastFrameAtMs = () => frozenAtMs;
      await world.advance(500);
      world.frozen = false;
      thawApiServer(world);
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
      thawApiServer(world);
      world.renewing(...nodes);
      world.clock.jumpWall(-hour);
    },
  ];
  for (let round = 0; world.seconds() < 7_200; round += 1) {
    await trouble[round % trouble.length]?.();
    await world.advance(7 + (round % 5) * 11);
  }
  assert.deepEqual(world.writes, []);
  const verdicts = world.kinds().filter((kind) => kind === 'node-silent' || kind === 'eviction-scheduled');
  assert.deepEqual(verdicts, []);
  world.goDark('a-0');
  await world.advance(90);
  assert.equal(world.ready('a-0'), 'Unknown', 'and who really falls silent afterwards is noticed');
  assert.deepEqual(world.evicted(), ['impatient', 'patient']);
  await world.stop();
});
