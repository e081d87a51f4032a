// Limits of a policy: above the limit of unhealthy nodes its breaker holds NoExecute taints and evictions for the health of
// its nodes; everything else goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePolicy, PolicyLimits } from '../../../src/controller/model/policy.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const cooldownSeconds = 120;
const limits: PolicyLimits = {
  maxUnhealthy: { percent: 40, count: 3 },
  cooldownMs: cooldownSeconds * 1_000,
  resetAtMs: undefined,
};
const limited = aPolicy({ name: 'pool-a', limits });
/** Of zone `a`: 8 nodes, of which 3 may be unhealthy. */
const pool = names(8, 'a-');
const [a0 = '', a1 = '', a2 = '', a3 = '', a4 = ''] = pool;

/** One taint per second and zone, whatever its state; a pod on each node of the pool. */
function aPool(over: Partial<ControllerOptions> = {}): ControllerWorld {
  const world = aZonedWorld(
    { a: 8, b: 8 },
    {
      policies: [limited],
      nodeEvictionRate: 1,
      unhealthyZoneThreshold: 1,
      controlPlanePathFailureHoldMs: 0,
      ...over,
    },
  );
  for (const node of pool) world.addPod(`pod-${node}`, node);
  return world.start();
}

function changeLimits(world: ControllerWorld, over: Partial<PolicyLimits>): void {
  world.changeOptions({ policies: [withLimits(over)] });
}

function withLimits(over: Partial<PolicyLimits>): NodePolicy {
  return { ...limited, limits: { ...limits, ...over } };
}

function gauge(world: ControllerWorld, name: string): number | undefined {
  return world.meter.read().get(`node_lifecycle_policy_${name}{policy="pool-a"}`);
}

test('opens above max(40 %, 3), holds, cools down, closes, and then the rest is tainted and evicted at the rate', async () => {
  await using world = aPool();
  await world.silentFor(60, a0, a1, a2);
  assert.deepEqual(world.tainted(pool), [a0, a1, a2], '3 of 8 are within the limit');
  assert.equal(gauge(world, 'breaker_open'), 0);
  await world.silentFor(300, a3);
  assert.equal(world.ready(a3), 'Unknown', 'marking goes on');
  assert.deepEqual(world.taints(a3), ['unreachable:NoSchedule']);
  assert.equal(world.podReady(`pod-${a3}`), 'False');
  assert.equal(world.evicted().includes(`pod-${a3}`), false);
  assert.deepEqual(world.decided('breaker-opened'), [
    {
      kind: 'breaker-opened',
      policy: 'pool-a',
      inherited: false,
      count: { nodes: 8, unhealthy: 4, exempt: 0, limit: 3 },
    },
  ]);
  assert.equal(gauge(world, 'breaker_open'), 1);
  assert.equal(gauge(world, 'unhealthy_nodes'), 4);
  assert.equal(gauge(world, 'unhealthy_nodes_limit'), 3);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="breaker"}'), 4);

  world.recover(a0);
  await world.advance(cooldownSeconds - 1);
  assert.deepEqual(world.taints(a0), [], 'recovery goes on');
  assert.deepEqual(world.taints(a3), ['unreachable:NoSchedule'], 'still open for the cooldown');
  await world.advance(2);
  assert.deepEqual(world.tainted([a3]), [a3]);
  assert.ok(world.evicted().includes(`pod-${a3}`));
  assert.equal(world.decided('breaker-closed').length, 1);
  assert.equal(world.decided('breaker-closed')[0]?.why, 'cooldown-over');
  assert.equal(gauge(world, 'breaker_open'), 0);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="breaker"}'), 0);
});

test('5 of 8 nodes silent in one pass: none is tainted, and a pool beside it is not affected', async () => {
  await using world = aPool();
  world.addPod('pod-b-0', 'b-0');
  await world.silentFor(120, ...pool.slice(0, 5), 'b-0');
  assert.deepEqual(world.tainted(pool), []);
  assert.deepEqual(world.evicted(), ['pod-b-0']);
  assert.deepEqual(world.tainted(['b-0']), ['b-0']);
});

