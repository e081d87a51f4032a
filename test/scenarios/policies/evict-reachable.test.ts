// Pods of nodes that are not Ready but reachable leave by the Eviction API, so that PodDisruptionBudgets hold them: until the
// budget allows it, the node is unreachable, or the timeout is over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import { Budget, budgetError } from '../../support/budget.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainPod } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const timeoutSeconds = 120;
const policy = aPolicy({ evictReachable: { timeoutMs: timeoutSeconds * 1_000 } });
const tolerated = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', tolerationSeconds: 30 }];

/** `web` runs on `a-0`, which is in the policy; `other` on `b-0`, which is in none. */
function aWorld(over: Partial<ControllerOptions> = {}): ControllerWorld {
  const world = aZonedWorld({ a: 4, b: 4 }, { policies: [policy], nodeEvictionRate: 1, ...over });
  world.addPod('web', 'a-0');
  world.addPod('other', 'b-0');
  return world.start();
}

/** When the node got its NoExecute taint. */
function taintedAt(world: ControllerWorld, node: string): number {
  const write = world.writes.find(({ name, body }) => name === node && JSON.stringify(body).includes('NoExecute'));
  return write?.atSeconds ?? NaN;
}

/** How each pod left: `evict web`. */
function removals(world: ControllerWorld): readonly string[] {
  return world.writes.flatMap(({ verb, name }) => (verb === 'patch' ? [] : [`${verb} ${name}`]));
}

test('a budget holds the pod of a reachable node until it allows the eviction; other pods are deleted', async () => {
  await using world = aWorld();
  const budget = new Budget(world);
  await world.advance(1);
  for (const node of ['a-0', 'b-0']) world.post(node, 'False');
  await world.advance(60);
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  assert.deepEqual(removals(world), ['delete other']);
  assert.ok(budget.asked.length >= 3 && budget.asked.length <= 12, `with a backoff: ${budget.asked.length}`);
  assert.equal(
    world.pod('web')?.status?.conditions?.some(({ type }) => type === 'DisruptionTarget'),
    false,
  );
  const refused = { kind: 'eviction-refused', pod: 'default/web', node: 'a-0', why: 'budget' } as const;
  const message = 'The disruption budget web needs 1 healthy pods and has 1 currently';
  assert.deepEqual(world.decided('eviction-refused'), [{ ...refused, message }], 'once');
  assert.equal(world.meter.read().get('node_lifecycle_waiting_pods{policy="zone-a",reason="budget"}'), 1);
  const text = describePodOutlook(explainPod(world, 'web'));
  assert.match(text, /held +waits for a PodDisruptionBudget since .*: The disruption budget web needs 1/);
  assert.match(text, /would end: the eviction is allowed, or it is deleted in about \d+s/);

  budget.allows = true;
  await world.advance(31);
  assert.deepEqual(removals(world), ['delete other', 'evict web']);
  assert.equal(world.meter.read().get('node_lifecycle_waiting_pods{policy="zone-a",reason="budget"}'), undefined);
});

test('after the timeout, which counts from when it was due, the pod is deleted', async () => {
  await using world = aWorld();
  const budget = new Budget(world);
  world.addPod('later', 'a-0', tolerated);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(timeoutSeconds + 45);
  assert.deepEqual(removals(world), ['delete web', 'delete later']);
  const dueAt = taintedAt(world, 'a-0');
  for (const [pod, toleratedSeconds] of [
    ['web', 0],
    ['later', 30],
  ] as const) {
    const lateBy = (world.evictedAtSeconds(pod) ?? NaN) - dueAt - toleratedSeconds - timeoutSeconds;
    assert.ok(lateBy >= 0 && lateBy <= 1.1, `${pod}: ${lateBy} s`);
  }
  assert.deepEqual(
    world.decided('eviction-wait-ended').map(({ pod, why }) => [pod, why]),
    [
      ['default/web', 'timeout'],
      ['default/later', 'timeout'],
    ],
  );
  assert.equal(world.meter.read().get('node_lifecycle_evictions_timed_out_total'), 2);
  assert.ok(budget.asked.every((at, place) => at - (budget.asked[place - 1] ?? dueAt) <= 31));
});

