// What holds a due deletion, for how long, and what a live read of the node decides then.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NodeView, transformNode } from '../../../../src/machinery/api/node.ts';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import type { Toleration } from '../../../../src/machinery/api/tolerations.ts';
import type { EvictionHold } from '../../../../src/controller/model/decisions.ts';
import { decideHoldExpiry } from '../../../../src/controller/taint-eviction/decide-hold-expiry.ts';
import { extendHold, isAtMaximum, renewHold } from '../../../../src/controller/taint-eviction/extend-hold.ts';
import type { ControllerWorld } from '../../../support/controller-world.ts';
import { aWorldOf } from '../../../support/zoned-world.ts';
import { aNodeView } from '../../../support/builders.ts';

const unreachable = 'node.kubernetes.io/unreachable';
const tolerating = (seconds: number): readonly Toleration[] => [
  { key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds },
];

/**
 * Nine nodes in three zones; n0 becomes silent at once and is tainted after about 50 s. Its pod tolerates that for 60
 * s.
 */
async function aSilentNode(): Promise<ControllerWorld> {
  const world = aWorldOf(9, 3);
  world.addPod('p', 'n0', tolerating(60));
  await world.start().silentFor(70, 'n0');
  assert.deepEqual(world.taints('n0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  return world;
}

function expired(world: ControllerWorld, reason: string): number {
  return world.meter.series.get(`node_lifecycle_eviction_holds_expired_total{reason="${reason}"}`) ?? 0;
}

test('a pod is not deleted while only the node watch is stale and its node renews its lease', async () => {
  await using world = await aSilentNode();
  world.nodesFrozen = true;
  world.recover('n0');
  await world.advance(200);
  assert.deepEqual(world.evicted(), []);
  world.nodesFrozen = false;
  world.syncCaches();
  await world.advance(20);
  assert.deepEqual(world.taints('n0'), []);
  await world.advance(400);
  assert.deepEqual(world.evicted(), []);
  assert.equal(expired(world, 'lease-is-renewed'), 0);
});

test('a node that is Ready in the API keeps its pods while only the cache differs', async () => {
  await using world = await aSilentNode();
  world.nodesFrozen = true;
  world.recover('n0');
  await world.advance(1_000);
  assert.deepEqual(world.evicted(), []);
  assert.deepEqual(world.taints('n0'), [], 'what the first live read shows is known from then on');
  assert.equal(expired(world, 'lease-is-renewed'), 0, 'so that another reason holds the pod');
});

test('a node that renews its lease and never becomes Ready loses its pods after five minutes', async () => {
  await using world = await aSilentNode();
  world.renewing('n0');
  await world.advance(300);
  assert.deepEqual(world.evicted(), []);
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['p']);
  const heldFor = (world.evictedAtSeconds('p') ?? NaN) - 110;
  assert.ok(heldFor > 298 && heldFor < 304, `held for ${heldFor} s`);
  assert.equal(expired(world, 'lease-is-renewed'), 1);
  assert.deepEqual(world.decided('eviction-hold-expired'), [
    { kind: 'eviction-hold-expired', pod: 'default/p', node: 'n0', why: 'lease-is-renewed', next: 'evict' },
  ]);
});

test('a lease that is no longer renewed holds no deletion', async () => {
  await using world = await aSilentNode();
  world.renewing('n0');
  await world.advance(60);
  assert.deepEqual(world.evicted(), []);
  await world.silentFor(70, 'n0');
  assert.deepEqual(world.evicted(), ['p']);
  assert.equal(expired(world, 'lease-is-renewed'), 0);
});

test('a restart does not hold the pods of a silent node: its old lease is not a renewal', async () => {
  await using world = await aSilentNode();
  await world.advance(35);
  await world.restart();
  await world.advance(10);
  assert.deepEqual(world.evicted(), ['p']);
});

test('a taint that stays on a Ready node counts after five minutes, as in kube-controller-manager', async () => {
  await using world = await aSilentNode();
  world.failNext('patch', 'nodes', 'forbidden', 100_000);
  world.recover('n0');
  await world.advance(300);
  assert.deepEqual(world.evicted(), []);
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['p']);
  assert.equal(expired(world, 'node-is-ready'), 1);
});

test('a node that cannot be read is read again, and its pods wait', async () => {
  await using world = await aSilentNode();
  world.renewing('n0');
  world.failNext('get', 'nodes', 'unavailable', 3);
  await world.advance(355);
  assert.deepEqual(world.evicted(), []);
  await world.advance(30);
  assert.deepEqual(world.evicted(), ['p']);
  assert.equal(expired(world, 'lease-is-renewed'), 1);
});

test('where reading nodes is forbidden, the cached node decides after five minutes', async () => {
  await using world = await aSilentNode();
  world.renewing('n0');
  world.failNext('get', 'nodes', 'forbidden', 100_000);
  await world.advance(355);
  assert.deepEqual(world.evicted(), ['p']);
});

test('a pod held for the health of its node is deleted when the countdown of another taint ends', async () => {
  await using world = await aSilentNode();
  world.addPod('q', 'n0', [...tolerating(60), { key: 'maintenance', operator: 'Exists', tolerationSeconds: 100 }]);
  const { taints = [] } = world.node('n0').spec ?? {};
  world.setTaints('n0', [...(taints ?? []), { key: 'maintenance', effect: 'NoExecute' }]);
  world.renewing('n0');
  await world.advance(95);
  assert.deepEqual(world.evicted(), ['p'], 'it does not tolerate maintenance');
  await world.advance(10);
  assert.deepEqual(world.evicted(), ['p', 'q']);
});

