import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import type { NodePolicy, PolicyLimits } from '../../../../src/controller/model/policy.ts';
import { UnhealthyTally } from '../../../../src/controller/policies/unhealthy-tally.ts';
import { aNodeView, aPolicy } from '../../../support/builders.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

class Stand {
  readonly clock = new ManualClock();
  readonly nodes = new Map<string, NodeView>();
  readonly unhealthy = new Set<string>();
  policies: readonly NodePolicy[] = [withLimits({})];
  counted = 0;
  readonly tally = new UnhealthyTally({
    options: { current: () => ({ policies: this.policies }) },
    policies: { claimsOf: () => this.policies.slice(0, 1) },
    nodes: this.nodes,
    names: () => this.nodes.keys(),
    isHealthy: (node) => {
      this.counted += 1;
      return !this.unhealthy.has(node);
    },
    clock: this.clock,
  });

  constructor(names: readonly string[]) {
    for (const name of names) this.nodes.set(name, aNodeView({ name, uid: `uid-${name}` }));
  }

  counts(): readonly number[] {
    const { nodes, unhealthy, exempt } = this.tally.of('p');
    return [nodes, unhealthy, exempt];
  }
}

function withLimits(over: Partial<PolicyLimits>): NodePolicy {
  const limits = { maxUnhealthy: { percent: 40, count: undefined }, cooldownMs: 1_000, resetAtMs: undefined, ...over };
  return aPolicy({ name: 'p', limits });
}

test('all nodes are counted at the first use, and after that only those that changed', () => {
  const stand = new Stand(['a', 'b', 'c']);
  stand.unhealthy.add('a');
  stand.tally.update('a', false);
  assert.equal(stand.tally.isCounting, false);
  assert.equal(stand.tally.size, 0, 'an update before the first use is ignored');
  assert.deepEqual(stand.counts(), [3, 1, 0]);
  stand.tally.update('b', false);
  assert.deepEqual(stand.counts(), [3, 2, 0]);
  stand.tally.update('a', true);
  stand.tally.remove('b');
  assert.deepEqual(stand.counts(), [2, 0, 0]);
  assert.equal(stand.counted, 3);
});

test('what no update has shown is counted within a minute', async () => {
  const stand = new Stand(['a', 'b', 'c']);
  assert.deepEqual(stand.counts(), [3, 0, 0]);
  stand.nodes.delete('a');
  stand.unhealthy.add('b');
  await stand.clock.advance(59_999);
  assert.deepEqual(stand.counts(), [3, 0, 0]);
  await stand.clock.advance(1);
  assert.deepEqual(stand.counts(), [2, 1, 0]);
});

test('a reset exempts the nodes that were unhealthy at its time, also after a recount, until they recover', async () => {
  const stand = new Stand(['a', 'b', 'c']);
  stand.unhealthy.add('a');
  assert.deepEqual(stand.counts(), [3, 1, 0]);
  const resetAtMs = stand.clock.nowMs() + 5_000;
  stand.policies = [withLimits({ resetAtMs })];
  assert.deepEqual(stand.counts(), [3, 1, 0], 'in the future');
  assert.equal(stand.tally.nextResetMs, resetAtMs);
  await stand.clock.advance(5_000);
  assert.deepEqual(stand.counts(), [3, 1, 1]);
  await stand.clock.advance(1);
  stand.unhealthy.add('b');
  stand.tally.update('b', false);
  await stand.clock.advance(60_000);
  assert.deepEqual(stand.counts(), [3, 2, 1]);
  stand.tally.update('a', true);
  stand.tally.update('a', false);
  assert.deepEqual(stand.counts(), [3, 2, 0]);
});

test('another node of the name of an exempt node is not exempt, whether its predecessor was seen to go or not', async () => {
  const stand = new Stand(['a', 'b']);
  stand.unhealthy.add('a');
  stand.counts();
  stand.policies = [withLimits({ resetAtMs: stand.clock.nowMs() })];
  assert.deepEqual(stand.counts(), [2, 1, 1]);
  await stand.clock.advance(1_000);
  stand.nodes.set('a', aNodeView({ name: 'a', uid: 'another' }));
  stand.tally.update('a', false);
  assert.deepEqual(stand.counts(), [2, 1, 0]);
});

test('without limits nothing is remembered', () => {
  const stand = new Stand(['a', 'b']);
  stand.counts();
  assert.equal(stand.tally.size, 2);
  stand.policies = [aPolicy({ name: 'p' })];
  assert.deepEqual(stand.counts(), [0, 0, 0]);
  assert.equal(stand.tally.size, 0);
  assert.equal(stand.tally.isCounting, false);
});