test('a pause between two requests that fail is no time in which the budget was asked', async () => {
  await using world = aWorld();
  const budget = new Budget(world);
  budget.error = new ApiError({ reason: 'too-many-requests', code: 429, message: 'try again later' });
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(60);
  const dueAt = taintedAt(world, 'a-0');
  assert.ok(budget.asked.length >= 8 && budget.asked.length <= 12, `with a backoff: ${budget.asked.length}`);
  assert.equal(world.meter.read().get('node_lifecycle_waiting_pods{policy="zone-a",reason="failing"}'), 1);
  const text = describePodOutlook(explainPod(world, 'web'));
  assert.match(text, /held +waits for the Eviction API \(failing\) since .*: too-many-requests; would end: /);
  assert.match(text, /or it is deleted in about \d+s/);
  world.changeOptions({ paused: true });
  await world.advance(12);
  world.changeOptions({ paused: false });
  await world.advance(timeoutSeconds);
  assert.deepEqual(removals(world), ['delete web']);
  const lateBy = (world.evictedAtSeconds('web') ?? NaN) - dueAt - timeoutSeconds - 12;
  assert.ok(lateBy >= -0.1 && lateBy <= 2.2, `${lateBy} s`);
});

test('requests that are conflicts again and again have a backoff, and delay no deletion after the timeout', async () => {
  await using world = aWorld();
  const budget = new Budget(world);
  budget.error = new ApiError({ reason: 'conflict', code: 409, message: 'the pod has changed' });
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(timeoutSeconds + 20);
  assert.deepEqual(removals(world), ['delete web']);
  const lateBy = (world.evictedAtSeconds('web') ?? NaN) - taintedAt(world, 'a-0') - timeoutSeconds;
  assert.ok(lateBy >= -0.1 && lateBy <= 1.1, `${lateBy} s`);
  assert.ok(budget.asked.length >= 8 && budget.asked.length <= 16, `with a backoff: ${budget.asked.length}`);
});

test('a deadline that moves does not ask before the time that the API server named', async () => {
  await using world = aWorld();
  const budget = new Budget(world);
  budget.error = new ApiError({ reason: 'too-many-requests', code: 429, message: 'busy', retryAfterMs: 60_000 });
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(10);
  assert.equal(budget.asked.length, 1);
  for (let left = 5; left > 0; left -= 1) {
    const taints = world.node('a-0').spec?.taints ?? [];
    const timeAdded = formatTime(world.clock.nowMs());
    world.setTaints(
      'a-0',
      taints.map((taint) => ({ ...taint, timeAdded })),
    );
    await world.advance(5);
  }
  assert.equal(budget.asked.length, 1);
  await world.advance(40);
  assert.equal(budget.asked.length, 2);
});

test('the timeout of the controller applies where the policy sets none', async () => {
  const policies = [aPolicy({ evictReachable: { timeoutMs: undefined } })];
  await using world = aWorld({ policies, evictReachableTimeoutMs: 40_000 });
  void new Budget(world);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(35);
  assert.deepEqual(removals(world), []);
  await world.advance(10);
  assert.deepEqual(removals(world), ['delete web']);
});

test('a restart during the wait loses nothing: the pod is deleted at the same time', async () => {
  await using world = aWorld();
  void new Budget(world);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(timeoutSeconds / 2);
  await world.restart();
  await world.advance(timeoutSeconds / 2 + 10);
  assert.deepEqual(removals(world), ['delete web']);
  const lateBy = (world.evictedAtSeconds('web') ?? NaN) - taintedAt(world, 'a-0') - timeoutSeconds;
  assert.ok(lateBy >= 0 && lateBy <= 2.1, `${lateBy} s: the time in a taint has whole seconds`);
});

