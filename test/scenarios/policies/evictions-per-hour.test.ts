// The maximum of evictions within an hour of a policy: counted by every replica, exact for any hour, and held through the table.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { evictedByTaint } from '../../../src/machinery/api/conditions.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { Budget } from '../../support/budget.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const hourS = 3_600;
const pods = names(12, 'pod-');

/** 12 pods on `a-0` and `a-1`, of which 5 may be evicted within an hour; one on `b-0`, which is in no policy. */
function aWorld(policy: Partial<NodePolicy> = {}, over: Partial<ControllerOptions> = {}): ControllerWorld {
  const policies = [aPolicy({ maxEvictionsPerHour: 5, ...policy })];
  const world = aZonedWorld({ a: 6, b: 4 }, { policies, nodeEvictionRate: 1, ...over });
  for (const [place, pod] of pods.entries()) world.addPod(pod, `a-${place % 2}`);
  world.addPod('other', 'b-0');
  return world;
}

async function fail(world: ControllerWorld): Promise<void> {
  await world.running(1);
  for (const node of ['a-0', 'a-1', 'b-0']) world.post(node, 'False');
}

const leftOf = (world: ControllerWorld): number => world.evicted().filter((name) => name !== 'other').length;

/** The most evictions of the policy within any hour. */
function mostInAnHour(world: ControllerWorld): number {
  const times = world.writes.flatMap(({ verb, name, atSeconds }) =>
    verb === 'patch' || name === 'other' ? [] : [atSeconds],
  );
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + hourS).length));
}

const modes: Readonly<Record<string, Partial<ControllerOptions>>> = {
  taints: {},
  'eviction mode': { taintBasedEvictions: false, podEvictionTimeoutMs: 10_000 },
};

for (const [mode, over] of Object.entries(modes))
  test(`${mode}: no hour has more evictions than the maximum, and each is made when its hour is over`, async () => {
    await using world = aWorld({}, over);
    await fail(world);
    await world.advance(60);
    assert.deepEqual([leftOf(world), world.evicted().includes('other')], [5, true]);
    await world.advance(hourS - 70);
    assert.equal(leftOf(world), 5);
    await world.advance(80);
    assert.equal(leftOf(world), 10);
    await world.advance(hourS);
    assert.deepEqual([leftOf(world), mostInAnHour(world)], [12, 5]);
  });

test('gauge, dashboard and explain name the limit', async () => {
  await using world = aWorld();
  await fail(world);
  await world.advance(60);
  const waiting = pods.filter((pod) => !world.evicted().includes(pod));
  const node = `a-${pods.indexOf(waiting[0] ?? '') % 2}`;
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="hourly-limit"}'), 2);
  const { holds } = explainNode(world, node);
  assert.deepEqual(
    holds.map(({ kind }) => kind),
    ['hourly-limit'],
  );
  await using board = new DashboardWorld(world);
  const cell = board.keeper.table.compute(node);
  assert.match(cell?.held ?? '', /evict/u);
});

test('slow requests that are sent beside each other do not exceed it, and those that fail give their places back', async () => {
  await using world = aWorld({ maxEvictionsPerHour: 3 });
  const over = new AbortController();
  world.failNext('delete', 'pods', 'forbidden', 2);
  world.beforeWrite = ({ resource }) =>
    resource === 'pods' ? world.clock.sleep(1_000, over.signal) : Promise.resolve();
  await fail(world);
  await world.advance(120);
  over.abort();
  assert.equal(leftOf(world), 3);
});

test('an eviction that may have been done counts, also where the pod is not to be evicted any more', async () => {
  await using world = aWorld({ maxEvictionsPerHour: 2 });
  const lost = new ApiError({ reason: 'timeout', code: 504, message: 'request timed out' });
  world.beforeWrite = ({ verb }) => (verb === 'delete' ? Promise.reject(lost) : Promise.resolve());
  await world.running(1);
  world.post('a-0', 'False');
  await world.advance(60);
  world.post('a-0', 'True');
  world.beforeWrite = () => Promise.resolve();
  await world.advance(60);
  world.post('a-1', 'False');
  await world.advance(60);
  assert.deepEqual([world.taints('a-1').includes('not-ready:NoExecute'), leftOf(world)], [true, 0]);
});

test('a pod that may have been evicted and is still there is asked again in its place', async () => {
  await using world = aWorld({ maxEvictionsPerHour: 1 });
  world.failNext('delete', 'pods', 'timeout', 3);
  await fail(world);
  await world.advance(120);
  assert.equal(leftOf(world), 1);
});

test('eviction mode: a pod that may have been evicted and is still there is asked again in its place', async () => {
  await using world = aWorld({ maxEvictionsPerHour: 1 }, modes['eviction mode']);
  world.failNext('delete', 'pods', 'timeout', 3);
  await fail(world);
  await world.advance(120);
  assert.equal(leftOf(world), 1);
});

