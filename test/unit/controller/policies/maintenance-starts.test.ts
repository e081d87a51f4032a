import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';
import type { Now } from '../../../../src/controller/model/node-state.ts';
import type { MaintenanceSignal } from '../../../../src/controller/model/policy.ts';
import { decideMaintenance } from '../../../../src/controller/policies/decide-maintenance.ts';
import { MaintenanceStarts } from '../../../../src/controller/policies/maintenance-starts.ts';
import { aNodeView, aPolicy } from '../../../support/builders.ts';

const wallMs = Date.parse('2026-01-02T03:00:00Z');
const at = (offsetMs: number): string => formatTime(wallMs + offsetMs);
const rule = { conditions: ['Drained'], taints: ['example.com/m'], maxDurationMs: 60_000 };
const policy = aPolicy({ name: 'p', maintenance: rule });
const drained: MaintenanceSignal = { kind: 'condition', name: 'Drained', at: undefined };

test('a signal without a usable time counts from when it was first seen, and is remembered while it exists', () => {
  const starts = new MaintenanceStarts();
  const node = aNodeView({ name: 'n', uid: 'u' });
  const startOf = (signal: MaintenanceSignal, afterMs: number, uid = 'u'): number | undefined => {
    const now: Now = { wallMs: wallMs + afterMs, monotonicMs: 5_000 + afterMs };
    starts.note({ ...node, uid }, [signal], now);
    return starts.startsOf({ ...node, uid }, [signal], now)[0]?.sinceMs;
  };
  const future = { ...drained, at: at(3_600_000) };
  for (const signal of [drained, { ...drained, at: 'soon' }, future]) {
    assert.equal(startOf(signal, 0), wallMs);
    assert.equal(startOf(signal, 7_000), wallMs);
    assert.equal(starts.size, 1);
  }
  assert.equal(
    startOf(future, 3_600_000),
    wallMs,
    'a time in the future does not begin a second maximum when it comes',
  );
  assert.equal(startOf(drained, 8_000), wallMs + 8_000, 'another time is another signal');
  assert.equal(startOf(drained, 9_000, 'other'), wallMs + 9_000, 'and so is one of another node of the same name');
  assert.equal(startOf({ ...drained, at: at(0) }, 9_000), wallMs);
  assert.equal(starts.size, 0, 'one with a time is not remembered');
  startOf(drained, 0);
  starts.note(node, [], { wallMs, monotonicMs: 0 });
  assert.equal(starts.size, 0, 'one that is gone is forgotten');
});

test('property: no signal holds longer than its maximum and the difference of clocks, whatever its time', () => {
  const anyTime = fc.oneof(
    fc.integer({ min: -200_000, max: 200_000 }).map(at),
    fc.constantFrom(undefined, '', 'x', '9999-01-01T00:00:00Z', '0001-01-01T00:00:00Z'),
  );
  fc.assert(
    fc.property(anyTime, fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1 }), (time, steps) => {
      const starts = new MaintenanceStarts();
      const signal = { ...drained, at: time };
      let afterMs = 0;
      for (const stepMs of [0, ...steps]) {
        afterMs += stepMs;
        const now = { wallMs: wallMs + afterMs, monotonicMs: afterMs };
        starts.note(aNodeView({ name: 'n' }), [signal], now);
        const started = starts.startsOf(aNodeView({ name: 'n' }), [signal], now);
        const maintenance = decideMaintenance(policy, started, {
          nowMs: now.wallMs,
          isAlive: true,
          unreadySinceMs: undefined,
        });
        if (maintenance !== undefined) assert.ok(afterMs <= rule.maxDurationMs + 60_000);
        assert.ok((maintenance?.untilMs ?? 0) <= wallMs + rule.maxDurationMs + 60_000);
      }
    }),
  );
});
