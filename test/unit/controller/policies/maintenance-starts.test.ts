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
  const node = aNodeView({ name: 'n', uid: 'u', conditions: [{ type: 'Ready', status: 'True' }] });
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
          outageSinceMs: undefined,
        });
        if (maintenance !== undefined) assert.ok(afterMs <= rule.maxDurationMs + 60_000);
        assert.ok((maintenance?.untilMs ?? 0) <= wallMs + rule.maxDurationMs + 60_000);
      }
    }),
  );
});

test('the signals of a node that is not Ready count together from its outage, or from the first of them if that came later', () => {
  const starts = new MaintenanceStarts();
  const nodeWith = (status: string, at: string | undefined): ReturnType<typeof aNodeView> =>
    aNodeView({
      name: 'n',
      conditions: [{ type: 'Ready', status, ...(at === undefined ? {} : { lastTransitionTime: at }) }],
    });
  const at = (offsetMs: number): string => formatTime(wallMs + offsetMs);
  const sinceAt = (node: ReturnType<typeof aNodeView>, signalAt: string, afterMs = 0): number | undefined => {
    const now = { wallMs: wallMs + afterMs, monotonicMs: afterMs };
    const since = starts.outageSince(node, starts.startsOf(node, [{ ...drained, at: signalAt }], now), now);
    return since === undefined ? undefined : since - wallMs;
  };
  assert.equal(sinceAt(nodeWith('True', at(-90_000)), at(-60_000)), undefined, 'it is Ready');
  assert.equal(sinceAt(nodeWith('Unknown', at(-30_000)), at(-60_000)), -30_000);
  assert.equal(sinceAt(nodeWith('False', at(-90_000)), at(-60_000)), -60_000);
  assert.equal(sinceAt(nodeWith('False', '1970-01-01T00:00:10Z'), at(-60_000)), -60_000, 'a clock that was not set');
  assert.equal(sinceAt(nodeWith('False', undefined), at(-60_000)), 0);
  assert.equal(sinceAt(nodeWith('False', at(86_400_000)), at(-60_000)), 0, 'a clock that is ahead');
});

test('an outage that was noted goes on with later times and without signals, until the node is Ready', () => {
  const starts = new MaintenanceStarts();
  const nodeWith = (status: string): ReturnType<typeof aNodeView> =>
    aNodeView({ name: 'n', conditions: [{ type: 'Ready', status }] });
  const note = (status: string, afterMs: number, isSet = true): number | undefined => {
    const now = { wallMs: wallMs + afterMs, monotonicMs: afterMs };
    const signals = isSet ? [{ ...drained, at: formatTime(now.wallMs) }] : [];
    starts.note(nodeWith(status), signals, now);
    const since = starts.outageSince(nodeWith(status), [], now);
    return since === undefined ? undefined : since - wallMs;
  };
  assert.deepEqual(
    [note('False', 1_000), note('Unknown', 5_000), note('Unknown', 6_000, false)],
    [1_000, 1_000, 1_000],
  );
  assert.deepEqual(starts.notedOn('n'), { conditions: [], taints: [] }, 'it is to be noted when it is Ready');
  assert.deepEqual([note('True', 7_000, false), note('Unknown', 9_000)], [undefined, 9_000]);
  starts.forget('n');
  assert.equal(starts.size, 0);
});
