import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestName } from '../../../../src/cli/flags/suggestions.ts';

const known = ['node-monitor-period', 'node-monitor-grace-period', 'v', 'kubeconfig'];

test('suggests the closest name', () => {
  assert.equal(nearestName('node-monitor-perod', known), 'node-monitor-period');
  assert.equal(nearestName('node_monitor_grace_period', known), 'node-monitor-grace-period');
  assert.equal(nearestName('kubeConfig', known), 'kubeconfig');
});

test('suggests nothing if no name is close', () => {
  assert.equal(nearestName('cluster-cidr', known), undefined);
  assert.equal(nearestName('x', known), undefined);
  assert.equal(nearestName('k'.repeat(5_000), known), undefined);
});
