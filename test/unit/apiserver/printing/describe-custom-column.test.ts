import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeCustomColumn } from '../../../../src/apiserver/printing/describe-custom-column.ts';
import type { CustomColumn } from '../../../../src/apiserver/resources.ts';

const nowMs = Date.parse('2026-01-01T00:01:00Z');

function cellOf(jsonPath: string, type: CustomColumn['type'], object: object): unknown {
  const column = describeCustomColumn({ name: 'X', description: 'x', jsonPath, type });
  return column.cell({ ...object }, nowMs);
}

const accepted = '.status.conditions[?(@.type=="Accepted")].status';

test('fields, and one item of a list', () => {
  const conditions = [7, { type: 'Degraded', status: 'False' }, { type: 'Accepted', status: 'True' }];
  assert.equal(cellOf('.spec.mode', 'string', { spec: { mode: 'Paused' } }), 'Paused');
  assert.equal(cellOf(accepted, 'string', { status: { conditions } }), 'True');
  assert.equal(cellOf('.status.nodes', 'integer', { status: { nodes: 0 } }), 0);
  assert.equal(cellOf('.metadata.at', 'date', { metadata: { at: '2026-01-01T00:00:00Z' } }), '60s');
});

test('what is missing or of another type is null', () => {
  assert.equal(cellOf('.spec.mode', 'string', {}), null);
  assert.equal(cellOf('.spec.mode', 'string', { spec: 'x' }), null);
  assert.equal(cellOf('.spec.mode', 'string', { spec: { mode: 7 } }), null);
  assert.equal(cellOf('.status.nodes', 'integer', { status: { nodes: '7' } }), null);
  assert.equal(cellOf(accepted, 'string', { status: { conditions: { type: 'Accepted' } } }), null);
});
