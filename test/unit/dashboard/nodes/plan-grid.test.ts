import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type GridPlan,
  planCell,
  planGrid,
  selectCellAt,
  selectCellByKey,
} from '../../../../src/dashboard/nodes/plan-grid.ts';

function zonesOf(...counts: readonly number[]): readonly string[] {
  return counts.flatMap((count, index) => Array.from({ length: count }, () => `zone-${index}`));
}

test('few nodes have cells with names, in groups side by side', () => {
  const plan = planGrid(zonesOf(4, 4, 4), { width: 900, height: 470 });
  assert.equal(plan.cell.text, 'name and state');
  assert.deepEqual([...new Set(plan.groups.map(({ y }) => y))], [0]);
  assert.deepEqual(
    plan.groups.map(({ first, count }) => [first, count]),
    [
      [0, 4],
      [4, 4],
      [8, 4],
    ],
  );
});

test('5,000 nodes fit into the height on a wide screen', () => {
  const plan = planGrid(zonesOf(2_000, 2_000, 1_000), { width: 900, height: 470 });
  assert.ok(plan.height <= 470, String(plan.height));
  assert.ok(plan.cell.width >= 7);
});

test('on a telephone the grid is higher, and no cell is smaller than 7 pixels', () => {
  const plan = planGrid(zonesOf(5_000), { width: 320, height: 470 });
  assert.equal(plan.cell.width, 7);
  assert.ok(plan.height > 470);
});

test('no node: no group and no height', () => {
  assert.deepEqual(planGrid([], { width: 900, height: 470 }).groups, []);
  assert.equal(planGrid([], { width: 900, height: 470 }).height, 0);
  assert.deepEqual(planCell(planGrid([], { width: 900, height: 470 }), 0), { x: 0, y: 0 });
  assert.equal(selectCellByKey(planGrid([], { width: 1, height: 1 }), 0, 'ArrowDown'), 0);
});

const plans = fc
  .record({
    counts: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 }),
    width: fc.integer({ min: 1, max: 3_800 }),
    height: fc.integer({ min: 100, max: 1_000 }),
  })
  .map(({ counts, width, height }) => planGrid(zonesOf(...counts), { width, height }));

test('a cell is found at its place, lies in the plan, and overlaps no other', () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const taken = new Set<string>();
      for (let index = 0; index < plan.count; index += 1) {
        const { x, y } = planCell(plan, index);
        assert.equal(selectCellAt(plan, { x: x + plan.cell.width / 2, y: y + plan.cell.height / 2 }), index);
        assert.ok(y + plan.cell.height <= plan.height);
        taken.add(`${x} ${y}`);
      }
      assert.equal(taken.size, plan.count);
    }),
    { numRuns: 30 },
  );
});

test('beside the cells is no cell', () => {
  const plan = planGrid(zonesOf(3), { width: 900, height: 470 });
  for (const point of [
    { x: 0, y: 5 },
    { x: 899, y: 30 },
    { x: -1, y: 30 },
    { x: 0, y: 400 },
  ])
    assert.equal(selectCellAt(plan, point), undefined);
});

function walk(plan: GridPlan, index: number, key: string): number | undefined {
  return selectCellByKey(plan, index, key);
}

test('keys move within the grid, and across zones', () => {
  // Cells of 22 px in 100 px: 4 columns; zones of 6 and 2 cells below each other.
  const plan: GridPlan = {
    cell: { width: 22, height: 22, gap: 3, text: 'letter' },
    width: 100,
    height: 200,
    count: 8,
    groups: [
      { zone: 'a', first: 0, count: 6, x: 0, y: 0, width: 100, columns: 4 },
      { zone: 'b', first: 6, count: 2, x: 0, y: 90, width: 100, columns: 4 },
    ],
  };
  assert.deepEqual([walk(plan, 0, 'ArrowLeft'), walk(plan, 0, 'ArrowRight'), walk(plan, 7, 'ArrowRight')], [0, 1, 7]);
  assert.deepEqual([walk(plan, 5, 'Home'), walk(plan, 5, 'End')], [0, 7]);
  assert.deepEqual([walk(plan, 1, 'ArrowDown'), walk(plan, 5, 'ArrowUp')], [5, 1]);
  assert.equal(walk(plan, 3, 'ArrowDown'), 5, 'the last line is shorter');
  assert.equal(walk(plan, 5, 'ArrowDown'), 6, 'the next zone');
  assert.equal(walk(plan, 7, 'ArrowUp'), 5, 'the zone before');
  assert.deepEqual([walk(plan, 2, 'ArrowUp'), walk(plan, 7, 'ArrowDown')], [2, 7]);
  assert.equal(walk(plan, 2, 'a'), undefined);
});

test('cells with names fill the width of their group', () => {
  const plan = planGrid(zonesOf(60), { width: 1_000, height: 470 });
  assert.equal(plan.cell.text, 'name');
  const { columns = 0 } = plan.groups[0] ?? {};
  const used = columns * (plan.cell.width + plan.cell.gap) - plan.cell.gap;
  assert.ok(used <= 1_000 && used > 1_000 - columns, String(used));
});
