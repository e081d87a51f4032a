import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  estimateRateAfterLoss,
  estimateRecoveriesToNormal,
} from '../../../../src/controller/report/estimate-hypotheses.ts';
import { buildZoneHolds } from '../../../../src/controller/report/build-holds.ts';
import { formatEstimate, formatPast } from '../../../../src/controller/report/format-time.ts';
import { estimateSlotMs, type SlotConditions } from '../../../../src/controller/report/estimate-slot.ts';
import { describeArithmetic } from '../../../../src/controller/report/build-zone-outlook.ts';
import type { QueueReport } from '../../../../src/controller/report/reports.ts';
import { defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import { classifyZone, planRates } from '../../../../src/controller/zones/plan-rates.ts';
import { RateLimitedQueue } from '../../../../src/machinery/queueing/rate-limited-queue.ts';
import { TokenBucket } from '../../../../src/machinery/queueing/token-bucket.ts';

const rates = fc.constantFrom(0, 0.01, 0.1, 1, 2.5);

function lineOf(queue: RateLimitedQueue, nowMs: number): QueueReport {
  const { ratePerSecond } = queue;
  const nextTokenAtMs = queue.nextTokenAtMs(nowMs);
  return { nodes: queue.keysInOrder(), tokens: queue.tokens(nowMs), nextTokenAtMs, ratePerSecond };
}

const freely: SlotConditions = { notBeforeMs: -Infinity, change: undefined };

/** Serves each node as soon as a token is available, and returns when each was served. */
function serveAll(queue: RateLimitedQueue, fromMs: number, untilMs: number): ReadonlyMap<string, number> {
  const served = new Map<string, number>();
  for (let nowMs = fromMs; ; ) {
    nowMs = queue.nextTokenAtMs(nowMs);
    const head = queue.peekDue(nowMs);
    if (nowMs > untilMs || head === undefined) return served;
    assert.ok(queue.tryTakeToken(nowMs));
    queue.remove(head);
    served.set(head, nowMs);
  }
}

test('predicted serving times are those of a real queue', () => {
  fc.assert(
    fc.property(rates, fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 200_000 }), (rate, length, nowMs) => {
      const queue = new RateLimitedQueue(new TokenBucket(rate, 1, 0));
      queue.tryTakeToken(0);
      for (let i = 0; i < length; i++) queue.add(`n${i}`, nowMs);
      const line = lineOf(queue, nowMs);
      const predicted = line.nodes.map((_, ahead) =>
        estimateSlotMs(line, { queued: ahead + 1, arrivalsMs: [] }, freely),
      );
      const served = serveAll(queue, nowMs, 1e9);
      for (const [ahead, node] of line.nodes.entries()) {
        const servedMs = served.get(node) ?? Infinity;
        if (servedMs === Infinity) assert.equal(predicted[ahead], Infinity);
        else assert.ok(Math.abs((predicted[ahead] ?? 0) - servedMs) < 0.01, `${predicted[ahead]} is not ${servedMs}`);
      }
    }),
  );
});

test('the predicted time of a node that will join and change the rate is that of a real queue', () => {
  const waits = fc.integer({ min: 0, max: 100_000 });
  fc.assert(
    fc.property(rates, rates, fc.integer({ min: 0, max: 5 }), waits, (before, after, length, waitMs) => {
      const nowMs = 1_000;
      const queue = new RateLimitedQueue(new TokenBucket(before, 1, 0));
      queue.tryTakeToken(0);
      for (let i = 0; i < length; i++) queue.add(`n${i}`, nowMs);
      const atMs = nowMs + waitMs;
      const conditions = { ...freely, change: { atMs, ratePerSecond: after } };
      const predicted = estimateSlotMs(lineOf(queue, nowMs), { queued: length, arrivalsMs: [atMs] }, conditions);
      serveAll(queue, nowMs, atMs);
      queue.swapRate(after, atMs);
      queue.add('late', atMs);
      const servedMs = serveAll(queue, atMs, 1e9).get('late') ?? Infinity;
      if (servedMs === Infinity) assert.equal(predicted, Infinity);
      else assert.ok(Math.abs(predicted - servedMs) < 0.01, `${predicted} is not ${servedMs}`);
    }),
  );
});

