import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';
import type { Maintenance, MaintenanceSignal } from '../../../../src/controller/model/policy.ts';
import { decideMaintenance, parseSignalTime } from '../../../../src/controller/policies/decide-maintenance.ts';
import { aPolicy } from '../../../support/builders.ts';

const wallMs = Date.parse('2026-01-02T03:00:00Z');
const at = (offsetMs: number): string => formatTime(wallMs + offsetMs);
const rule = { conditions: ['Repair'], taints: ['example.com/m'], maxDurationMs: 60_000 };
const policy = aPolicy({ name: 'p', maintenance: rule });
const repair: MaintenanceSignal = { kind: 'condition', name: 'Repair', at: undefined };
const alive = { nowMs: wallMs, isAlive: true, outageSinceMs: undefined };

test('the maximum counts from each signal: the last end counts, and those that are over do not hold', () => {
  const other = { ...repair, name: 'Other' };
  const started = [
    { signal: repair, sinceMs: wallMs },
    { signal: other, sinceMs: wallMs + 10_000 },
  ];
  const decide = (afterMs: number): unknown =>
    decideMaintenance(policy, started, { ...alive, nowMs: wallMs + afterMs });
  const endMs = wallMs + 70_000;
  assert.deepEqual(decide(0), {
    policy: 'p',
    untilMs: endMs,
    hold: { by: [repair, other], untilMs: endMs, endsWithSilence: false },
  });
  assert.deepEqual(decide(60_000), {
    policy: 'p',
    untilMs: endMs,
    hold: { by: [other], untilMs: endMs, endsWithSilence: false },
  });
  assert.equal(decide(70_000), undefined);
  assert.equal(decideMaintenance(policy, [], alive), undefined);
  assert.equal(decideMaintenance(aPolicy(), started, alive), undefined, 'no rule');
});

test('all signals together count for a maximum since the outage began', () => {
  const limited = aPolicy({ name: 'p', maintenance: { ...rule, maxTotalMs: 90_000 } });
  const started = [{ signal: repair, sinceMs: wallMs + 50_000 }];
  const decide = (afterMs: number, outageSinceMs: number | undefined): Maintenance | undefined =>
    decideMaintenance(limited, started, { nowMs: wallMs + afterMs, isAlive: false, outageSinceMs });
  assert.equal(decide(89_999, wallMs)?.untilMs, wallMs + 90_000);
  assert.equal(decide(89_999, wallMs)?.hold?.untilMs, wallMs + 90_000);
  assert.equal(decide(90_000, wallMs), undefined);
  assert.equal(decide(90_000, undefined)?.hold?.untilMs, wallMs + 110_000, 'it is Ready');
});

test('what a signal means depends on whether its node is alive', () => {
  const meanings = ['MaintenanceInProgress', 'GracefulNodeShutdownInProgress', 'DrainInProgress', 'Drained', 'Other'];
  const decide = (name: string, isAlive: boolean, holdsWhileSilent: readonly string[] = []): string => {
    const each = aPolicy({ name: 'p', maintenance: { ...rule, holdsWhileSilent } });
    const signal = { ...repair, name };
    const found = decideMaintenance(each, [{ signal, sinceMs: wallMs }], { ...alive, isAlive });
    if (found === undefined) return 'nothing';
    return found.hold === undefined ? 'not counted' : 'held';
  };
  const alives = ['held', 'held', 'not counted', 'not counted', 'held'];
  assert.deepEqual(
    meanings.map((name) => decide(name, true)),
    alives,
  );
  const silents = ['held', 'not counted', 'not counted', 'not counted', 'held'];
  assert.deepEqual(
    meanings.map((name) => decide(name, false)),
    silents,
  );
  assert.deepEqual(
    [true, false].map((isAlive) => decide('MaintenancePlanned', isAlive)),
    ['nothing', 'nothing'],
  );
  assert.deepEqual(
    [true, false].map((isAlive) => decide('Drained', isAlive, ['Drained'])),
    ['not counted', 'held'],
  );
});

test('a signal that holds and one that does not count end apart', () => {
  const drained = { ...repair, name: 'Drained' };
  const started = [
    { signal: repair, sinceMs: wallMs },
    { signal: drained, sinceMs: wallMs + 10_000 },
  ];
  assert.deepEqual(decideMaintenance(policy, started, alive), {
    policy: 'p',
    untilMs: wallMs + 70_000,
    hold: { by: [repair], untilMs: wallMs + 60_000, endsWithSilence: false },
  });
});

test('a time is used unless it is missing, malformed, or more than a minute in the future', () => {
  assert.equal(parseSignalTime(at(-5_000), wallMs), wallMs - 5_000);
  assert.equal(parseSignalTime(at(60_000), wallMs), wallMs + 60_000);
  for (const text of [at(61_000), undefined, '', 'yesterday', '9999-12-31T00:00:00Z'])
    assert.equal(parseSignalTime(text, wallMs), undefined, text ?? 'missing');
});
