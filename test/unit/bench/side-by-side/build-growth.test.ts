import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildGrowth, formatGrowth, growthPanels, type SizedTable } from '../../../bench/side-by-side/build-growth.ts';
import { buildTable } from '../../../bench/side-by-side/build-table.ts';

function tableOf(nodes: number, upstreamRss: number, nlcRss: number, isValid = true): SizedTable {
  const problems = isValid ? [] : ['API server saturated'];
  const rows = buildTable(nodes, {
    'kube-controller-manager': { rss: { values: [upstreamRss], problems } },
    nlc: { rss: { values: [nlcRss], problems } },
  });
  return { nodes, rows: rows.filter(({ id }) => id === 'rss') };
}

const tables = [tableOf(500, 100, 200), tableOf(1_000, 200, 200), tableOf(2_000, 400, 200)];

test('each row has an exponent for each controller', () => {
  const [row] = buildGrowth(tables);
  assert.ok(Math.abs(row!.upstream! - 1) < 1e-9);
  assert.ok(Math.abs(row!.nlc!) < 1e-9);
  assert.match(formatGrowth(buildGrowth(tables)), /\| RSS after warm-up \| 1\.00 \| -?0\.00 \|/u);
});

test('a size that cannot be reported is left out, and one size has no exponent', () => {
  const few = [tableOf(500, 100, 200), tableOf(1_000, 1, 1, false)];
  assert.deepEqual(
    buildGrowth(few).map(({ upstream, nlc }) => [upstream, nlc]),
    [[undefined, undefined]],
  );
  assert.match(formatGrowth(buildGrowth(few)), /\| RSS after warm-up \| – \| – \|/u);
});

test('a panel has a tick for each size and a line for each controller', () => {
  const [panel] = growthPanels(tables);
  assert.deepEqual(panel!.x.ticks, [500, 1_000, 2_000]);
  assert.deepEqual(
    panel!.lines.map(({ points }) => points.map(({ y }) => y)),
    [
      [100, 200, 400],
      [200, 200, 200],
    ],
  );
});