test('the Events say when it opened and closed, with the numbers', async () => {
  await using world = aPool();
  await world.silentFor(60, ...pool.slice(0, 5));
  world.recover(a0, a1);
  await world.advance(cooldownSeconds + 1);
  assert.deepEqual(world.nodeEventsOf('PolicyBreakerOpened'), [
    'Policy pool-a: 5 of 8 nodes unhealthy, limit 3; its nodes get no NoExecute taint and no pod is evicted for the health of its node',
  ]);
  const [closed = '', ...others] = world.nodeEventsOf('PolicyBreakerClosed');
  assert.match(closed, /^Policy pool-a: NoExecute taints and evictions resumed after 1\d\ds; 3 of 8 nodes unhealthy/u);
  assert.deepEqual(others, []);
});

test('a node that becomes unhealthy during the cooldown starts the cooldown again', async () => {
  await using world = aPool();
  await world.silentFor(60, ...pool.slice(0, 4));
  world.recover(a0);
  await world.advance(100);
  world.post(a4, 'False');
  await world.advance(10);
  world.post(a4, 'True');
  await world.advance(cooldownSeconds - 1);
  assert.deepEqual(world.tainted(pool), []);
  await world.advance(6);
  assert.deepEqual(world.tainted(pool), [a1, a2, a3]);
  assert.equal(world.decided('breaker-opened').length, 1, 'it was open all the time');
});

test('a node that reports NotReady counts at once: a taint that waits for its token is not written', async () => {
  await using world = aPool({ nodeEvictionRate: 0.1 });
  await world.silentFor(52, a0, a1, a2);
  const before = world.tainted(pool);
  assert.equal(before.length, 1);
  world.post(a3, 'False');
  await world.advance(60);
  assert.deepEqual(world.tainted(pool), before);
});

test('a taint that waits in the queue of writes while the breaker opens is not sent', async () => {
  await using world = aPool();
  const release = world.holdLane('tainting');
  await world.silentFor(60, a0, a1, a2);
  for (const node of [a3, a4]) world.post(node, 'False');
  release();
  await world.advance(60);
  assert.deepEqual(world.tainted(pool), []);
  world.post(a3, 'True');
  world.post(a4, 'True');
  await world.advance(cooldownSeconds + 5);
  assert.deepEqual(world.tainted(pool), [a0, a1, a2]);
});

test('a deletion that waits in the queue of writes while the breaker opens is not sent', async () => {
  await using world = aPool();
  const release = world.holdLane('eviction');
  await world.silentFor(60, a0);
  for (const node of [a1, a2, a3]) world.post(node, 'False');
  release();
  await world.advance(60);
  assert.deepEqual(world.evicted(), []);
  for (const node of [a1, a2, a3]) world.post(node, 'True');
  await world.advance(cooldownSeconds + 2);
  assert.deepEqual(world.evicted(), [`pod-${a0}`]);
});

test('a deletion for the taint of another client goes on, also on a node with a health taint', async () => {
  await using world = aPool();
  world.addPod('patient', a0, [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 60 }]);
  await world.silentFor(60, a0);
  world.post(a1, 'False');
  world.post(a2, 'False');
  world.post(a3, 'False');
  await world.advance(120);
  assert.deepEqual(world.evicted(), [`pod-${a0}`], 'its time is over, and it is held');
  assert.ok(world.decided('eviction-held').some(({ pod, why }) => pod === 'default/patient' && why === 'breaker'));
  world.setTaints(a0, [...(world.node(a0).spec?.taints ?? []), { key: 'example.com/drain', effect: 'NoExecute' }]);
  await world.advance(2);
  assert.deepEqual(world.evicted(), [`pod-${a0}`, 'patient']);
});

