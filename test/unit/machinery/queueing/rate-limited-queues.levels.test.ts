// Queues of zones that share the bucket of an outer zone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type RateLimit, RateLimitedQueues } from '../../../../src/machinery/queueing/rate-limited-queues.ts';

const outer = 'a:*';
const outerOf = (zone: string): string | undefined => (zone.startsWith('a:') && zone !== outer ? outer : undefined);

function someQueues(
  limitOf: (zone: string) => RateLimit = () => ({ ratePerSecond: 0.1, burst: 1 }),
): RateLimitedQueues {
  return new RateLimitedQueues({ limit: limitOf, onLength: () => undefined, outerOf });
}

/** Serves what is due, in order; every key is an action that succeeds. */
function serve(queues: RateLimitedQueues, nowMs: number): readonly string[] {
  const served: string[] = [];
  for (const zone of queues.inServingOrder()) {
    const queue = queues.get(zone);
    for (let key = queue?.peekDue(nowMs); key !== undefined; key = queue?.peekDue(nowMs)) {
      if (queue?.tryTakeToken(nowMs) !== true) break;
      queues.remove(key);
      served.push(key);
    }
  }
  return served;
}

test('an action needs a token of its zone and one of the outer zone', () => {
  const queues = someQueues();
  for (const key of ['r1-a', 'r1-b']) queues.add(key, 'a:r1', 0);
  queues.add('r2-a', 'a:r2', 0);
  queues.add('b-a', 'b', 0);
  assert.deepEqual(serve(queues, 0), ['r1-a', 'b-a']);
  assert.equal(
    queues.get('a:r2')?.bucket.canTake(0),
    true,
    'no token of a zone is spent without one of the outer zone',
  );
  assert.equal(queues.nextDueMs(0), 10_000);
});

test('zones of one outer zone are served in turn, so that none starves', () => {
  const queues = someQueues();
  for (const place of [1, 2, 3]) for (const zone of ['r1', 'r2', 'r3']) queues.add(`${zone}-${place}`, `a:${zone}`, 0);
  const order = Array.from({ length: 9 }, (_, turn) => serve(queues, turn * 10_000)).flat();
  assert.deepEqual(order, ['r1-1', 'r2-1', 'r3-1', 'r1-2', 'r2-2', 'r3-2', 'r1-3', 'r2-3', 'r3-3']);
});

test('either level stops a zone, and a later rate lets it go on', () => {
  const queues = someQueues();
  queues.add('r1-a', 'a:r1', 0);
  queues.swapRate(outer, 0, 0);
  assert.equal(queues.get('a:r1')?.ratePerSecond, 0);
  assert.deepEqual([serve(queues, 100_000), queues.nextDueMs(100_000)], [[], Infinity]);
  queues.swapRate(outer, 1, 100_000);
  assert.equal(queues.nextDueMs(100_000), 101_000, 'a change of rate grants no action');
  queues.swapRate('a:r1', 0, 101_000);
  assert.deepEqual(serve(queues, 200_000), []);
});

test('a returned token is returned to both levels, and a spent one is restored in both', () => {
  const queues = someQueues();
  const [first, second] = [queues.ensure('a:r1', 0), queues.ensure('a:r2', 0)];
  assert.ok(first.tryTakeToken(0));
  assert.equal(second.tryTakeToken(0), false);
  first.returnToken(0, 0);
  assert.ok(second.tryTakeToken(0));
  second.returnToken(0, 0);
  first.restoreSpent(-4_000, 0);
  assert.deepEqual([first.nextTokenAtMs(0), second.nextTokenAtMs(0)], [6_000, 6_000]);
  assert.equal(second.bucket.canTake(0), true, 'of the other zone the outer one only');
});

test('an outer zone is dropped with its last zone, and its spent bucket is remembered until it is full', () => {
  const queues = someQueues();
  queues.add('r1-a', 'a:r1', 0);
  assert.deepEqual(serve(queues, 0), ['r1-a']);
  queues.add('r1-b', 'a:r1', 0);
  queues.forget(outer, 0);
  queues.forget('a:r1', 0);
  assert.deepEqual(queues.zones(), [outer, 'a:r1'], 'a key waits still');
  assert.deepEqual(serve(queues, 10_000), ['r1-b']);
  assert.deepEqual(queues.zones(), []);
  queues.dropFullBuckets(15_000);
  assert.equal(queues.ensure('a:r2', 15_000).tryTakeToken(15_000), false, 'the outer zone comes back with its bucket');
  queues.forget('a:r2', 15_000);
  queues.forget(outer, 15_000);
  queues.dropFullBuckets(30_000);
  assert.equal(queues.zonesRemembered, 0);
});

