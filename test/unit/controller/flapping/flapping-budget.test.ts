import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FlappingBudget } from '../../../../src/controller/flapping/flapping-budget.ts';

function stand(nodes: number) {
  const clock = { atMs: 0, monotonicMs: (): number => clock.atMs };
  const size = { nodes };
  const moved = new Set<string>();
  const current = { policies: [] };
  const kept = new FlappingBudget({
    options: { current: () => current },
    policyOf: (node) => (node.startsWith('n') && !moved.has(node) ? 'p' : 'other'),
    names: () => Array.from({ length: size.nodes }, (_, place) => `n${place}`),
    clock,
  });
  return { kept, clock, size, moved };
}

const taintedNow = { isTainted: true, isDue: false };
const dueNow = { isTainted: false, isDue: true };
const none = { isTainted: false, isDue: false };

function ruleOf(percent: number | undefined, count: number | undefined) {
  const rule = { recoveries: 2, withinMs: 1, initialMs: 1, maxMs: 1, budget: { percent, count } };
  return { policy: 'p', rule };
}

test('a place is reserved at once, and free again when the node is not due any more', () => {
  const { kept } = stand(10);
  assert.equal(kept.reserve('n0', ruleOf(undefined, 1)), true);
  assert.equal(kept.reserve('n1', ruleOf(undefined, 1)), false);
  assert.equal(kept.allows('n0', ruleOf(undefined, 1)), true, 'its own place does not count against it');
  kept.note('n0', dueNow);
  assert.equal(kept.reserve('n1', ruleOf(undefined, 1)), false, 'its write is under way');
  kept.note('n0', none);
  assert.equal(kept.reserve('n1', ruleOf(undefined, 1)), true);
  assert.deepEqual(kept.usage(ruleOf(undefined, 1)), { kept: 0, limit: 1 });
});

test('a kept node keeps its place, also where the budget became smaller, and counts until it is released', () => {
  const { kept } = stand(10);
  for (const node of ['n0', 'n1', 'x0']) kept.note(node, taintedNow);
  assert.deepEqual(kept.usage(ruleOf(undefined, 2)), { kept: 2, limit: 2 });
  assert.equal(kept.allows('n1', ruleOf(undefined, 1)), true);
  assert.equal(kept.reserve('n1', ruleOf(undefined, 1)), true);
  assert.deepEqual(kept.usage(ruleOf(undefined, 2)), { kept: 2, limit: 2 }, 'it is kept, and not only reserved');
  assert.equal(kept.allows('n2', ruleOf(undefined, 2)), false);
  kept.note('n0', none);
  assert.equal(kept.allows('n2', ruleOf(undefined, 2)), true);
  kept.forget('n1');
  assert.equal(kept.size, 1);
});

test('a node that moves to another policy uses the budget of that one', () => {
  const { kept, moved } = stand(10);
  kept.note('n0', taintedNow);
  moved.add('n0');
  kept.note('n0', taintedNow);
  assert.deepEqual(kept.usage(ruleOf(undefined, 1)), { kept: 0, limit: 1 });
  assert.equal(kept.allows('n1', ruleOf(undefined, 1)), true);
});

test('the nodes of the policy are counted again after a second', () => {
  const { kept, clock, size } = stand(10);
  assert.equal(kept.usage(ruleOf(10, undefined)).limit, 1);
  size.nodes = 40;
  assert.equal(kept.usage(ruleOf(10, undefined)).limit, 1);
  clock.atMs = 1_000;
  assert.equal(kept.usage(ruleOf(10, undefined)).limit, 4);
});
