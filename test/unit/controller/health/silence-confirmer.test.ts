import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import type { LeaseView } from '../../../../src/machinery/api/lease.ts';
import type { Decision } from '../../../../src/controller/model/decisions.ts';
import { type SilenceAnswer, SilenceConfirmer } from '../../../../src/controller/health/silence-confirmer.ts';
import { MutationCache } from '../../../../src/machinery/informer/mutation-cache.ts';
import type { LeaseRead } from '../../../../src/machinery/ports/leases.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const holdMs = 60_000;
const missing: LeaseRead = { kind: 'missing' };

describe('confirming that nodes are silent', () => {
  let clock: ManualClock;
  let confirmer: SilenceConfirmer;
  let decisions: Decision[];
  let wakeUps: number;
  let underway: number;
  let underwayMax: number;
  let read: string[];
  /** How long each list of all leases may wait for its retries. */
  let patience: ({ readonly waitMsMax: number } | undefined)[];
  /** What a list of all leases comes to. */
  let readAll: () => Promise<ReadonlyMap<string, LeaseRead>>;
  /** How long the read of this lease takes, and what it comes to. */
  let readOne: (node: string) => { readonly takesMs: number; readonly answer: LeaseRead };

  beforeEach(() => {
    clock = new ManualClock();
    decisions = [];
    read = [];
    patience = [];
    [wakeUps, underway, underwayMax] = [0, 0, 0];
    readAll = () => Promise.reject(new ApiError({ reason: 'unavailable', message: 'scripted' }));
    readOne = () => ({ takesMs: 0, answer: missing });
    confirmer = new SilenceConfirmer({
      live: {
        readAll: (waits) => {
          patience.push(waits);
          return readAll();
        },
        readOne: readSlowly,
      },
      leases: new MutationCache<LeaseView>(() => undefined),
      loss: { evaluate: () => 'over', forget: () => undefined, size: 0 },
      options: { current: () => ({ leaseConfirmationHoldMs: holdMs }) },
      freshness: { staleness: () => undefined, foundBehind: () => undefined },
      transitions: { withhold: () => undefined },
      decisions: { note: (decision) => void decisions.push(decision) },
      clock,
      alarm: { wakeUp: () => void (wakeUps += 1) },
    });
  });

  async function readSlowly(node: string): Promise<LeaseRead> {
    const { takesMs, answer } = readOne(node);
    read.push(node);
    underway += 1;
    underwayMax = Math.max(underwayMax, underway);
    await clock.sleep(takesMs, new AbortController().signal);
    underway -= 1;
    return answer;
  }

  const names = (count: number): readonly string[] => Array.from({ length: count }, (_, place) => `n${place}`);
  const ask = (nodes: readonly string[]): void => confirmer.confirm(nodes.map((node) => ({ node, heartbeatAtMs: 1 })));
  const found = (what: SilenceAnswer['found']): number =>
    confirmer.takeAnswers().filter((answer) => answer.found === what).length;

  test('a round of single reads begins none after 20 s: the leases that are left count as not read', async () => {
    readOne = () => ({ takesMs: 5_000, answer: missing });
    ask(names(200));
    await clock.advance(19_000);
    assert.equal(found('silent'), 30);
    await clock.advance(6_000);
    const answers = confirmer.takeAnswers();
    assert.equal(answers.filter((answer) => answer.found === 'silent').length, 10);
    assert.equal(answers.filter((answer) => answer.found === 'unconfirmed').length, 160);
    assert.equal(read.length, 40);
    assert.equal(underwayMax, 10);
    await confirmer.settled();
  });

  test('leases that a round did not come to are read in the next one', async () => {
    readOne = () => ({ takesMs: 5_000, answer: missing });
    const nodes = names(60);
    const silent = new Set<string>();
    for (let rounds = 0; rounds < 3; rounds += 1) {
      ask(nodes.filter((node) => !silent.has(node)));
      await clock.advance(25_000);
      for (const answer of confirmer.takeAnswers()) if (answer.found === 'silent') silent.add(answer.node);
    }
    assert.equal(silent.size, 60);
    assert.equal(read.length, 60);
  });

  test('a lease whose read hangs takes one of the ten places, and no other lease waits for it', async () => {
    readOne = (node) => ({ takesMs: node === 'n0' ? 30_000 : 100, answer: missing });
    ask(names(100));
    await clock.advance(2_000);
    assert.equal(found('silent'), 99);
    await clock.advance(30_000);
    assert.equal(found('silent'), 1);
  });

  test('ten reads in a row that fail end the round', async () => {
    const error = new ApiError({ reason: 'timeout', message: 'scripted' });
    readOne = () => ({ takesMs: 1_000, answer: { kind: 'unreadable', error } });
    ask(names(500));
    await clock.advance(2_000);
    assert.equal(found('unconfirmed'), 500);
    assert.ok(read.length < 20, `${read.length} reads`);
  });

  test('a list that never answers holds no node longer than the hold: then the cache confirms', async () => {
    readAll = () => new Promise(() => undefined);
    const nodes = names(20);
    ask(nodes);
    const silentAtMs: number[] = [];
    const beganAtMs = clock.monotonicMs();
    for (let passes = 0; passes < 20 && silentAtMs.length === 0; passes += 1) {
      await clock.advance(5_000);
      ask(nodes);
      if (found('silent') === nodes.length) silentAtMs.push(clock.monotonicMs() - beganAtMs);
    }
    assert.deepEqual(silentAtMs, [holdMs]);
    assert.equal(decisions.filter(({ kind }) => kind === 'confirmation-held').length, nodes.length);
    assert.equal(decisions.filter(({ kind }) => kind === 'silence-confirmed-by-cache').length, nodes.length);
    assert.ok(wakeUps > 0);
  });

  for (const [how, end] of [
    ['its node renews', () => confirmer.forget('n0')],
    ['another lease is read', () => ask(['readable'])],
  ] as const)
    test(`a read that was forbidden does not shorten the hold of another node an hour later: ${how}`, async () => {
      const error = new ApiError({ reason: 'forbidden', message: 'scripted', code: 403 });
      readOne = (node) => ({ takesMs: 0, answer: node === 'readable' ? missing : { kind: 'unreadable', error } });
      ask(['n0']);
      await clock.advance(1_000);
      end();
      await clock.advance(3_600_000);
      const silentAtMs: number[] = [];
      for (let passedMs = 0; passedMs <= holdMs; passedMs += 5_000) {
        ask(['n1']);
        await clock.advance(5_000);
        for (const { node, found: what } of confirmer.takeAnswers())
          if (node === 'n1' && what === 'silent') silentAtMs.push(passedMs);
      }
      assert.deepEqual(silentAtMs, [holdMs]);
    });

  test('a lease that alone may not be read holds its node no longer than the hold, although others are read', async () => {
    const error = new ApiError({ reason: 'forbidden', message: 'scripted', code: 403 });
    readOne = (node) => ({ takesMs: 0, answer: node === 'n0' ? { kind: 'unreadable', error } : missing });
    const silent = new Set<string>();
    for (let passedMs = 0; passedMs <= holdMs; passedMs += 5_000) {
      ask(['n0', `other-${passedMs}`]);
      await clock.advance(5_000);
      for (const answer of confirmer.takeAnswers()) if (answer.found === 'silent') silent.add(answer.node);
    }
    assert.ok(silent.has('n0'));
  });

  test('a lease that cannot be read is listed before the cache confirms: other reads may have shown that its watch is dead', async () => {
    const error = new ApiError({ reason: 'unavailable', message: 'scripted', code: 503 });
    const lease = { name: 'n0', renewTime: '2026-01-02T03:04:05.000000Z', resourceVersion: '7' } as LeaseView;
    readOne = () => ({ takesMs: 0, answer: { kind: 'unreadable', error } });
    readAll = () => Promise.resolve(new Map([['n0', { kind: 'found', lease }]]));
    const answers: SilenceAnswer['found'][] = [];
    for (let passedMs = 0; passedMs <= holdMs; passedMs += 5_000) {
      ask(['n0']);
      await clock.advance(5_000);
      answers.push(...confirmer.takeAnswers().map((answer) => answer.found));
    }
    assert.equal(answers.at(-1), 'renewed');
    assert.equal(answers.filter((answer) => answer === 'unconfirmed').length, 12);
    assert.equal(decisions.filter(({ kind }) => kind === 'silence-confirmed-by-cache').length, 0);
  });

  test('a list that single reads replace does not wait for Retry-After, and the list that is the last read does', async () => {
    ask(names(20));
    await clock.advance(1_000);
    assert.deepEqual(patience, [{ waitMsMax: 0 }]);
    const error = new ApiError({ reason: 'too-many-requests', message: 'scripted', code: 429, retryAfterMs: 1_000 });
    readOne = () => ({ takesMs: 0, answer: { kind: 'unreadable', error } });
    for (let passedMs = 0; passedMs <= holdMs; passedMs += 5_000) {
      ask(['n99']);
      await clock.advance(5_000);
    }
    assert.deepEqual(patience.slice(1), [undefined]);
  });

  test('rejected credentials of two hours ago do not shorten the hold of a node today', async () => {
    const error = new ApiError({ reason: 'unauthorized', message: 'scripted', code: 401 });
    readOne = () => ({ takesMs: 0, answer: { kind: 'unreadable', error } });
    ask(['n0']);
    await clock.advance(1_000);
    confirmer.forget('n0');
    await clock.advance(7_200_000);
    ask(['n1']);
    await clock.advance(1_000);
    assert.equal(found('silent'), 0);
    await clock.advance(holdMs);
    ask(['n1']);
    await clock.advance(1_000);
    assert.equal(found('silent'), 1);
  });

  test('a lease that cannot be read waits for a list of its own while another list is in flight', async () => {
    const error = new ApiError({ reason: 'unavailable', message: 'scripted', code: 503 });
    const listed: ((leases: ReadonlyMap<string, LeaseRead>) => void)[] = [];
    readOne = (node) => ({ takesMs: node === 'n1' ? 5_000 : 0, answer: { kind: 'unreadable', error } });
    readAll = () => new Promise((resolve) => listed.push(resolve));
    for (let passedMs = 0; passedMs <= holdMs; passedMs += 5_000) {
      ask(['n0', 'n1']);
      await clock.advance(5_000);
    }
    assert.deepEqual([found('silent'), listed.length], [0, 1], 'the hold of n1 is over, and the list is for n0');
    listed[0]?.(new Map());
    await clock.advance(0);
    assert.deepEqual([found('silent'), listed.length], [1, 2]);
  });

  test('a process that was stopped while a read was under way does not count that time as a hold', async () => {
    readAll = () => new Promise(() => undefined);
    const nodes = names(20);
    ask(nodes);
    clock.stall(7_200_000);
    ask(nodes);
    assert.equal(found('silent'), 0);
    await clock.advance(holdMs - 30_000);
    ask(nodes);
    assert.equal(found('silent'), 20);
  });
});