const zones = ['a:r1', 'a:r2', 'a:r3', 'b'];
const rates = [0.05, 0.1, 0.5, 0];
const aStep = fc.oneof(
  fc.record({ advanceMs: fc.integer({ min: 1, max: 8_000 }) }),
  fc.record({ advanceMs: fc.integer({ min: 1, max: 8_000 }) }),
  fc.record({ addTo: fc.constantFrom(...zones) }),
  fc.record({ addTo: fc.constantFrom(...zones) }),
  fc.record({ failOf: fc.nat() }),
  fc.record({ rateOf: fc.constantFrom(...zones, outer), rate: fc.constantFrom(...rates) }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

interface Act {
  readonly zone: string;
  readonly takenAtMs: number;
  /** It did not happen. */
  hasFailed: boolean;
}

class QueueRun {
  readonly queues = someQueues();
  readonly acts: Act[] = [];
  readonly rateMax = new Map<string, number>();
  nowMs = 0;
  #keys = 0;

  apply(step: Step): void {
    if ('advanceMs' in step) this.nowMs += step.advanceMs;
    else if ('addTo' in step) this.queues.add(`k${this.#keys++}`, step.addTo, this.nowMs);
    else if ('rateOf' in step) this.#swap(step.rateOf, step.rate);
    else this.#fail(step.failOf);
    this.#serve();
  }

  #swap(zone: string, rate: number): void {
    this.rateMax.set(zone, Math.max(rate, this.rateMax.get(zone) ?? 0.1));
    this.queues.swapRate(zone, rate, this.nowMs);
  }

  /** The answer to a write that may be long under way: it was not carried out. */
  #fail(place: number): void {
    const act = this.acts.filter(({ hasFailed }) => !hasFailed)[place % Math.max(1, this.acts.length)];
    if (act === undefined) return;
    act.hasFailed = true;
    this.queues.ensure(act.zone, this.nowMs).returnToken(this.nowMs, act.takenAtMs);
  }

  #serve(): void {
    for (const zone of this.queues.inServingOrder()) {
      const queue = this.queues.get(zone);
      for (let key = queue?.peekDue(this.nowMs); key !== undefined; key = queue?.peekDue(this.nowMs)) {
        if (queue?.tryTakeToken(this.nowMs) !== true) break;
        this.queues.remove(key);
        this.acts.push({ zone, takenAtMs: this.nowMs, hasFailed: false });
      }
    }
  }

  /** The times of what happened in this zone, or in the zones of this outer zone. */
  timesOf(zone: string): readonly number[] {
    const own = this.acts.filter((act) => !act.hasFailed && (act.zone === zone || outerOf(act.zone) === zone));
    return own.map(({ takenAtMs }) => takenAtMs);
  }
}

/** From each act to each later one. */
function checkWindows(times: readonly number[], perMs: number): void {
  for (const [from, fromMs] of times.entries())
    for (const [later, toMs] of times.slice(from).entries())
      assert.ok(later + 1 <= perMs * (toMs - fromMs) + 1 + 1e-6, `${perMs}: ${times.join(' ')}`);
}

test('in every window each level gets rate x window + burst at most, whatever fails and however rates change', () => {
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 120 }), (steps) => {
      const run = new QueueRun();
      for (const step of steps) run.apply(step);
      for (const zone of [...zones, outer]) checkWindows(run.timesOf(zone), (run.rateMax.get(zone) ?? 0.1) / 1_000);
    }),
  );
});

test('while no rate is 0 every key is served in the end, and a token is taken for each of them only', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...zones), { maxLength: 30 }), (added) => {
      const queues = someQueues();
      for (const [place, zone] of added.entries()) queues.add(`k${place}`, zone, 0);
      const served: string[] = [];
      let nowMs = 0;
      while (Number.isFinite(nowMs) && served.length < added.length) {
        served.push(...serve(queues, nowMs));
        if (queues.size > 0) nowMs = Math.max(nowMs + 1e-6, queues.nextDueMs(nowMs));
      }
      assert.deepEqual([served.length, queues.size], [added.length, 0]);
      const inOuter = added.filter((zone) => outerOf(zone) !== undefined).length;
      assert.ok(nowMs <= Math.max(inOuter, added.length - inOuter) * 10_000 + 1e-3, `${nowMs} ms`);
    }),
  );
});