test('requests that were surely not sent, as without leadership, give their places back', async () => {
  await using world = aWorld({ maxEvictionsPerHour: 2, evictReachable: { timeoutMs: 60_000 } });
  await world.running(1);
  world.leading = false;
  world.post('a-0', 'False');
  world.setTaints('a-0', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }]);
  await world.advance(10);
  world.post('a-0', 'True');
  world.setTaints('a-0', []);
  world.leading = true;
  await world.advance(10);
  world.post('a-1', 'False');
  await world.advance(60);
  assert.equal(world.writes.filter(({ verb }) => verb === 'evict').length, 2);
});

test('an eviction whose node is deleted before the answer counts', async () => {
  await using world = aWorld({ maxEvictionsPerHour: 2 });
  const over = new AbortController();
  world.beforeWrite = ({ verb }) => (verb === 'delete' ? world.clock.sleep(5_000, over.signal) : Promise.resolve());
  await world.running(1);
  world.post('a-0', 'False');
  await world.advance(4);
  world.removeNode('a-0');
  await world.advance(10);
  world.post('a-1', 'False');
  await world.advance(60);
  over.abort();
  assert.equal(leftOf(world), 2);
});

test('a pod with several budgets, to which the Eviction API answers 500, is deleted at its timeout', async () => {
  await using world = aWorld({ maxEvictionsPerHour: 1, evictReachable: { timeoutMs: 600_000 } });
  const budget = new Budget(world);
  budget.error = new ApiError({ reason: 'internal', code: 500, message: 'This pod has more than one budget' });
  await fail(world);
  await world.advance(700);
  assert.equal(leftOf(world), 1);
});

test('a pod that waits for its hour is noted once, however many places others get meanwhile', async () => {
  await using world = aWorld();
  world.beforeWrite = ({ resource }) => (resource === 'pods' ? world.clock.sleep(100, over.signal) : Promise.resolve());
  const over = new AbortController();
  await fail(world);
  await world.advance(60);
  assert.equal(world.decided('eviction-held').length, 7);
  await world.advance(hourS);
  over.abort();
  assert.equal(leftOf(world), 10);
  assert.equal(world.decided('eviction-held').length, 7);
});

test('it shows as the first hold with its end, and more at once is possible as soon as the maximum is raised or gone', async () => {
  await using world = aWorld();
  await fail(world);
  await world.advance(60);
  const { holds } = world.lifecycle.stages;
  const [hold, ...others] = [...holds.of('a-0', 'delete-for-health')];
  assert.deepEqual([hold?.kind, hold?.scope, others], ['hourly-limit', 'policy', []]);
  const endsInS = ((hold?.untilMs ?? 0) - world.clock.nowMs()) / 1_000;
  assert.ok(endsInS > hourS - 61 && endsInS <= hourS, `${endsInS} s`);
  assert.equal(world.decided('eviction-held').at(-1)?.why, 'hourly-limit');
  world.changeOptions({ policies: [aPolicy({ maxEvictionsPerHour: 7 })] });
  await world.advance(3);
  assert.equal(leftOf(world), 7);
  world.changeOptions({ policies: [aPolicy()] });
  await world.advance(3);
  assert.equal(leftOf(world), 12);
});

test('deletions for the taint of another client go on, and taints are added', async () => {
  await using world = aWorld({ maxEvictionsPerHour: 1 });
  await fail(world);
  await world.advance(60);
  const tainted = ['a-0', 'a-1'].filter((node) => world.taints(node).includes('not-ready:NoExecute'));
  assert.deepEqual([leftOf(world), tainted], [1, ['a-0', 'a-1']]);
  world.setTaints('a-0', [
    ...(world.node('a-0').spec?.taints ?? []),
    { key: 'example.com/drain', effect: 'NoExecute' },
  ]);
  await world.advance(10);
  const onFirst = pods.filter((_, place) => place % 2 === 0);
  assert.ok(onFirst.every((pod) => world.evicted().includes(pod)));
});

for (const tolerationSeconds of [undefined, 300])
  test(`pods that leave for the taint of another client take no place while they tolerate ${tolerationSeconds ?? 'for ever'}`, async () => {
    await using world = aZonedWorld({ a: 6 }, { policies: [aPolicy({ maxEvictionsPerHour: 1 })] });
    const toleration = { operator: 'Exists', key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };
    const tolerations = [{ ...toleration, ...(tolerationSeconds !== undefined && { tolerationSeconds }) }];
    for (const pod of ['one', 'two']) world.addPod(pod, 'a-0', tolerations);
    world.addPod('other', 'a-1');
    await world.running(1);
    world.post('a-0', 'False');
    await world.advance(10);
    const drain = { key: 'example.com/drain', effect: 'NoExecute' };
    world.setTaints('a-0', [...(world.node('a-0').spec?.taints ?? []), drain]);
    await world.advance(10);
    assert.deepEqual(world.evicted(), ['one', 'two']);
    world.post('a-1', 'False');
    await world.advance(60);
    assert.deepEqual(world.evicted(), ['one', 'two', 'other']);
  });

