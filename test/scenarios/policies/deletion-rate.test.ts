// The rate of pod deletions of a policy: pods that are due wait for a token, and are evaluated again when it comes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import { Budget } from '../../support/budget.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainPod } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const pods = names(20, 'pod-');

/** 20 pods on `a-0`, at one deletion in 2 s; one on `b-0`, which is in no policy. */
function aWorld(over: Partial<ControllerOptions> = {}, perSecond = 0.5): ControllerWorld {
  const policies = [aPolicy({ podDeletionsPerSecond: perSecond })];
  const world = aZonedWorld({ a: 4, b: 4 }, { policies, nodeEvictionRate: 1, ...over });
  for (const pod of pods) world.addPod(pod, 'a-0');
  world.addPod('other', 'b-0');
  return world.start();
}

/** Seconds between a deletion and the next one. */
function gaps(world: ControllerWorld, ...without: readonly string[]): readonly number[] {
  const times = world.writes.flatMap(({ verb, name, atSeconds }) =>
    verb === 'patch' || without.includes(name) ? [] : [atSeconds],
  );
  return times.slice(1).map((at, place) => at - (times[place] ?? 0));
}

test('pods of the policy leave one by one at its rate, those of others at once', async () => {
  await using world = aWorld();
  await world.advance(1);
  for (const node of ['a-0', 'b-0']) world.post(node, 'False');
  await world.advance(20);
  const left = world.evicted().length - 1;
  assert.ok(world.evicted().includes('other'));
  assert.ok(left >= 8 && left <= 11, `${left} within 20 s, a part of which the taint takes`);
  assert.ok(
    gaps(world, 'other').every((gap) => gap >= 1.999),
    String(gaps(world, 'other')),
  );
  assert.equal(world.meter.read().get('node_lifecycle_waiting_pods{policy="zone-a",reason="rate"}'), 20 - left);
  const waiting = pods.filter((pod) => !world.evicted().includes(pod));
  const texts = waiting.map((pod) => describePodOutlook(explainPod(world, pod)));
  const ahead = texts.map((text) => /podDeletionsPerSecond 0.5\), (\d+) ahead/.exec(text)?.[1]);
  assert.deepEqual(
    ahead.map(Number).sort((a, b) => a - b),
    waiting.map((_, place) => place),
  );
  assert.match(texts.at(-1) ?? '', /next +pod default\/.* is evicted: in about \d+s/);
  await world.advance(30);
  assert.deepEqual([...world.evicted()].sort(), [...pods, 'other'].sort());
});

test('a node that recovers takes its waiting pods out, and the next token serves others', async () => {
  await using world = aWorld();
  world.addPod('second', 'a-1');
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(8);
  const before = world.evicted().length;
  world.post('a-1', 'False');
  await world.advance(2);
  world.recover('a-0');
  await world.advance(4);
  const after = world.evicted();
  assert.ok(after.includes('second'));
  assert.ok(after.length <= before + 3);
  await world.advance(120);
  assert.equal(world.evicted().length, after.length, 'the pods of the node that recovered stay');
});

test('pods whose deadline moves to a later time do not block those behind them', async () => {
  await using world = aWorld({}, 0.2);
  const disk = { key: 'example.com/disk', effect: 'NoExecute' };
  for (const name of ['slow-0', 'slow-1', 'slow-2'])
    world.addPod(name, 'a-2', [{ key: disk.key, operator: 'Exists', tolerationSeconds: 600 }]);
  world.setTaints('a-2', [{ ...disk, timeAdded: formatTime(world.clock.nowMs()) }]);
  await world.advance(1);
  world.post('a-2', 'False');
  await world.advance(7);
  world.addPod('second', 'a-1');
  world.post('a-1', 'False');
  await world.advance(5);
  const before = world.evicted().length;
  world.recover('a-2');
  await world.advance(6);
  assert.ok(world.evicted().includes('second'), world.evicted().join());
  assert.equal(world.evicted().length, before + 1);
  await world.advance(600);
  assert.equal(world.evicted().length, 4, 'for the taint of another client, without a token');
});

test('a higher rate applies at once, and no rate releases all', async () => {
  await using world = aWorld({}, 0.01);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(20);
  assert.equal(world.evicted().length, 1, 'the burst');
  world.changeOptions({ policies: [aPolicy({ podDeletionsPerSecond: 1 })] });
  await world.advance(5.5);
  assert.ok(world.evicted().length >= 6 && world.evicted().length <= 7, String(world.evicted().length));
  world.changeOptions({ policies: [aPolicy()] });
  await world.advance(0.5);
  assert.equal(world.evicted().length, pods.length);
});