test('an expired hold: decisions from the live node', () => {
  const taint = { key: unreachable, effect: 'NoExecute' };
  const node = (ready: string, taints = [taint]): NodeView =>
    aNodeView({ taints, conditions: [{ type: 'Ready', status: ready }] });
  const forHealth = (why: EvictionHold) => ({ why, kind: 'health' }) as const;
  const pod = { tolerations: tolerating(60), terminating: false };
  assert.equal(decideHoldExpiry(forHealth('lease-is-renewed'), pod, node('Unknown')), 'evict');
  assert.equal(decideHoldExpiry(forHealth('lease-is-renewed'), pod, node('True')), 'hold');
  assert.equal(decideHoldExpiry(forHealth('lease-is-renewed'), pod, node('Unknown', [])), 'hold');
  assert.equal(decideHoldExpiry(forHealth('lease-is-renewed'), pod, 'gone'), 'hold');
  assert.equal(decideHoldExpiry(forHealth('lease-is-renewed'), pod, 'unreadable'), 'read-again');
  assert.equal(decideHoldExpiry(forHealth('node-is-ready'), pod, node('True')), 'evict');
  assert.equal(decideHoldExpiry(forHealth('node-is-ready'), pod, node('False')), 'evict');
  assert.equal(decideHoldExpiry(forHealth('node-is-ready'), pod, node('True', [])), 'hold');
  const forEver = { tolerations: [{ operator: 'Exists' }], terminating: false };
  assert.equal(decideHoldExpiry(forHealth('node-is-ready'), forEver, node('Unknown')), 'hold');
});

test('a late cache: the taint of another client must still be on the live node, whatever else that has', () => {
  const drain = { key: 'drain', effect: 'NoExecute' };
  const node = (...taints: readonly Taint[]): NodeView =>
    aNodeView({ taints, conditions: [{ type: 'Ready', status: 'True' }] });
  const held = { why: 'late-cache', kind: { key: 'drain' } } as const;
  const pod = { tolerations: tolerating(60), terminating: false };
  assert.equal(decideHoldExpiry(held, pod, node(drain)), 'evict');
  assert.equal(decideHoldExpiry(held, pod, node()), 'hold');
  assert.equal(decideHoldExpiry(held, pod, node({ key: unreachable, effect: 'NoExecute' })), 'hold');
  assert.equal(decideHoldExpiry(held, pod, node({ ...drain, effect: 'NoSchedule' })), 'hold');
  assert.equal(decideHoldExpiry(held, pod, 'gone'), 'hold');
  assert.equal(decideHoldExpiry(held, pod, 'unreadable'), 'read-again');
});

test('a hold: time adds up around others, Ready must last, and the other reasons have no maximum here', () => {
  const minute = 60_000;
  let hold = extendHold(undefined, 'lease-is-renewed', 0);
  hold = extendHold(hold, 'lease-is-renewed', 3 * minute);
  hold = extendHold(hold, 'stale', 3 * minute);
  hold = extendHold(hold, 'stale', 60 * minute);
  assert.equal(isAtMaximum(hold), false);
  hold = extendHold(hold, 'lease-is-renewed', 60 * minute);
  hold = extendHold(hold, 'lease-is-renewed', 62 * minute);
  assert.equal(isAtMaximum(hold), true, '3 and 2 minutes');
  assert.equal(isAtMaximum(renewHold(hold, 62 * minute)), false);
  hold = extendHold(hold, 'node-is-ready', 62 * minute, 'once');
  hold = extendHold(hold, 'node-is-ready', 66 * minute, 'once');
  hold = extendHold(hold, 'lease-is-renewed', 66 * minute);
  hold = extendHold(hold, 'node-is-ready', 66 * minute, 'again');
  hold = extendHold(hold, 'node-is-ready', 68 * minute, 'again');
  assert.equal(isAtMaximum(hold), false, '4 minutes, and 2 after it was not Ready');
  hold = extendHold(hold, 'paused', 68 * minute, 'again');
  hold = extendHold(hold, 'paused', 78 * minute, 'again');
  hold = extendHold(hold, 'node-is-ready', 78 * minute, 'again');
  hold = extendHold(hold, 'node-is-ready', 80 * minute, 'again');
  assert.equal(isAtMaximum(hold), false, '2 and 2 minutes, around another hold');
  hold = extendHold(hold, 'node-is-ready', 81 * minute, 'again');
  assert.equal(isAtMaximum(hold), true);
  hold = extendHold(hold, 'node-is-ready', 82 * minute, 'at last');
  assert.equal(isAtMaximum(hold), false, 'Ready again between two checks');
});

for (const isRead of [true, false]) {
  const shown = isRead ? 'stays once an answer has shown' : 'is deleted while no answer has shown';
  test(`a pod ${shown} that the taint of another client is gone, which the watch does not show`, async () => {
    await using world = aWorldOf(9, 3);
    world.addPod('p', 'n0', [{ key: 'example.com/disk', operator: 'Exists', tolerationSeconds: 30 }]);
    await world.running(20);
    world.setTaints('n0', [{ key: 'example.com/disk', effect: 'NoExecute' }]);
    await world.advance(10);
    world.nodesFrozen = true;
    world.setTaints('n0', []);
    const { nodes } = world.lifecycle.stages;
    const known = nodes.get('n0');
    if (isRead && known !== undefined) nodes.remember(known, transformNode(world.node('n0')));
    await world.advance(60);
    assert.deepEqual(world.evicted(), isRead ? [] : ['p']);
  });
}