test('pods that a budget holds take no place', async () => {
  await using world = aWorld({ maxEvictionsPerHour: 2, evictReachable: { timeoutMs: 600_000 } });
  const budget = new Budget(world);
  await fail(world);
  await world.advance(120);
  assert.equal(leftOf(world), 0);
  assert.ok(budget.asked.length > 2 * pods.length, `${budget.asked.length} requests, more than have a place`);
});

test('a standby counts what the leader evicts, and goes on counting when it leads', async () => {
  await using world = aWorld();
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded: '2026-01-02T03:04:00Z' };
  for (const node of ['a-0', 'a-1']) {
    world.post(node, 'False');
    world.setTaints(node, [taint]);
  }
  for (const pod of pods.slice(0, 4))
    world.changePod(pod, (stored) => {
      const condition = { ...evictedByTaint, status: 'True' };
      const metadata = {
        ...stored.metadata,
        deletionTimestamp: '2026-01-02T03:04:05Z',
        deletionGracePeriodSeconds: 30,
      };
      return { ...stored, metadata, status: { ...stored.status, conditions: [condition] } };
    });
  await world.advance(600);
  await world.running(60);
  assert.equal(leftOf(world), 1);
  await world.advance(hourS - 600);
  assert.equal(leftOf(world), 5, 'four more, when their hour is over');
});

test('a process that starts does not know what is gone, counts from then on, and says so once', async () => {
  await using world = aWorld();
  await fail(world);
  await world.advance(60);
  await world.restart();
  await world.advance(60);
  assert.equal(leftOf(world), 10);
  const messages = world.nodeEvents.drafts.flatMap(({ reason, message }) =>
    reason === 'EvictionsNotKnown' ? [message] : [],
  );
  assert.equal(messages.length, 2, 'one of each process');
  assert.match(messages[1] ?? '', /^Policy zone-a: evictions before .* do not count for maxEvictionsPerHour \(5\)$/u);
});

const tolerating = ['unreachable', 'not-ready'].map((key) => {
  return { operator: 'Exists', key: `node.kubernetes.io/${key}`, effect: 'NoExecute', tolerationSeconds: 300 };
});
const five = names(5, 'p-');

/** Five pods on a-0 that tolerate 300 s, of which three may be evicted within an hour; this replica is a standby. */
function aStandby(): ControllerWorld {
  const world = aZonedWorld({ a: 6, b: 6 }, { policies: [aPolicy({ maxEvictionsPerHour: 3 })] });
  for (const pod of five) world.addPod(pod, 'a-0', tolerating);
  world.post('a-0', 'False');
  return world;
}

function taintNow(
  world: ControllerWorld,
  ...taints: readonly { readonly key: string; readonly value?: string }[]
): void {
  const timeAdded = formatTime(world.clock.nowMs());
  world.setTaints(
    'a-0',
    taints.map((taint) => ({ ...taint, effect: 'NoExecute', timeAdded })),
  );
}

function beginToTerminate(world: ControllerWorld, pod: string, reason: string = evictedByTaint.reason): void {
  const deletionTimestamp = formatTime(world.clock.nowMs());
  world.changePod(pod, (stored) => {
    const metadata = { ...stored.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 };
    const condition = { ...evictedByTaint, reason, status: 'True' };
    return { ...stored, metadata, status: { ...stored.status, conditions: [condition] } };
  });
}

/** Another leader evicts the first three. */
function evictThree(world: ControllerWorld): void {
  for (const pod of five.slice(0, 3)) beginToTerminate(world, pod);
}

test('a standby counts pods whose countdown is older than the taint, because that replaced the other health taint', async () => {
  await using world = aStandby();
  taintNow(world, { key: 'node.kubernetes.io/not-ready' });
  await world.advance(60);
  taintNow(world, { key: 'node.kubernetes.io/unreachable' });
  await world.advance(240);
  evictThree(world);
  await world.running(600);
  assert.deepEqual(world.evicted(), []);
});

test('a standby counts pods that leave for the taint out-of-service of the controller', async () => {
  await using world = aStandby();
  const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'node-lifecycle-controller' };
  taintNow(world, { key: 'node.kubernetes.io/unreachable' }, outOfService);
  evictThree(world);
  await world.running(600);
  assert.deepEqual(world.evicted(), []);
});

test('pods that a person drains from a node whose taint they still tolerate do not count', async () => {
  const policies = [aPolicy({ maxEvictionsPerHour: 3, evictReachable: { timeoutMs: undefined } })];
  await using world = aZonedWorld({ a: 6, b: 6 }, { policies });
  for (const pod of five) world.addPod(pod, 'a-0', tolerating);
  world.addPod('other', 'a-1');
  await world.running(20);
  world.post('a-0', 'False');
  await world.advance(30);
  for (const pod of five) beginToTerminate(world, pod, 'EvictionByEvictionAPI');
  await world.silentFor(120, 'a-1');
  assert.deepEqual(world.evicted(), ['other']);
});