test('a takeover deletes at most the burst at once', async () => {
  await using world = aWorld({}, 0.2);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(12);
  const before = world.evicted().length;
  await world.restart();
  await world.advance(4);
  assert.equal(world.evicted().length, before + 1);
});

test('a token is spent on a deletion only: failures and pods that budgets hold return it', async () => {
  const policies = [aPolicy({ podDeletionsPerSecond: 1, evictReachable: { timeoutMs: 600_000 } })];
  await using world = aWorld({ policies });
  const budget = new Budget(world);
  world.addPod('free', 'a-1');
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(30);
  assert.deepEqual(world.evicted(), []);
  assert.ok(budget.asked.length > 2 * pods.length, `${budget.asked.length} requests without a token in between`);
  world.goSilent('a-1');
  await world.advance(58);
  assert.deepEqual(world.evicted(), ['free']);
});

test('a hold of one node does not stop the pods of others, which keep their places', async () => {
  await using world = aWorld({}, 0.2);
  world.addPod('second', 'a-1');
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(3);
  world.post('a-1', 'False');
  await world.advance(2);
  world.annotatePause('a-0', 'true');
  await world.advance(12);
  assert.ok(world.evicted().includes('second'));
  const held = world.evicted().length;
  await world.advance(60);
  assert.equal(world.evicted().length, held);
  world.annotatePause('a-0', undefined);
  await world.advance(11);
  assert.ok(world.evicted().length >= held + 2);
});

test('eviction mode: the same rate', async () => {
  const options = { taintBasedEvictions: false, podEvictionTimeoutMs: 10_000 };
  await using world = aWorld(options, 0.5);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(12);
  const first = world.evicted().length;
  await world.advance(20);
  const left = world.evicted().length - first;
  assert.ok(left >= 9 && left <= 11, `${left} within 20 s`);
  const waiting = pods.filter((pod) => !world.evicted().includes(pod));
  assert.equal(world.meter.read().get('node_lifecycle_waiting_pods{policy="zone-a",reason="rate"}'), waiting.length);
  const places = waiting.map((pod) => {
    const outlook = explainPod(world, pod);
    const ahead = Number(/podDeletionsPerSecond 0.5\), (\d+) ahead/.exec(describePodOutlook(outlook))?.[1]);
    const inSeconds = outlook.eviction?.when?.inSeconds ?? NaN;
    assert.ok(inSeconds >= ahead * 2 && inSeconds <= ahead * 2 + 2.1, `${inSeconds} s, ${ahead} ahead`);
    return ahead;
  });
  assert.deepEqual(
    places.sort((a, b) => a - b),
    waiting.map((_, place) => place),
  );
  await world.advance(60);
  assert.equal(world.evicted().length, pods.length);
});

/**
 * Number of requests for each pod within the last minute of three, where each is denied after 300 ms; `step` is called every
 * 2.5 s.
 */
async function deniedInAMinute(world: ControllerWorld, step = (_round: number): void => undefined): Promise<number[]> {
  const times: { readonly name: string; readonly atMs: number }[] = [];
  const over = new AbortController();
  world.beforeWrite = async ({ resource, name }) => {
    if (resource !== 'pods') return;
    times.push({ name, atMs: world.clock.monotonicMs() });
    await world.clock.sleep(300, over.signal);
    throw new ApiError({ reason: 'forbidden', message: 'denied' });
  };
  await world.advance(1);
  world.post('a-0', 'False');
  for (let round = 0; round < 72; round += 1) {
    step(round);
    await world.advance(2.5);
  }
  over.abort();
  const fromMs = world.clock.monotonicMs() - 60_000;
  return pods.map((pod) => times.filter(({ name, atMs }) => name === pod && atMs >= fromMs).length);
}

const modes: Readonly<Record<string, Partial<ControllerOptions>>> = {
  taints: {},
  'eviction mode': { taintBasedEvictions: false, podEvictionTimeoutMs: 10_000 },
};

for (const [mode, over] of Object.entries(modes))
  test(`${mode}: a wait for a token does not end the backoff of requests that are denied`, async () => {
    await using world = aWorld(over, 0.5);
    const requests = await deniedInAMinute(world);
    assert.ok(Math.max(...requests) <= 5, requests.join());
  });

for (const [mode, over] of Object.entries(modes))
  test(`${mode}: a hold that begins again and again does not end it either`, async () => {
    await using world = aWorld(over, 100);
    const requests = await deniedInAMinute(world, (round) => {
      world.annotatePause('a-0', round % 2 === 0 ? 'true' : undefined);
    });
    assert.ok(Math.max(...requests) <= 5, requests.join());
  });
