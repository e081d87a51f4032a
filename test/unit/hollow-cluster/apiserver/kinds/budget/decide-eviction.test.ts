import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideEviction } from '../../../../../../src/hollow-cluster/apiserver/kinds/budget/decide-eviction.ts';

const ready = {
  metadata: { name: 'p' },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};
const unready = {
  metadata: { name: 'p' },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
};
const budget = (status: object = {}, spec: object = {}) => ({
  metadata: { name: 'b', generation: 1 },
  spec,
  status: { observedGeneration: 1, ...status },
});

test('without a budget, or for a pod that needs none, the pod is evicted', () => {
  assert.deepEqual(decideEviction(ready, []), { kind: 'evict' });
  const deleted = { ...ready, metadata: { name: 'p', deletionTimestamp: 'now' } };
  assert.deepEqual(decideEviction(deleted, [budget(), budget()]), { kind: 'evict' });
  for (const phase of ['Pending', 'Succeeded', 'Failed']) {
    assert.deepEqual(decideEviction({ metadata: {}, status: { phase } }, [budget()]), { kind: 'evict' });
  }
});

test('one budget pays, two are ambiguous', () => {
  const paying = budget({ disruptionsAllowed: 1 });
  assert.deepEqual(decideEviction(ready, [paying]), { kind: 'spend', budget: paying });
  assert.deepEqual(decideEviction(ready, [paying, paying]), { kind: 'ambiguous' });
});

test('a pod that is not ready takes nothing from a healthy budget', () => {
  assert.equal(decideEviction(unready, [budget({ currentHealthy: 1, desiredHealthy: 1 })]).kind, 'evict');
  assert.equal(decideEviction(unready, [budget({ currentHealthy: 0, desiredHealthy: 0 })]).kind, 'wait');
  assert.equal(decideEviction(unready, [budget({}, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })]).kind, 'evict');
  assert.equal(decideEviction(ready, [budget({}, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })]).kind, 'wait');
});

function causeOf(status: object): string {
  const decision = decideEviction(ready, [budget(status)]);
  return decision.kind === 'wait' ? decision.cause : decision.kind;
}

test('a refusal says why', () => {
  assert.equal(causeOf({ observedGeneration: 0 }), 'The disruption budget b is still being processed by the server.');
  assert.equal(
    causeOf({ currentHealthy: 1, desiredHealthy: 2 }),
    'The disruption budget b needs 2 healthy pods and has 1 currently',
  );
  assert.equal(
    causeOf({ currentHealthy: 3, desiredHealthy: 2 }),
    'The disruption budget b does not allow evicting pods currently',
  );
  const conditions = [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'm' }];
  assert.match(causeOf({ conditions }), /currently because it failed sync: m$/);
  const other = [{ type: 'DisruptionAllowed', status: 'False', reason: 'Why', message: 'm' }];
  assert.match(causeOf({ currentHealthy: 1, conditions: other }), /currently \(Why\): m$/);
});

test('an invalid status forbids evictions', () => {
  assert.equal(decideEviction(ready, [budget({ disruptionsAllowed: -1 })]).kind, 'forbid');
  const disruptedPods = Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`p${index}`, 'then']));
  assert.equal(decideEviction(ready, [budget({ disruptionsAllowed: 1, disruptedPods })]).kind, 'forbid');
});
