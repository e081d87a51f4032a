import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Violation } from '../../simulator/checkers/violation.ts';
import { planRun, type RunPlan } from '../../simulator/run-plan.ts';
import { narrow, selectAll, shrink } from '../../simulator/shrink.ts';

const plan = planRun(3);
const found: Violation = { atMs: plan.untilMs + 5_000, invariant: 'planted', subject: 'n1', text: '' };

/** A violation that needs two of the faults, and no silent node. */
function runWith(needed: readonly number[], invariant = 'planted') {
  const times = needed.map((index) => plan.faults[index]?.atMs);
  return ({ faults }: RunPlan): Promise<Violation | undefined> => {
    const isBroken = times.every((atMs) => faults.some((fault) => fault.atMs === atMs));
    return Promise.resolve(isBroken ? { ...found, invariant } : undefined);
  };
}

test('what the violation does not need is left out', async () => {
  assert.ok(plan.faults.length > 10);
  const { selection, violation } = await shrink(plan, found, runWith([2, 7]));
  assert.deepEqual(selection.faults, [2, 7]);
  assert.deepEqual(selection.silent, []);
  assert.equal(selection.untilMs, (plan.faults[7]?.atMs ?? 0) + 1_000);
  assert.equal(violation.invariant, 'planted');
});

test('another violation is not the same one', async () => {
  const { selection } = await shrink(plan, found, runWith([], 'another'));
  assert.deepEqual(selection, selectAll(plan));
});

test('a fault that would last longer than the selected time ends with it', () => {
  const untilMs = (plan.faults[0]?.atMs ?? 0) + 1;
  const [fault] = narrow(plan, { ...selectAll(plan), untilMs }).faults;
  assert.ok((fault?.forMs ?? 0) <= 1);
});

test('a fault that lasts beyond the faults of the plan still does', () => {
  const fault = { kind: 'settings', change: { paused: false } } as const;
  const kept: RunPlan = { ...plan, faults: [{ atMs: plan.fromMs, forMs: 10 * plan.untilMs, fault }] };
  assert.deepEqual(narrow(kept, selectAll(kept)).faults, kept.faults);
});
