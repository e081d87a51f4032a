import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type TokenAnswer, TokenQueues } from '../../../../src/machinery/queueing/token-queues.ts';

const slow = { queue: 'slow', ratePerSecond: 0.5 };

class Stand {
  nowMs = 1_000;
  readonly absent = new Set<string>();
  /** The last call of each key, as `key` and the time at which it is to ask. */
  readonly called = new Map<string, number>();
  readonly queues = new TokenQueues({
    nowMs: () => this.nowMs,
    onFirst: (key, afterMs) => this.called.set(key, this.nowMs + afterMs),
    willTry: (key) => !this.absent.has(key),
  });

  tryTake(key: string, rate = slow): TokenAnswer {
    return this.queues.tryTake(key, rate);
  }

  kinds(...keys: readonly string[]): readonly string[] {
    return keys.map((key) => this.tryTake(key).kind);
  }
}

test('first come, first served: the next one is called when its token is there', () => {
  const stand = new Stand();
  assert.deepEqual(stand.kinds('a', 'b', 'c'), ['granted', 'wait', 'wait']);
  stand.nowMs += 2_000;
  assert.deepEqual(stand.kinds('c', 'b', 'c'), ['wait', 'granted', 'wait']);
  assert.equal(stand.called.get('c'), stand.nowMs + 2_000);
  assert.deepEqual(stand.queues.waitingIn('slow'), ['c']);
});

test('the burst is one second, and one token at least', () => {
  const stand = new Stand();
  const fast = { queue: 'fast', ratePerSecond: 3 };
  const kinds = ['a', 'b', 'c', 'd'].map((key) => stand.tryTake(key, fast).kind);
  assert.deepEqual(kinds, ['granted', 'granted', 'granted', 'wait']);
});

test('a key that rests keeps its place, and delays no other', () => {
  const stand = new Stand();
  stand.kinds('a', 'b', 'c');
  stand.queues.backOff('b');
  stand.nowMs += 2_000;
  assert.deepEqual(stand.kinds('c', 'd'), ['granted', 'wait']);
  stand.nowMs += 2_000;
  assert.equal(stand.tryTake('b').kind, 'granted', 'before d, which came later');
});

test('a token that is given back is there for the next one at once', () => {
  const stand = new Stand();
  const first = stand.tryTake('a');
  stand.tryTake('b');
  if (first.kind === 'granted') first.returnToken();
  assert.equal(stand.called.get('b'), stand.nowMs);
  assert.equal(stand.tryTake('b').kind, 'granted');
});

test('a key that got a token is at the end when it asks again', () => {
  const stand = new Stand();
  assert.deepEqual(stand.kinds('a', 'b'), ['granted', 'wait']);
  stand.tryTake('a');
  stand.nowMs += 2_000;
  assert.deepEqual(stand.kinds('a', 'b'), ['wait', 'granted']);
});

test('a token that is given back after it was replaced grants nothing', () => {
  const stand = new Stand();
  const first = stand.tryTake('a');
  stand.nowMs += 10_000;
  assert.equal(stand.tryTake('b').kind, 'granted');
  if (first.kind === 'granted') first.returnToken();
  assert.equal(stand.tryTake('c').kind, 'wait');
});

test('all of a burst can be given back, whatever was asked meanwhile', () => {
  const stand = new Stand();
  const fast = { queue: 'fast', ratePerSecond: 4 };
  const answers = ['a', 'b', 'c', 'd'].map((key) => {
    stand.nowMs += 1;
    return stand.tryTake(key, fast);
  });
  for (const answer of answers) if (answer.kind === 'granted') answer.returnToken();
  const kinds = ['e', 'f', 'g', 'h'].map((key) => stand.tryTake(key, fast).kind);
  assert.deepEqual(kinds, ['granted', 'granted', 'granted', 'granted']);
});

test('a key that leaves, or will not ask again, blocks no other', () => {
  const stand = new Stand();
  stand.kinds('a', 'b', 'c', 'd');
  stand.queues.leave('b');
  stand.absent.add('c');
  stand.nowMs += 2_000;
  assert.deepEqual(stand.kinds('d'), ['granted']);
  assert.equal(stand.queues.queueOf('c'), undefined);
  stand.queues.leave('d');
  assert.equal(stand.queues.size, 0);
});