for (const { title, retryAfterMs } of [
  { title: 'the node becomes silent', retryAfterMs: undefined },
  { title: 'the node becomes silent while Retry-After lasts', retryAfterMs: 300_000 },
]) {
  test(`${title}: a pod that waits for a budget is deleted at once`, async () => {
    await using world = aWorld({ policies: [aPolicy({ evictReachable: { timeoutMs: 3_600_000 } })] });
    const budget = new Budget(world);
    budget.error = budgetError(retryAfterMs);
    await world.advance(1);
    world.post('a-0', 'False');
    await world.advance(49);
    assert.deepEqual(removals(world), []);
    world.goSilent('a-0');
    await world.advance(40);
    assert.deepEqual(removals(world), [], 'reachable until its grace period is over');
    await world.advance(13);
    assert.deepEqual(removals(world), ['delete web']);
    assert.deepEqual(
      world.decided('eviction-wait-ended').map(({ why }) => why),
      ['unreachable'],
    );
  });
}

test('a node that recovers keeps the pod, and one that posts Unknown by itself does not', async () => {
  await using world = aWorld();
  void new Budget(world);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(30);
  world.recover('a-0');
  await world.advance(600);
  assert.deepEqual(removals(world), []);
  assert.deepEqual(world.taints('a-0'), []);
  assert.deepEqual(
    world.decided('eviction-cancelled').map(({ pod }) => pod),
    ['default/web'],
  );
});

test('a wait that ends because the node is silent is not resumed as a deletion when its kubelet reports again', async () => {
  await using world = aWorld({ policies: [aPolicy({ evictReachable: { timeoutMs: 3_600_000 } })] });
  void new Budget(world);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(30);
  await world.silentFor(49, 'a-0');
  const free = world.holdLane('eviction');
  await world.advance(4);
  assert.equal(world.ready('a-0'), 'Unknown');
  world.renewing('a-0');
  world.post('a-0', 'False');
  await world.advance(1);
  free();
  await world.advance(20);
  assert.deepEqual(removals(world), [], 'the deletion waited for a slot, and is not wanted any more');
});

test('a taint of another client deletes the pod on time although a budget holds it', async () => {
  await using world = aWorld();
  void new Budget(world);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(10);
  const taints = world.node('a-0').spec?.taints ?? [];
  const timeAdded = formatTime(world.clock.nowMs());
  world.setTaints('a-0', [...taints, { key: 'example.com/drain', effect: 'NoExecute', timeAdded }]);
  await world.advance(3);
  assert.deepEqual(removals(world), ['delete web']);
});

for (const { why, error } of [
  { why: 'forbidden', error: new ApiError({ reason: 'forbidden', message: 'no permission', code: 403 }) },
  { why: 'not-served', error: new ApiError({ reason: 'not-found', message: 'no such path', code: 404 }) },
  { why: 'internal', error: new ApiError({ reason: 'internal', message: 'more than one budget', code: 500 }) },
]) {
  test(`${why}: shown, and bounded by the timeout`, async () => {
    await using world = aWorld();
    const budget = new Budget(world);
    budget.error = error;
    await world.advance(1);
    world.post('a-0', 'False');
    await world.advance(60);
    assert.deepEqual(removals(world), []);
    assert.deepEqual(
      world.decided('eviction-refused').map((refused) => [refused.why, refused.message]),
      [[why, error.message]],
    );
    assert.ok((world.meter.read().get(`node_lifecycle_evictions_refused_total{reason="${why}"}`) ?? 0) >= 3);
    assert.match(
      describePodOutlook(explainPod(world, 'web')),
      new RegExp(`waits for the Eviction API \\(${why}\\) since `),
    );
    await world.advance(timeoutSeconds);
    assert.deepEqual(removals(world), ['delete web']);
  });
}

test('a policy that does not use the Eviction API any more deletes what waits', async () => {
  await using world = aWorld();
  void new Budget(world);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(30);
  world.changeOptions({ policies: [aPolicy()] });
  await world.advance(2);
  assert.deepEqual(removals(world), ['delete web']);
  assert.deepEqual(
    world.decided('eviction-wait-ended').map(({ why }) => why),
    ['not-asked'],
  );
});

