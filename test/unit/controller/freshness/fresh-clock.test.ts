import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planFreshness } from '../../../../src/controller/freshness/plan-freshness.ts';
import { FreshClock } from '../../../../src/controller/freshness/fresh-clock.ts';

const limits = { contactMsMax: 5_000, observeMs: 12_000, listedMsMax: 12_500 };

test('with frequent contact it runs with the clock', () => {
  const freshness = new FreshClock(() => limits, 1_000);
  for (let nowMs = 2_000; nowMs <= 60_000; nowMs += 3_000) freshness.contact(nowMs);
  assert.equal(freshness.nowMs(60_000), 60_000);
  assert.equal(freshness.staleMs(60_000), 0);
});

test('without contact it stands still after a moment; when contact is back it waits for every node to renew', () => {
  const freshness = new FreshClock(() => limits, 0);
  assert.equal(freshness.nowMs(4_000), 4_000);
  assert.equal(freshness.nowMs(60_000), 5_000);
  assert.equal(freshness.isOutOfContact(60_000), true);
  freshness.contact(60_000);
  assert.equal(freshness.isObserving(60_000), true);
  for (let nowMs = 61_000; nowMs <= 80_000; nowMs += 1_000) freshness.contact(nowMs);
  assert.equal(freshness.isObserving(72_000), false);
  assert.equal(freshness.nowMs(80_000), 5_000 + 8_000);
  assert.equal(freshness.staleMs(80_000), 80_000 - 13_000);
});

const aStep = fc.record({ waitMs: fc.nat(30_000), contact: fc.boolean(), contactMsMax: fc.constantFrom(1_000, 5_000) });

test('it never goes back, never outruns the clock, and counts no gap for more than the limit, also when the limit changes', () => {
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 80 }), (steps) => {
      let limitsNow = limits;
      let gapMsMax = limits.contactMsMax;
      const freshness = new FreshClock(() => limitsNow, 0);
      let nowMs = 0;
      let seenMs = 0;
      let sinceContactMs = 0;
      for (const { waitMs, contact, contactMsMax } of steps) {
        limitsNow = { ...limits, contactMsMax };
        const before = freshness.nowMs(nowMs);
        nowMs += waitMs;
        const after = freshness.nowMs(nowMs);
        assert.ok(after >= before && after >= seenMs);
        assert.ok(after - before <= waitMs);
        assert.ok(after <= nowMs);
        sinceContactMs += after - before;
        assert.ok(sinceContactMs <= gapMsMax);
        const actual = Math.abs(freshness.staleMs(nowMs) + after - nowMs) < 1e-6;
        assert.ok(actual, 'fresh and stale time add up to the elapsed time');
        if (contact) {
          freshness.contact(nowMs);
          assert.equal(freshness.nowMs(nowMs), after);
          sinceContactMs = 0;
          if (waitMs > 0) gapMsMax = contactMsMax;
        }
        seenMs = after;
      }
    }),
  );
});

test('staleness is detected well within any grace period', () => {
  for (const graceMs of [8_000, 25_000, 50_000, 300_000]) {
    const plan = planFreshness(graceMs);
    assert.ok(plan.contactMsMax <= graceMs / 8 && plan.probeAfterMs < plan.contactMsMax && plan.observeMs < graceMs);
  }
});

test('after the start it is stale before the first contact; a recent one counts, an old one does not', () => {
  const fresh = new FreshClock(() => limits, 0);
  fresh.begin(100_000);
  assert.equal(fresh.awaitsFirstContact(), true);
  fresh.contact(94_000);
  assert.equal(fresh.awaitsFirstContact(), true);
  fresh.contact(96_000);
  assert.equal(fresh.awaitsFirstContact(), false);
  assert.equal(fresh.isObserving(100_000), false, 'no observation is needed');
  fresh.begin(200_000);
  fresh.contact(201_000);
  assert.equal(fresh.awaitsFirstContact(), false);
});

test('after a restore it stands still until every node can have renewed, and loses nothing from before', () => {
  const fresh = new FreshClock(() => limits, 0);
  fresh.contact(2_000);
  fresh.restored(3_000);
  const observedMs = 3_000 + limits.observeMs;
  for (let atMs = 4_000; atMs < observedMs; atMs += 2_000) fresh.contact(atMs);
  assert.deepEqual([fresh.isObserving(observedMs - 1), fresh.nowMs(observedMs)], [true, 3_000]);
  for (let atMs = observedMs; atMs <= 30_000; atMs += 1_000) fresh.contact(atMs);
  assert.equal(fresh.nowMs(30_000), 30_000 - limits.observeMs);
  assert.equal(fresh.staleMs(30_000), limits.observeMs);
});

