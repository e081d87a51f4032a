import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRun } from '../../../simulator/run-plan.ts';
import { seedsBefore } from '../../../simulator/regression-seeds.ts';

const clusters = Array.from({ length: 1_000 }, (_, index) => planRun(index + 1).cluster);

function shareOf(isMeant: (cluster: (typeof clusters)[number]) => boolean): number {
  return clusters.filter(isMeant).length / clusters.length;
}

test('few seeds have another mode, a shadow, another number of writes at once, many nodes, late settings, or labels of namespaces', () => {
  const shares = [
    shareOf(({ mode }) => mode !== undefined),
    shareOf(({ hasShadow }) => hasShadow === true),
    shareOf(({ concurrentWrites }) => concurrentWrites !== undefined),
    shareOf(({ nodes }) => nodes.length > 12),
    shareOf(({ settingsLagMsMax }) => settingsLagMsMax !== undefined),
    shareOf(({ namespaceAutonomy }) => namespaceAutonomy === true),
  ];
  for (const [index, wanted] of [0.06, 0.03, 0.1, 0.01, 0.05, 0.02].entries()) {
    const share = shares[index] ?? 0;
    assert.ok(share > wanted / 2 && share < wanted * 2, `${share}, wanted ${wanted}`);
  }
});

test('eviction mode is that of the settings too', () => {
  for (const { mode, controller } of clusters) assert.equal(controller.taintBasedEvictions, mode !== 'deleter');
});

test('the names of the nodes of a large cluster are unique, and it has at most 60', () => {
  for (const { nodes } of clusters) {
    assert.equal(new Set(nodes.map(({ name }) => name)).size, nodes.length);
    assert.ok(nodes.length <= 60);
  }
});

test('no regression seed from before them is varied', () => {
  for (const seed of seedsBefore(70_000_128)) {
    const { mode, hasShadow, concurrentWrites, settingsLagMsMax, namespaceAutonomy, nodes } = planRun(seed).cluster;
    const variants = [mode, hasShadow, concurrentWrites, settingsLagMsMax, namespaceAutonomy];
    assert.deepEqual([...variants, nodes.length > 12], [undefined, undefined, undefined, undefined, undefined, false]);
  }
});