test('where another controller detects failures, the condition and the heartbeats decide', async () => {
  const world = aZonedWorld({ a: 4 }, { policies: [policy] }, { nodeLifecycle: false });
  world.addPod('web', 'a-0');
  void new Budget(world);
  await using running = await world.running(1);
  const timeAdded = formatTime(running.clock.nowMs());
  running.post('a-0', 'False');
  running.setTaints('a-0', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded }]);
  await running.advance(30);
  assert.deepEqual(removals(running), []);
  await running.silentFor(52, 'a-0');
  assert.deepEqual(removals(running), ['delete web'], 'its heartbeats stopped');
});

test('a hold that lasts longer than the timeout does not replace the question to the budget', async () => {
  await using world = aWorld();
  const budget = new Budget(world);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(20);
  assert.ok(budget.asked.length > 0);
  world.changeOptions({ paused: true });
  await world.advance(timeoutSeconds * 2);
  const asked = budget.asked.length;
  world.changeOptions({ paused: false });
  await world.advance(60);
  assert.ok(budget.asked.length > asked, 'it is asked again');
  assert.deepEqual(removals(world), []);
  await world.advance(timeoutSeconds);
  assert.deepEqual(removals(world), ['delete web'], 'the timeout counts from the end of the hold');
});

const pathFailed = [...names(4, 'a-'), ...names(4, 'b-')];

/** `web` waits for its budget on `a-0`; then the path of all nodes of two zones of three to the API server fails. */
async function aPathFailure(over: Partial<ControllerOptions> = {}): Promise<ControllerWorld> {
  const world = aZonedWorld(
    { a: 4, b: 4, c: 1 },
    { policies: [aPolicy({ evictReachable: { timeoutMs: 3_600_000 } })], nodeEvictionRate: 1, ...over },
  );
  world.addPod('web', 'a-0');
  void new Budget(world);
  await world.running(1);
  world.post('a-0', 'False');
  await world.advance(29);
  assert.ok(world.taints('a-0').includes('not-ready:NoExecute'));
  await world.silentFor(60, ...pathFailed);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.equal(world.decided('acts-held').length, 1);
  return world;
}

for (const restarts of [false, true]) {
  const when = restarts ? ', also for the next leader' : '';
  test(`a node whose path to the API server failed is reachable until the end of that hold${when}`, async () => {
    await using world = await aPathFailure({ controlPlanePathFailureHoldMs: 120_000 });
    if (restarts) await world.restart();
    await world.advance(100);
    assert.deepEqual(removals(world), []);
    await world.advance(20);
    assert.deepEqual(removals(world), ['delete web'], 'silent for another reason from then on');
  });
}

test('a pod that a budget held during a path failure is held by it when the nodes are back', async () => {
  await using world = await aPathFailure();
  world.renewing(...pathFailed);
  for (const node of pathFailed) world.post(node, node === 'a-0' ? 'False' : 'True');
  await world.advance(600);
  assert.deepEqual(removals(world), []);
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
});

test('a node that becomes silent by itself during a path failure is not reachable', async () => {
  await using world = aZonedWorld(
    { a: 4, b: 4, c: 4 },
    { policies: [aPolicy({ evictReachable: { timeoutMs: 3_600_000 } })], nodeEvictionRate: 1 },
  );
  world.addPod('web', 'a-0');
  void new Budget(world);
  await world.running(1);
  world.post('a-0', 'False');
  await world.silentFor(30, ...names(4, 'b-'), ...names(4, 'c-'), 'a-1');
  await world.silentFor(60, 'a-0');
  assert.equal(world.decided('acts-held').length, 1);
  assert.deepEqual(removals(world), ['delete web']);
});

/** Holds that come and go, each for some seconds. */
const hiccups: readonly (readonly [string, (world: ControllerWorld, on: boolean) => void])[] = [
  ['a pause', (world, on) => world.changeOptions({ paused: on })],
  ['stale watches', (world, on) => (on ? world.loseContact() : world.restoreContact())],
];

