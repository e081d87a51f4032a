import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeCustomColumn } from '../../../../../../src/hollow-cluster/apiserver/kinds/custom-resource/describe-custom-column.ts';
import type { CustomColumn } from '../../../../../../src/hollow-cluster/apiserver/resources.ts';

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
  assert.equal(cellOf('.status.nodes', 'integer', { status: { nodes: '7' } }), null);
  assert.equal(cellOf(accepted, 'string', { status: { conditions: { type: 'Accepted' } } }), null);
});

interface Recorded {
  readonly atMs: number;
  readonly columns: readonly (Omit<CustomColumn, 'description'> & { readonly description?: string })[];
  /** As `name type format priority`. */
  readonly definitions: readonly string[];
  readonly rows: readonly { readonly fields: object; readonly cells: readonly unknown[] }[];
}

const folder = join(import.meta.dirname, '..', '..', '..', '..', '..', 'contract', 'apiserver');
const { atMs, columns, definitions, rows }: Recorded = JSON.parse(
  readFileSync(join(folder, 'recorded-custom-columns.json'), 'utf8'),
);
const described = columns.map((column) => describeCustomColumn({ description: '', ...column }));

test('columns are defined with their type and priority, as by kube-apiserver', () => {
  const texts = described.map(({ name, type, priority }) => `${name} ${type} ${priority}`);
  assert.deepEqual(['Name string name 0', ...texts], definitions);
});

for (const { fields, cells } of rows) {
  test(`${JSON.stringify(fields)} is printed as by kube-apiserver`, () => {
    const object = { metadata: { creationTimestamp: new Date(atMs).toISOString() }, ...fields };
    assert.deepEqual(
      described.map(({ cell }) => cell(object, atMs)),
      cells.slice(1),
    );
  });
}
