import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';
import type { MaintenanceSignal } from '../../../../src/controller/model/policy.ts';
import { decideMaintenance, parseSignalTime } from '../../../../src/controller/policies/decide-maintenance.ts';
import { aPolicy } from '../../../support/builders.ts';

const wallMs = Date.parse('2026-01-02T03:00:00Z');
const at = (offsetMs: number): string => formatTime(wallMs + offsetMs);
const rule = { conditions: ['Drained'], taints: ['example.com/m'], maxDurationMs: 60_000 };
const policy = aPolicy({ name: 'p', maintenance: rule });
const drained: MaintenanceSignal = { kind: 'condition', name: 'Drained', at: undefined };

test('the maximum counts from each signal: the last end counts, and those that are over do not hold', () => {
  const other = { ...drained, name: 'Other' };
  const started = [
    { signal: drained, sinceMs: wallMs },
    { signal: other, sinceMs: wallMs + 10_000 },
  ];
  const decide = (afterMs: number): unknown => decideMaintenance(policy, started, wallMs + afterMs);
  assert.deepEqual(decide(0), { policy: 'p', signals: [drained, other], untilMs: wallMs + 70_000 });
  assert.deepEqual(decide(60_000), { policy: 'p', signals: [other], untilMs: wallMs + 70_000 });
  assert.equal(decide(70_000), undefined);
  assert.equal(decideMaintenance(policy, [], wallMs), undefined);
  assert.equal(decideMaintenance(aPolicy(), started, wallMs), undefined, 'no rule');
});

test('a time is used unless it is missing, malformed, or more than a minute in the future', () => {
  assert.equal(parseSignalTime(at(-5_000), wallMs), wallMs - 5_000);
  assert.equal(parseSignalTime(at(60_000), wallMs), wallMs + 60_000);
  for (const text of [at(61_000), undefined, '', 'yesterday', '9999-12-31T00:00:00Z'])
    assert.equal(parseSignalTime(text, wallMs), undefined, text ?? 'missing');
});