for (const [title, hold] of hiccups) {
  test(`${title} of 8 s every 100 s does not restart the timeout, and is not counted`, async () => {
    await using world = aWorld();
    const budget = new Budget(world);
    await world.advance(1);
    world.post('a-0', 'False');
    await world.advance(50);
    assert.ok(budget.asked.length > 0);
    for (let round = 0; round < 6; round += 1) {
      hold(world, true);
      await world.advance(8);
      hold(world, false);
      await world.advance(92);
    }
    assert.deepEqual(removals(world), ['delete web']);
    // With the time in which watches that opened again are observed.
    const [leastS, mostS] = [8, 8 + 12 + 2];
    const heldS = (world.evictedAtSeconds('web') ?? NaN) - taintedAt(world, 'a-0') - timeoutSeconds;
    assert.ok(heldS >= leastS && heldS <= mostS, `one hold: ${heldS} s`);
  });
}

test('a hold that lasted for the whole timeout when a leader took over is not counted by it', async () => {
  await using world = aWorld();
  const budget = new Budget(world);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(20);
  world.changeOptions({ paused: true });
  await world.advance(timeoutSeconds * 2);
  await world.restart();
  await world.advance(timeoutSeconds);
  const asked = budget.asked.length;
  world.changeOptions({ paused: false });
  await world.advance(timeoutSeconds - 5);
  assert.ok(budget.asked.length > asked, 'it is asked again');
  assert.deepEqual(removals(world), []);
  await world.advance(10);
  assert.deepEqual(removals(world), ['delete web']);
});

test('a leader that finds the timeout over asks once before it deletes: a hold that has ended is not known to it', async () => {
  for (const [allows, expected] of [
    [true, 'evict web'],
    [false, 'delete web'],
  ] as const) {
    await using world = aWorld();
    const budget = new Budget(world);
    await world.advance(1);
    world.post('a-0', 'False');
    await world.advance(20);
    world.changeOptions({ paused: true });
    await world.advance(timeoutSeconds * 2);
    world.changeOptions({ paused: false });
    await world.advance(5);
    budget.allows = allows;
    await world.restart();
    await world.advance(5);
    assert.deepEqual(removals(world), [expected]);
  }
});

test('a pod that waited for a token for longer than the timeout is asked for before it is deleted', async () => {
  const limited = aPolicy({ evictReachable: { timeoutMs: 60_000 }, podDeletionsPerSecond: 0.1 });
  await using world = aWorld({ policies: [limited], unhealthyZoneThreshold: 1 });
  const budget = new Budget(world);
  for (const pod of names(20, 'lost-')) world.addPod(pod, 'a-1');
  await world.silentFor(60, 'a-1');
  world.post('a-0', 'False');
  await world.advance(100);
  assert.deepEqual(budget.asked, [], 'others are before it');
  await world.advance(60);
  const before = world.evicted().length;
  assert.ok(before < 20);
  await world.advance(70);
  assert.equal(world.evicted().includes('web'), false);
  const [first = Infinity] = budget.asked;
  await world.advance(60);
  const heldS = (world.evictedAtSeconds('web') ?? Infinity) - first;
  assert.ok(heldS >= 60 && heldS <= 75, `for the timeout after it was asked first: ${heldS} s`);
});

test('a toleration that is shortened when a deadline of long ago follows from it does not skip the budget', async () => {
  await using world = aWorld();
  const budget = new Budget(world);
  const key = 'node.kubernetes.io/not-ready';
  world.addPod('later', 'a-0', [{ key, operator: 'Exists', tolerationSeconds: 3_600 }]);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(timeoutSeconds * 2);
  const asked = budget.asked.length;
  world.changePod('later', (pod) => ({
    ...pod,
    spec: { ...pod.spec, tolerations: [{ key, operator: 'Exists', tolerationSeconds: 10 }] },
  }));
  await world.advance(timeoutSeconds - 10);
  assert.deepEqual(removals(world), ['delete web']);
  assert.ok(budget.asked.length > asked);
  await world.advance(20);
  assert.deepEqual(removals(world), ['delete web', 'delete later']);
});
