import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';
import { selectMaintenanceSignals } from '../../../../src/controller/policies/select-maintenance-signals.ts';

const wallMs = Date.parse('2026-01-02T03:00:00Z');
const at = (offsetMs: number): string => formatTime(wallMs + offsetMs);
const rule = { conditions: ['Drained'], taints: ['example.com/m'], maxDurationMs: 60_000 };

test('signals are True conditions and taints that the rule names, with their times', () => {
  const conditions = [
    { type: 'Drained', status: 'True', lastTransitionTime: at(0) },
    { type: 'DrainInProgress', status: 'True' },
  ];
  const taints = [
    { key: 'example.com/m', effect: 'NoSchedule', timeAdded: at(1_000) },
    { key: 'example.com/m', effect: 'NoExecute' },
    { key: 'example.com/other', effect: 'NoExecute' },
  ];
  assert.deepEqual(selectMaintenanceSignals(rule, { conditions, taints }), [
    { kind: 'condition', name: 'Drained', at: at(0) },
    { kind: 'taint', name: 'example.com/m', at: at(1_000) },
    { kind: 'taint', name: 'example.com/m', at: undefined },
  ]);
  for (const status of ['False', 'Unknown', 'true', ''])
    assert.deepEqual(selectMaintenanceSignals(rule, { conditions: [{ type: 'Drained', status }], taints: [] }), []);
});
