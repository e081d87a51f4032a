import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planSight } from '../../../../src/controller/sight/plan-sight.ts';
import { SightClock } from '../../../../src/controller/sight/sight-clock.ts';

const limits = { contactMsMax: 5_000, observeMs: 12_000 };

test('while contact is frequent it runs with the clock', () => {
  const sight = new SightClock(() => limits, 1_000);
  for (let nowMs = 2_000; nowMs <= 60_000; nowMs += 3_000) sight.contact(nowMs);
  assert.equal(sight.nowMs(60_000), 60_000);
  assert.equal(sight.blindMs(60_000), 0);
});

test('without contact it stands still after a moment; when contact is back it waits for everybody to be heard', () => {
  const sight = new SightClock(() => limits, 0);
  assert.equal(sight.nowMs(4_000), 4_000);
  assert.equal(sight.nowMs(60_000), 5_000);
  assert.equal(sight.isOutOfContact(60_000), true);
  sight.contact(60_000);
  assert.equal(sight.isObserving(60_000), true);
  for (let nowMs = 61_000; nowMs <= 80_000; nowMs += 1_000) sight.contact(nowMs);
  assert.equal(sight.isObserving(72_000), false);
  assert.equal(sight.nowMs(80_000), 5_000 + 8_000);
  assert.equal(sight.blindMs(80_000), 80_000 - 13_000);
});

const aStep = fc.record({ waitMs: fc.nat(30_000), contact: fc.boolean(), contactMsMax: fc.constantFrom(1_000, 5_000) });

test('it never goes back, never outruns the clock, and counts no gap for more than the limit, also when the limit changes', () => {
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 80 }), (steps) => {
      let limitsNow = limits;
      let gapMsMax = limits.contactMsMax;
      const sight = new SightClock(() => limitsNow, 0);
      let nowMs = 0;
      let seenMs = 0;
      let sinceContactMs = 0;
      for (const { waitMs, contact, contactMsMax } of steps) {
        limitsNow = { ...limits, contactMsMax };
        const before = sight.nowMs(nowMs);
        nowMs += waitMs;
        const after = sight.nowMs(nowMs);
        assert.ok(after >= before && after >= seenMs);
        assert.ok(after - before <= waitMs);
        assert.ok(after <= nowMs);
        sinceContactMs += after - before;
        assert.ok(sinceContactMs <= gapMsMax);
        assert.ok(
          Math.abs(sight.blindMs(nowMs) + after - nowMs) < 1e-6,
          'seen and blind time are all the time there was',
        );
        if (contact) {
          sight.contact(nowMs);
          assert.equal(sight.nowMs(nowMs), after);
          sinceContactMs = 0;
          if (waitMs > 0) gapMsMax = contactMsMax;
        }
        seenMs = after;
      }
    }),
  );
});

test('blindness shows well within any grace period', () => {
  for (const graceMs of [8_000, 25_000, 50_000, 300_000]) {
    const plan = planSight(graceMs);
    assert.ok(plan.contactMsMax <= graceMs / 8 && plan.probeAfterMs < plan.contactMsMax && plan.observeMs < graceMs);
  }
});

test('who begins to look does not see before the first contact; one just before counts, one of long ago does not', () => {
  const fresh = new SightClock(() => limits, 0);
  fresh.begin(100_000);
  assert.equal(fresh.awaitsFirstContact(), true);
  fresh.contact(94_000);
  assert.equal(fresh.awaitsFirstContact(), true);
  fresh.contact(96_000);
  assert.equal(fresh.awaitsFirstContact(), false);
  assert.equal(fresh.isObserving(100_000), false, 'nobody has to be heard anew for it');
  fresh.begin(200_000);
  fresh.contact(201_000);
  assert.equal(fresh.awaitsFirstContact(), false);
});
