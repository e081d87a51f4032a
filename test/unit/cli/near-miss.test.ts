import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestName } from '../../../src/cli/near-miss.ts';

const known = ['node-monitor-period', 'node-monitor-grace-period', 'v', 'kubeconfig'];

test('finds what was likely meant', () => {
  assert.equal(nearestName('node-monitor-perod', known), 'node-monitor-period');
  assert.equal(nearestName('node_monitor_grace_period', known), 'node-monitor-grace-period');
  assert.equal(nearestName('kubeConfig', known), 'kubeconfig');
});

test('says nothing where nothing is close', () => {
  assert.equal(nearestName('cluster-cidr', known), undefined);
  assert.equal(nearestName('x', known), undefined);
  assert.equal(nearestName('k'.repeat(5_000), known), undefined);
});