test('nodes that join earlier count, a rate may change meanwhile, and no node is served during a hold', () => {
  const times = fc.integer({ min: 0, max: 100_000 });
  // Never at the instant of a token: the order of the two is then a matter of rounding.
  const changes = times.map((ms) => ms + 0.5);
  const arrivals = fc.array(times, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      rates,
      rates,
      arrivals,
      fc.tuple(changes, times),
      (before, after, unsorted, [changeMs, notBeforeMs]) => {
        const arrivalsMs = unsorted.toSorted((a, b) => a - b);
        const queue = new RateLimitedQueue(new TokenBucket(before, 1, 0));
        queue.tryTakeToken(0);
        const conditions = { notBeforeMs, change: { atMs: changeMs, ratePerSecond: after } };
        const predicted = estimateSlotMs(lineOf(queue, 0), { queued: 0, arrivalsMs }, conditions);
        const served = new Map<string, number>();
        let nowMs = 0;
        for (const atMs of [...new Set([...arrivalsMs, changeMs, 1e9])].sort((a, b) => a - b)) {
          for (const [key, turnMs] of serveAll(queue, Math.max(nowMs, notBeforeMs), atMs)) served.set(key, turnMs);
          nowMs = atMs;
          if (atMs === changeMs) queue.swapRate(after, atMs);
          for (const [place, arrivalMs] of arrivalsMs.entries()) if (arrivalMs === atMs) queue.add(`n${place}`, atMs);
        }
        const servedMs = served.get(`n${arrivalsMs.length - 1}`) ?? Infinity;
        if (servedMs === Infinity) assert.equal(predicted, Infinity);
        else assert.ok(Math.abs(predicted - servedMs) < 0.01, `${predicted} is not ${servedMs}`);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('the predicted number of recoveries makes a zone normal, and one less does not', () => {
  const counts = fc.integer({ min: 0, max: 300 });
  fc.assert(
    fc.property(counts, counts, fc.double({ min: 0.01, max: 1, noNaN: true }), (ready, unready, threshold) => {
      const needed = estimateRecoveriesToNormal({ ready, unready }, threshold) ?? 0;
      const after = (recovered: number): string =>
        classifyZone({ ready: ready + recovered, unready: unready - recovered }, threshold);
      assert.equal(after(needed), 'normal');
      if (needed > 0) assert.notEqual(after(needed - 1), 'normal');
    }),
  );
});

test('the predicted rate after a loss is the rate of the zone once it has lost the node', () => {
  const tallies = new Map([
    ['a', { ready: 3, unready: 2 }],
    ['b', { ready: 1, unready: 0 }],
  ]);
  assert.equal(
    estimateRateAfterLoss('a', tallies, () => defaultControllerOptions),
    0,
    'three of five: a small zone stops',
  );
  const actual = estimateRateAfterLoss('b', tallies, () => defaultControllerOptions);
  assert.equal(actual, 0.1, 'a fully disrupted zone among others');
  assert.equal(
    estimateRateAfterLoss('b', new Map([['b', { ready: 1, unready: 0 }]]), () => defaultControllerOptions),
    0,
  );
  assert.equal(tallies.get('a')?.ready, 3, 'nothing was changed');
});

const readings: readonly (readonly [number, number, Readonly<Record<string, readonly [number, number]>>, string])[] = [
  [2, 3, {}, '3/5 not ready = 0.60 >= 0.55 -> partially-disrupted, zone size 5 <= 50 -> rate 0'],
  [24, 36, {}, '36/60 not ready = 0.60 >= 0.55 -> partially-disrupted, zone size 60 > 50 -> rate 0.01'],
  [9, 1, {}, '1/10 not ready = 0.10 < 0.55 -> normal -> rate 0.1'],
  [1, 2, {}, '2/3 not ready = 0.67 >= 0.55, but fewer than 3 are not ready -> normal -> rate 0.1'],
  [453, 547, {}, '547/1000 not ready = 0.5470 < 0.55 -> normal -> rate 0.1'],
  [
    0,
    4,
    { other: [1, 0] },
    '4/4 not ready = 1.00, none ready -> fully-disrupted, other zones have ready nodes -> rate 0.1',
  ],
  [0, 4, {}, '4/4 not ready = 1.00, none ready -> fully-disrupted, no zone has a ready node -> rate 0'],
  [0, 0, { other: [1, 0] }, 'no node counts -> normal -> rate 0.1'],
];

for (const [ready, unready, others, reading] of readings) {
  test(`the arithmetic of ${ready} ready and ${unready} unready reads: ${reading}`, () => {
    const rest = Object.entries(others).map(([zone, [r, u]]) => [zone, { ready: r, unready: u }] as const);
    const tallies = new Map([['a', { ready, unready }], ...rest]);
    const plan = planRates(tallies, () => defaultControllerOptions).zones.find(({ zone }) => zone === 'a');
    assert.ok(plan);
    assert.equal(describeArithmetic(plan.why, plan.condition, plan.ratePerSecond), reading);
  });
}

test('a queue that a flag has stopped is started by that flag', () => {
  const options = { ...defaultControllerOptions, nodeEvictionRate: 0 };
  const plan = planRates(new Map([['a', { ready: 5, unready: 1 }]]), () => options).zones[0];
  assert.ok(plan);
  const queue: QueueReport = { nodes: ['n'], tokens: 0, nextTokenAtMs: Infinity, ratePerSecond: plan.ratePerSecond };
  const report = {
    zone: 'a',
    condition: plan.condition,
    arithmetic: plan.why,
    queue,
    waiting: 1,
    allowed: { ratePerSecond: 0, tokens: 0 },
    recoveriesToNormal: undefined,
    outer: undefined,
    competing: [],
    placeOf: () => 0,
  };
  assert.deepEqual(buildZoneHolds(report), [
    {
      kind: 'zone-stopped',
      zone: 'a',
      rule: 'normal',
      unblockedBy: [{ kind: 'flag', flag: 'node-eviction-rate', wanted: 'above 0' }],
    },
  ]);
});

test('times use the wall clock; never is null, and an overdue time is now', () => {
  const now = { monotonicMs: 50_000, wallMs: Date.parse('2026-01-02T03:04:05Z') };
  assert.deepEqual(formatEstimate(61_500, now), {
    estimate: true,
    at: '2026-01-02T03:04:16.500000Z',
    inSeconds: 11.5,
  });
  assert.deepEqual(formatEstimate(Infinity, now), { estimate: true, at: null, inSeconds: null });
  assert.equal(formatEstimate(10, now).inSeconds, 0);
  assert.deepEqual(formatPast(49_000, now), { at: '2026-01-02T03:04:04.000000Z', secondsAgo: 1 });
});
