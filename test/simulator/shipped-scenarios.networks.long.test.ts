// Scenarios of networks, API servers and certificates.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertDetection, resultOf } from '../support/shipped-scenario.ts';

test('the API servers restart: nothing is marked', async () => {
  const result = await resultOf('api-server-rollout');
  assert.deepEqual([result.outcomes.length, result.podsDeleted], [0, 0]);
});

test('all kubelet certificates expire: no node is tainted NoExecute, no pod is deleted', async () => {
  const result = await resultOf('certificate-expiry');
  assert.equal(result.podsDeleted, 0);
  assert.ok(result.outcomes.every(({ noExecuteAtMs }) => noExecuteAtMs === undefined));
});

test('the network between zones fails: the zone of the control plane is not affected', async () => {
  const result = await resultOf('zone-partition');
  assertDetection(result);
  assert.deepEqual(new Set(result.outcomes.map(({ zone }) => zone)), new Set(['b', 'c']));
  assert.equal(result.podsDeleted, 0);
});

test('a network card flaps: its pods survive, other nodes are not affected, and a second run gives the same result', async () => {
  const result = await resultOf('flapping-nic');
  assert.equal(result.podsDeleted, 0);
  assert.deepEqual(new Set(result.outcomes.map(({ node }) => node)), new Set(['a-1']));
  assert.deepEqual(await resultOf('flapping-nic'), result);
});

test('edge and cloud: slow links are no silence', async () => {
  const result = await resultOf('edge-and-cloud');
  assertDetection(result);
  assert.ok(result.outcomes.every(({ zone }) => zone === 'edge'));
});
