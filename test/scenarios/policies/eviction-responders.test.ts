// With --wait-for-eviction-responders a pod of a reachable node waits for the responder of its Eviction in place of its budget: until
// the responder ends, the node is unreachable, or the timeout is over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { Budget } from '../../support/budget.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { request } from '../../support/evictions.ts';
import { explainPod } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const timeoutSeconds = 120;
const policies = [aPolicy({ evictReachable: { timeoutMs: timeoutSeconds * 1_000 } })];

/** `web` runs on `a-0`, which is in the policy. */
async function aWorld(waitsForResponders = true): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 4, b: 4 }, { policies, nodeEvictionRate: 1 });
  world.addPod('web', 'a-0');
  world.waitsForResponders = waitsForResponders;
  await world.restart();
  await world.advance(1);
  return world;
}

/** How each pod left: `evict web`. */
function removals(world: ControllerWorld): readonly string[] {
  return world.writes.flatMap(({ verb, name }) => (verb === 'patch' ? [] : [`${verb} ${name}`]));
}

function dueAt(world: ControllerWorld): number {
  const write = world.writes.find(({ name, body }) => name === 'a-0' && JSON.stringify(body).includes('NoExecute'));
  return write?.atSeconds ?? NaN;
}

test('a pod waits while its responder sends heartbeats, and is evicted when they are too old', async () => {
  await using world = await aWorld();
  request(world, {});
  world.post('a-0', 'False');
  await world.advance(60);
  assert.deepEqual(removals(world), []);
  assert.equal(world.meter.read().get('node_lifecycle_waiting_pods{policy="zone-a",reason="responder"}'), 1);
  const text = describePodOutlook(explainPod(world, 'web'));
  assert.match(
    text,
    /held +waits for responder pg\.example\.com\/operator of Eviction default\/web-1, last heartbeat \d+s ago/,
  );
  assert.match(text, /would end: the responder completes or sends no more heartbeats, or it is deleted in about \d+s/);
  assert.match(
    text,
    /requested +Eviction default\/web-1, by drain\.example\.com\/nodes; active responder pg\.example\.com\/operator, last/,
  );
  request(world, { secondsAgo: timeoutSeconds });
  await world.advance(2);
  assert.deepEqual(removals(world), ['evict web']);
});

for (const [title, change] of [
  ['completes', (world: ControllerWorld) => void request(world, { completedAtMs: world.clock.nowMs() })],
  ['is interrupted', (world: ControllerWorld) => void request(world, { state: 'Interrupted' })],
  ['loses its Eviction', (world: ControllerWorld) => world.evictions.delete('default/web-1')],
] as const) {
  test(`a responder that ${title} is not waited for`, async () => {
    await using world = await aWorld();
    request(world, {});
    world.post('a-0', 'False');
    await world.advance(40);
    assert.deepEqual(removals(world), []);
    change(world);
    await world.advance(2);
    assert.deepEqual(removals(world), ['evict web']);
  });
}

test('the timeout goes on during the wait: then the pod is asked for once, and deleted', async () => {
  await using world = await aWorld();
  const budget = new Budget(world);
  world.post('a-0', 'False');
  for (let seconds = 0; seconds < timeoutSeconds + 10; seconds += 10) {
    request(world, {});
    await world.advance(10);
  }
  assert.equal(budget.asked.length, 1);
  assert.deepEqual(removals(world), ['delete web']);
  const lateBy = (world.evictedAtSeconds('web') ?? NaN) - dueAt(world) - timeoutSeconds;
  assert.ok(lateBy >= 0 && lateBy <= 2.2, `${lateBy} s`);
});

test('a restart during the wait does not make it longer', async () => {
  await using world = await aWorld();
  void new Budget(world);
  world.post('a-0', 'False');
  request(world, {});
  await world.advance(timeoutSeconds / 2);
  await world.restart();
  request(world, {});
  await world.advance(timeoutSeconds / 2 + 10);
  assert.deepEqual(removals(world), ['delete web']);
  const lateBy = (world.evictedAtSeconds('web') ?? NaN) - dueAt(world) - timeoutSeconds;
  assert.ok(lateBy >= 0 && lateBy <= 2.2, `${lateBy} s`);
});

test('a responder that becomes active ends the questions to the budget', async () => {
  await using world = await aWorld();
  const budget = new Budget(world);
  world.post('a-0', 'False');
  await world.advance(30);
  const asked = budget.asked.length;
  assert.ok(asked > 0);
  request(world, {});
  await world.advance(60);
  assert.equal(budget.asked.length, asked);
  assert.deepEqual(removals(world), []);
});

test('a request that hangs is given up for a responder that becomes active', async () => {
  await using world = await aWorld();
  const hanging = Promise.withResolvers<void>();
  world.beforeWrite = ({ verb }) => (verb === 'evict' ? hanging.promise : Promise.resolve());
  world.post('a-0', 'False');
  await world.advance(30);
  request(world, {});
  await world.advance(3);
  assert.equal(world.meter.read().get('node_lifecycle_waiting_pods{policy="zone-a",reason="responder"}'), 1);
  hanging.reject(new ApiError({ reason: 'unavailable', message: 'late' }));
});

test('a silent node: its pods are deleted at once, whatever their responders say', async () => {
  await using world = await aWorld();
  request(world, {});
  world.post('a-0', 'False');
  await world.advance(30);
  assert.deepEqual(removals(world), []);
  world.goSilent('a-0');
  for (let seconds = 0; seconds < 60; seconds += 10) {
    request(world, {});
    await world.advance(10);
  }
  assert.deepEqual(removals(world), ['delete web']);
});

for (const [title, fields] of [
  ['another pod of the name', { uid: 'uid-of-former' }],
  ['a pod of another namespace', { namespace: 'other' }],
  ['a pod whose responder is the one of the API', { responder: 'imperative-eviction.k8s.io/evictor' }],
] as const) {
  test(`an Eviction of ${title} holds nothing`, async () => {
    await using world = await aWorld();
    request(world, fields);
    world.post('a-0', 'False');
    await world.advance(40);
    assert.deepEqual(removals(world), ['evict web']);
  });
}

test('an API that is not served holds nothing, and explain says so', async () => {
  await using world = await aWorld();
  world.evictions.state = 'backing-off';
  world.post('a-0', 'False');
  await world.advance(40);
  assert.deepEqual(removals(world), ['evict web']);
  world.addPod('other', 'b-0');
  assert.match(describePodOutlook(explainPod(world, 'other')), /requested +not known: /);
});

test('many Evictions of one pod: three are shown', async () => {
  await using world = await aWorld();
  const view = request(world, {});
  for (let place = 0; place < 1_000; place++)
    world.evictions.set(`default/e-${place}`, { ...view, name: `e-${place}` });
  assert.equal(explainPod(world, 'web').requested?.evictions.length, 3);
});

test('without the flag an Eviction changes nothing, and explain does not mention it', async () => {
  await using world = await aWorld(false);
  request(world, {});
  world.post('a-0', 'False');
  await world.advance(10);
  assert.doesNotMatch(describePodOutlook(explainPod(world, 'web')), /requested|Eviction default/);
  await world.advance(30);
  assert.deepEqual(removals(world), ['evict web']);
  assert.equal('requested' in explainPod(world, 'web'), false);
});