test('between two lists at most the limit counts: in a longer time nodes may have been unable to renew', () => {
  const freshness = new FreshClock(() => limits, 0);
  freshness.listed(1_000, 1_000);
  freshness.listed(11_000, 11_000);
  assert.equal(freshness.nowMs(11_000), 11_000);
  assert.equal(freshness.nowMs(20_000), 11_000, 'unknown before the second list');
  freshness.listed(91_000, 91_000);
  assert.equal(freshness.nowMs(91_000), 11_000 + 12_500);
  assert.equal(freshness.staleMs(91_000), 91_000 - 23_500);
});

test('what arrives between two lists is recorded with the time that the second one will show', () => {
  const freshness = new FreshClock(() => limits, 0);
  freshness.contact(1_000);
  assert.equal(freshness.creditableMs(30_000), freshness.nowMs(30_000), 'no list before: the next one credits nothing');
  freshness.listed(30_000, 30_000);
  const listedMs = freshness.nowMs(30_000);
  assert.equal(freshness.creditableMs(38_000), listedMs + 8_000);
  assert.equal(freshness.nowMs(38_000), listedMs);
  freshness.listed(38_000, 39_000);
  assert.equal(freshness.nowMs(39_000), listedMs + 8_000);
  assert.equal(freshness.creditableMs(90_000), listedMs + 8_000 + 12_500);
});

test('a contact between two lists does not reduce the credit of the second one', () => {
  const freshness = new FreshClock(() => limits, 0);
  freshness.listed(1_000, 1_000);
  freshness.contact(11_000);
  assert.equal(freshness.isObserving(11_000), true);
  freshness.listed(10_500, 11_000);
  assert.equal(freshness.nowMs(11_000), 10_500);
  freshness.contact(21_000);
  freshness.listed(20_500, 21_000);
  assert.equal(freshness.nowMs(21_000), 20_500);
});

test('lists that overlap, of which the first was read late, do not make it outrun the clock', () => {
  const freshness = new FreshClock(() => limits, 0);
  freshness.listed(1, 3);
  freshness.listed(2, 5_726);
  freshness.listed(5_726, 5_726);
  assert.ok(freshness.nowMs(5_726) <= 5_726, String(freshness.nowMs(5_726)));
});

test('a heartbeat that arrives before a list of an earlier contact is credited has no silence from it', () => {
  const freshness = new FreshClock(() => limits, 0);
  freshness.listed(1, 1);
  freshness.contact(2_523);
  freshness.contact(7_502);
  freshness.contact(12_000);
  const arrivalMs = freshness.creditableMs(17_000);
  freshness.listed(12_000, 17_000);
  assert.equal(freshness.nowMs(17_000) <= arrivalMs, true, `${freshness.nowMs(17_000)} after ${arrivalMs}`);
});

const aMove = fc.record({
  waitMs: fc.nat(30_000),
  kind: fc.constantFrom('contact', 'listed', 'restored', 'none'),
  agoMs: fc.nat(15_000),
});

test('with lists and contacts in any order it never goes back, never outruns the clock and loses no time', () => {
  fc.assert(
    fc.property(fc.array(aMove, { maxLength: 80 }), (moves) => {
      const freshness = new FreshClock(() => limits, 0);
      let nowMs = 0;
      for (const { waitMs, kind, agoMs } of moves) {
        nowMs += waitMs;
        const before = freshness.nowMs(nowMs);
        const creditableMs = freshness.creditableMs(nowMs);
        if (kind === 'contact') freshness.contact(nowMs);
        if (kind === 'listed') freshness.listed(nowMs - agoMs, nowMs);
        if (kind === 'restored') freshness.restored(nowMs);
        const after = freshness.nowMs(nowMs);
        assert.ok(after >= before);
        assert.ok(after <= nowMs + 1e-6);
        assert.ok(creditableMs >= after - 1e-6, 'no list credits more than was recorded for what it shows');
        assert.ok(Math.abs(freshness.staleMs(nowMs) + after - nowMs) < 1e-6);
      }
    }),
  );
});
