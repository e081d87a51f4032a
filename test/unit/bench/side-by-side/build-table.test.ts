import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTable, type TableRow } from '../../../bench/side-by-side/build-table.ts';
import type { RowFigures } from '../../../bench/side-by-side/figures.ts';
import { type RowId, rows } from '../../../bench/side-by-side/rows.ts';

const valid = (...values: readonly number[]): RowFigures => ({ values, problems: [] });

function rowOf(table: readonly TableRow[], id: RowId): TableRow {
  return table.find((row) => row.id === id)!;
}

test('a row has the median and the range of the windows, and the range of the ratio over all pairs of windows', () => {
  const table = buildTable(2_000, {
    'kube-controller-manager': { cpuPerHeartbeat: valid(100, 200, 150) },
    nlc: { cpuPerHeartbeat: valid(30, 40, 20) },
  });
  const { upstream, nlc, ratio, met } = rowOf(table, 'cpuPerHeartbeat');
  assert.deepEqual(upstream, { value: 150, min: 100, max: 200 });
  assert.deepEqual(nlc, { value: 30, min: 20, max: 40 });
  assert.deepEqual(ratio, { value: 30 / 150, min: 20 / 200, max: 40 / 100 });
  assert.equal(met, true);
});

test('a target is met by the median, and other sizes have none', () => {
  const figures = (nlc: number): Parameters<typeof buildTable>[1] => ({
    'kube-controller-manager': { detectionP99: valid(4), rss: valid(400) },
    nlc: { detectionP99: valid(nlc), rss: valid(nlc * 1_000) },
  });
  assert.equal(rowOf(buildTable(2_000, figures(0.25)), 'detectionP99').met, true);
  assert.equal(rowOf(buildTable(2_000, figures(0.26)), 'detectionP99').met, false);
  assert.equal(rowOf(buildTable(2_000, figures(0.12)), 'rss').met, true);
  assert.equal(rowOf(buildTable(5_000, figures(0.12)), 'rss').met, false);
  assert.equal(rowOf(buildTable(300, figures(9)), 'rss').met, undefined);
});

test('a target may be a multiple of what the same writes take a plain client', () => {
  const met = (zoneLossPod: number, figures: Partial<Record<RowId, RowFigures>>): boolean | undefined => {
    const nlc = { zoneLossPod: valid(zoneLossPod), ...figures };
    const table = buildTable(2_000, { 'kube-controller-manager': { zoneLossPod: valid(20) }, nlc });
    return rowOf(table, 'zoneLossPod').met;
  };
  assert.equal(met(11, { plainPod: valid(10) }), true);
  assert.equal(met(11.1, { plainPod: valid(10) }), false);
  assert.equal(met(11, {}), false);
});

test('a row with a saturated window of one controller is reported for neither', () => {
  const table = buildTable(2_000, {
    'kube-controller-manager': { rss: valid(400) },
    nlc: { rss: { values: [1], problems: ['API server saturated', 'API server saturated'] } },
  });
  const { upstream, nlc, ratio, met, problems } = rowOf(table, 'rss');
  assert.deepEqual([upstream, nlc, ratio, met], [undefined, undefined, undefined, undefined]);
  assert.deepEqual(problems, ['nlc: API server saturated']);
});

test('all rows are there, and what was not measured is named', () => {
  const table = buildTable(2_000, { 'kube-controller-manager': {}, nlc: {} });
  assert.deepEqual(
    table.map(({ id }) => id),
    rows.map(({ id }) => id),
  );
  assert.deepEqual(rowOf(table, 'start').problems, ['kube-controller-manager: not measured', 'nlc: not measured']);
});

test('there is no ratio to zero', () => {
  const table = buildTable(2_000, { 'kube-controller-manager': { idleCpu: valid(0) }, nlc: { idleCpu: valid(2) } });
  assert.equal(rowOf(table, 'idleCpu').ratio, undefined);
  assert.equal(rowOf(table, 'idleCpu').met, true);
});
