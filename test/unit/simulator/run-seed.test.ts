import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRun } from '../../simulator/run-plan.ts';
import { Trace } from '../../../src/simulator/trace.ts';
import { regressionSeeds } from '../../simulator/regression-seeds.ts';
import { planOf, runPlan } from '../../simulator/run-one.ts';

async function traceOf(seed: number): Promise<readonly string[]> {
  const lines: string[] = [];
  await runPlan(
    planRun(seed),
    new Trace((line) => {
      lines.push(line);
    }),
  );
  return lines;
}

test('two runs of one seed have the same trace', async () => {
  const first = await traceOf(5);
  assert.ok(first.length > 500, `${first.length} lines`);
  assert.deepEqual(await traceOf(5), first);
});

test('two seeds have different traces', async () => {
  assert.notDeepEqual(await traceOf(5), await traceOf(6));
});

test('the regression seeds break no invariant', async () => {
  for (const { seed } of regressionSeeds.slice(0, 3)) {
    assert.equal((await runPlan(planRun(seed))).violation, undefined, `seed ${seed}`);
  }
});

test('a run without faults settles, and its drill breaks no invariant', async () => {
  const { violation, settledMs } = await runPlan(planOf(7, { faults: [], silent: [] }));
  assert.equal(violation, undefined);
  assert.ok((settledMs ?? Infinity) <= 10_000, `${settledMs} ms`);
});