test('one taint is not replaced by the other while it is open, and it is within a second after it closed', async () => {
  await using world = aPool();
  world.post(a0, 'False');
  await world.advance(5);
  assert.deepEqual(world.taints(a0), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  await world.silentFor(60, ...pool.slice(0, 4));
  assert.deepEqual(world.taints(a0), ['not-ready:NoExecute', 'unreachable:NoSchedule']);
  world.recover(a1);
  await world.advance(cooldownSeconds + 1);
  assert.deepEqual(world.taints(a0), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('deleted nodes do not count: it closes, and the limit is that of the nodes that are left', async () => {
  await using world = aPool({ policies: [withLimits({ maxUnhealthy: { percent: 40, count: undefined } })] });
  await world.silentFor(60, ...pool.slice(0, 4));
  world.removeNode(a0);
  world.removeNode(a1);
  await world.advance(cooldownSeconds + 3);
  assert.equal(gauge(world, 'unhealthy_nodes_limit'), 2, '40 % of 6');
  assert.deepEqual(world.tainted([a2, a3]), [a2, a3]);
});

test('a raised limit ends it after the cooldown, without limits it ends at once, and a lowered limit opens it', async () => {
  await using world = aPool();
  await world.silentFor(60, ...pool.slice(0, 5));
  changeLimits(world, { maxUnhealthy: { percent: undefined, count: 5 } });
  await world.advance(cooldownSeconds - 1);
  assert.deepEqual(world.tainted(pool), []);
  await world.advance(2);
  assert.notDeepEqual(world.tainted(pool), []);
  changeLimits(world, { maxUnhealthy: { percent: undefined, count: 1 } });
  const before = world.tainted(pool);
  await world.advance(60);
  assert.deepEqual(world.tainted(pool), before);
  world.changeOptions({ policies: [{ ...limited, limits: undefined }] });
  await world.advance(6);
  assert.deepEqual(world.tainted(pool), pool.slice(0, 5));
  assert.deepEqual(
    world.decided('breaker-closed').map(({ why }) => why),
    ['cooldown-over', 'limits-removed'],
  );
  assert.equal(gauge(world, 'breaker_open'), undefined);
  assert.equal(world.meter.read().has('node_lifecycle_held_nodes{reason="breaker"}'), false);
});

test('a node that leaves the policy by its labels is tainted, and its pool has another limit', async () => {
  await using world = aPool();
  await world.silentFor(60, ...pool.slice(0, 4));
  world.setLabels(a0, { ...world.node(a0).metadata.labels, 'topology.kubernetes.io/zone': 'b' });
  await world.advance(6);
  assert.deepEqual(world.tainted(pool), [a0]);
  await world.advance(cooldownSeconds);
  assert.deepEqual(world.tainted(pool), pool.slice(0, 4));
});

test('the removal of the policy ends it', async () => {
  await using world = aPool();
  await world.silentFor(60, ...pool.slice(0, 4));
  world.changeOptions({ policies: [] });
  await world.advance(6);
  assert.deepEqual(world.tainted(pool), pool.slice(0, 4));
});

test('resetAt closes it at once for the nodes that were unhealthy then; more failures than the limit open it again', async () => {
  await using world = aPool();
  await world.silentFor(60, ...pool.slice(0, 4));
  assert.deepEqual(world.tainted(pool), []);
  changeLimits(world, { resetAtMs: world.clock.nowMs() });
  await world.advance(5);
  assert.deepEqual(world.tainted(pool), pool.slice(0, 4));
  assert.deepEqual(
    world.decided('breaker-closed').map(({ why }) => why),
    ['reset'],
  );
  await world.silentFor(120, ...pool.slice(4));
  assert.equal(world.decided('breaker-opened').length, 2, '4 more than were reset');
  assert.deepEqual(world.tainted(pool), pool.slice(0, 4));
});

test('resetAt ends a cooldown; a time in the future takes effect then; a time before the opening resets nothing', async () => {
  await using world = aPool();
  await world.silentFor(60, ...pool.slice(0, 4));
  changeLimits(world, { resetAtMs: world.clock.nowMs() - 30_000 });
  await world.advance(60);
  assert.deepEqual(world.tainted(pool), []);
  world.recover(a0);
  await world.advance(5);
  changeLimits(world, { resetAtMs: world.clock.nowMs() + 30_000 });
  await world.advance(29);
  assert.deepEqual(world.tainted(pool), []);
  await world.advance(5);
  assert.deepEqual(world.tainted(pool), [a1, a2, a3]);
});

test('a new leader finds it open, tainted nothing, and keeps a reset', async () => {
  await using world = aPool();
  await world.silentFor(60, ...pool.slice(0, 4));
  await world.restart();
  await world.advance(120);
  assert.deepEqual(world.tainted(pool), []);
  assert.equal(world.decided('breaker-opened').length, 2);
  changeLimits(world, { resetAtMs: world.clock.nowMs() });
  await world.advance(2);
  await world.restart();
  await world.advance(30);
  assert.deepEqual(world.tainted(pool), pool.slice(0, 4));
  assert.equal(world.decided('breaker-opened').length, 2);
});

test('a new leader goes on with a cooldown, until it would have ended', async () => {
  await using world = aPool();
  await world.advance(300);
  await world.silentFor(60, ...pool.slice(0, 4));
  world.recover(a0);
  await world.advance(60);
  await world.restart();
  await world.advance(cooldownSeconds - 61);
  assert.deepEqual(world.tainted(pool), []);
  assert.deepEqual(world.evicted(), []);
  await world.advance(3);
  assert.deepEqual(world.tainted(pool), [a1, a2, a3].slice(0, world.tainted(pool).length));
  await world.advance(5);
  assert.deepEqual(world.tainted(pool), [a1, a2, a3]);
  assert.deepEqual(
    world.decided('breaker-opened').map(({ inherited, count }) => [inherited, count.unhealthy]),
    [
      [false, 4],
      [true, 3],
    ],
  );
});

test('a new leader whose nodes recovered before the cooldown, or were created within it, finds no breaker open', async () => {
  await using world = aPool();
  await world.silentFor(60, a0, a1, a2);
  await world.restart();
  await world.advance(20);
  assert.equal(world.decided('breaker-opened').length, 0);
  assert.deepEqual(world.tainted(pool), [a0, a1, a2]);
});

test('a reset ends a cooldown that a new leader went on with', async () => {
  await using world = aPool();
  await world.advance(300);
  await world.silentFor(60, ...pool.slice(0, 4));
  world.recover(a0);
  await world.advance(10);
  await world.restart();
  await world.advance(10);
  assert.deepEqual(world.tainted(pool), []);
  changeLimits(world, { resetAtMs: world.clock.nowMs() });
  await world.advance(5);
  assert.deepEqual(world.tainted(pool), [a1, a2, a3]);
  await world.restart();
  await world.advance(5);
  assert.equal(world.decided('breaker-opened').length, 2, 'the next leader does not open it again');
});

test('a node that is deleted and created again under its name is not exempt from the limit by a reset', async () => {
  await using world = aPool();
  await world.silentFor(60, ...pool.slice(0, 4));
  changeLimits(world, { resetAtMs: world.clock.nowMs() });
  await world.advance(10);
  assert.equal(gauge(world, 'breaker_open'), 0);
  const labels = world.node(a0).metadata.labels ?? {};
  world.addNode(a0, { ready: 'False' }); // without a deletion event in between, as after a list
  world.setLabels(a0, labels);
  await world.advance(2);
  const [status] = world.lifecycle.stages.policies.counts();
  assert.deepEqual([status?.breaker?.unhealthy, status?.breaker?.exempt], [4, 3]);
});

test('a step of the wall clock neither ends a breaker nor extends its cooldown', async () => {
  for (const stepMs of [3_600_000, -3_600_000]) {
    await using world = aPool();
    await world.silentFor(60, ...pool.slice(0, 4));
    world.clock.jumpWall(stepMs);
    await world.advance(60);
    assert.deepEqual(world.tainted(pool), [], `${stepMs}`);
    world.recover(a0);
    await world.advance(10);
    world.clock.jumpWall(-2 * stepMs);
    await world.advance(cooldownSeconds - 12);
    assert.deepEqual(world.tainted(pool), [], `${stepMs}`);
    await world.advance(10);
    assert.deepEqual(world.tainted(pool), [a1, a2, a3], `${stepMs}`);
  }
});

test('a write of recovery is sent while it is open, also one that was waiting', async () => {
  await using world = aPool();
  await world.silentFor(60, a0);
  assert.deepEqual(world.tainted(pool), [a0]);
  const release = world.holdLane('recovery');
  world.recover(a0);
  for (const node of [a1, a2, a3, a4]) world.post(node, 'False');
  await world.advance(2);
  release();
  await world.advance(2);
  assert.deepEqual(world.taints(a0), []);
});

test('mode Paused holds more, and its nodes count; what is due is done when both have ended', async () => {
  await using world = aPool({ policies: [{ ...limited, mode: 'Paused' }] });
  await world.silentFor(120, ...pool.slice(0, 4));
  assert.deepEqual(world.notReady(), []);
  assert.equal(gauge(world, 'breaker_open'), 1);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="paused"}'), 4);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="breaker"}'), 0);
  world.changeOptions({ policies: [limited] });
  await world.advance(10);
  assert.deepEqual(world.notReady(), pool.slice(0, 4));
  assert.deepEqual(world.tainted(pool), []);
  world.recover(a0);
  await world.advance(cooldownSeconds + 5);
  assert.deepEqual(world.tainted(pool), [a1, a2, a3]);
});

test('mode Observe: the breaker is reported, and nothing is written', async () => {
  await using world = aPool({ policies: [{ ...limited, mode: 'Observe' }] });
  await world.silentFor(120, ...pool.slice(0, 4));
  assert.equal(gauge(world, 'breaker_open'), 1);
  assert.deepEqual(world.writes, []);
});

test('eviction mode: pods of the nodes of the policy stay while it is open, and leave afterwards', async () => {
  await using world = aPool({ taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 });
  world.addPod('pod-b-0', 'b-0');
  await world.silentFor(200, ...pool.slice(0, 4), 'b-0');
  assert.deepEqual(world.evicted(), ['pod-b-0']);
  world.recover(a0);
  await world.advance(cooldownSeconds - 5);
  assert.deepEqual(world.evicted(), ['pod-b-0']);
  await world.advance(15);
  assert.deepEqual([...world.evicted()].sort(), ['pod-b-0', ...[a1, a2, a3].map((node) => `pod-${node}`)].sort());
});

test('eviction mode: the remaining pods of an evicted node stay while it is open', async () => {
  await using world = aPool({ taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 });
  await world.silentFor(130, a0);
  assert.deepEqual(world.evicted(), [`pod-${a0}`]);
  for (const node of [a1, a2, a3]) world.post(node, 'False');
  world.addPod('late', a0);
  await world.advance(30);
  assert.deepEqual(world.evicted(), [`pod-${a0}`]);
  for (const node of [a1, a2, a3]) world.post(node, 'True');
  await world.advance(cooldownSeconds + 2);
  assert.deepEqual(world.evicted(), [`pod-${a0}`, 'late']);
});

test('where another controller detects failures, evictions are held by the Ready conditions', async () => {
  await using world = new ControllerWorld({ policies: [limited] }, { nodeLifecycle: false });
  world.addNodes(pool, { zone: 'a' });
  for (const node of pool) world.addPod(`pod-${node}`, node);
  world.start();
  await world.advance(5);
  for (const node of pool.slice(0, 4)) world.post(node, 'Unknown');
  world.setTaints(a0, [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]);
  await world.advance(60);
  assert.deepEqual(world.evicted(), []);
  world.post(a1, 'True');
  await world.advance(cooldownSeconds + 6);
  assert.deepEqual(world.evicted(), [`pod-${a0}`]);
});

test('without limits nothing is counted and no series is exposed', async () => {
  await using world = aPool({ policies: [{ ...limited, limits: undefined }] });
  await world.silentFor(120, ...pool.slice(0, 4));
  assert.deepEqual(world.tainted(pool), pool.slice(0, 4));
  const series = [...world.meter.read().keys()].filter((key) => /breaker|unhealthy_nodes(_limit)?\{policy/u.test(key));
  assert.deepEqual(series, []);
});

test('more nodes than one pool: each policy has its own breaker', async () => {
  const other = aPolicy({ name: 'pool-b', selector: inZone('b'), limits });
  await using world = aPool({ policies: [limited, other] });
  await world.silentFor(90, ...pool.slice(0, 4), 'b-0');
  assert.deepEqual(world.tainted([...pool, 'b-0']), ['b-0']);
  assert.equal(world.meter.read().get('node_lifecycle_policy_breaker_open{policy="pool-b"}'), 0);
});