test('another rate applies from the next question on, and grants nothing by itself', () => {
  const stand = new Stand();
  stand.kinds('a', 'b');
  assert.equal(stand.tryTake('b', { queue: 'slow', ratePerSecond: 10 }).kind, 'wait');
  stand.nowMs += 100;
  assert.equal(stand.tryTake('b', { queue: 'slow', ratePerSecond: 10 }).kind, 'granted');
});

test('a key that moves to another queue is at its end, and the queue that it left goes on', () => {
  const stand = new Stand();
  stand.kinds('a', 'b', 'c');
  stand.tryTake('x', { queue: 'other', ratePerSecond: 0.5 });
  assert.equal(stand.tryTake('b', { queue: 'other', ratePerSecond: 0.5 }).kind, 'wait');
  stand.nowMs += 2_000;
  assert.deepEqual(stand.kinds('c'), ['granted']);
});

test('however late tokens are given back, in any window at most rate x window + burst are spent', () => {
  const action = fc.record({
    do: fc.constantFrom('ask', 'ask', 'pass', 'give back', 'keep'),
    place: fc.nat({ max: 9 }),
    ms: fc.integer({ min: 0, max: 3_000 }),
  });
  const rates = fc.constantFrom(0.5, 1, 3, 7);
  fc.assert(
    fc.property(rates, fc.array(action, { maxLength: 120 }), (ratePerSecond, actions) => {
      const stand = new Stand();
      const flying: { readonly atMs: number; readonly returnToken: () => void }[] = [];
      const spent: number[] = [];
      for (const [turn, { do: what, place, ms }] of actions.entries()) {
        if (what === 'pass') stand.nowMs += ms;
        else if (what === 'ask') {
          const key = `pod-${turn}`;
          const answer = stand.tryTake(key, { queue: 'all', ratePerSecond });
          stand.queues.leave(key);
          if (answer.kind === 'granted') flying.push({ atMs: stand.nowMs, returnToken: answer.returnToken });
        } else {
          const [one] = flying.splice(place % Math.max(1, flying.length), 1);
          if (what === 'give back') one?.returnToken();
          else if (one !== undefined) spent.push(one.atMs);
        }
      }
      spent.push(...flying.map(({ atMs }) => atMs));
      spent.sort((a, b) => a - b);
      const burst = Math.max(1, ratePerSecond);
      for (const [from, fromMs] of spent.entries())
        for (const [to, toMs] of spent.entries())
          if (to >= from) assert.ok(to - from + 1 <= ((toMs - fromMs) / 1_000) * ratePerSecond + burst + 1e-6);
    }),
  );
});

test('in any window at most rate x window + burst tokens are spent, and every key that asks gets one', () => {
  const action = fc.record({
    do: fc.constantFrom('ask', 'rest', 'leave', 'pass', 'return'),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    ms: fc.integer({ min: 0, max: 3_000 }),
  });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), (actions) => {
      const stand = new Stand();
      const spent: number[] = [];
      for (const { do: what, key, ms } of actions) {
        if (what === 'pass') stand.nowMs += ms;
        else if (what === 'rest') stand.queues.backOff(key);
        else if (what === 'leave') stand.queues.leave(key);
        else {
          const answer = stand.tryTake(key);
          if (answer.kind === 'granted' && what === 'return') answer.returnToken();
          else if (answer.kind === 'granted') spent.push(stand.nowMs);
        }
      }
      for (const [place, fromMs] of spent.entries())
        for (const [later, untilMs] of spent.entries())
          if (later >= place)
            assert.ok(later - place + 1 <= ((untilMs - fromMs) / 1_000) * slow.ratePerSecond + 1 + 1e-6);
      for (const key of ['a', 'b', 'c', 'd', 'e']) {
        const granted = Array.from({ length: 20 }, () => {
          stand.nowMs += 2_000;
          const answers = ['a', 'b', 'c', 'd', 'e'].map((each) => [each, stand.tryTake(each).kind] as const);
          for (const [each, kind] of answers) if (kind === 'granted') stand.queues.leave(each);
          return answers.some(([each, kind]) => each === key && kind === 'granted');
        });
        assert.ok(granted.includes(true), `${key} gets a token`);
      }
    }),
  );
});
