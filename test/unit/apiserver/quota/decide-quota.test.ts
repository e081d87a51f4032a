import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideQuota, quotaOf } from '../../../../src/apiserver/quota/decide-quota.ts';
import { makeEvaluator } from '../../../../src/apiserver/quota/evaluators.ts';
import { amountsAsJson, amountsAt } from '../../../../src/apiserver/quota/merge-amounts.ts';
import type { Draft } from '../../../../src/apiserver/storage/stored-object.ts';

type Quantities = Record<string, string>;

interface Case {
  readonly hard: Quantities;
  readonly used: Quantities;
  readonly spec?: Record<string, unknown>;
}

/** The decision about a write in a namespace with these quotas, which are used as their status says. */
function decide(table: string, draft: Draft, cases: readonly Case[], stored?: Draft, endpoint: '' | 'status' = '') {
  const evaluator = makeEvaluator(table);
  assert.ok(evaluator);
  const quotas = cases.map(({ hard, used, spec = {} }, index) =>
    quotaOf({ metadata: { name: `q${index}` }, spec, status: { hard, used } }),
  );
  const decision = decideQuota({
    quotas,
    evaluator,
    write: { draft, stored, endpoint },
    now: () => evaluator.measure(draft),
    before: () => stored && evaluator.measure(stored),
    nowMs: 0,
    usedOf: ({ used }) => used,
  });
  return decision.kind === 'forbid' ? decision.why : decision.charges.map(({ used }) => amountsAsJson(used));
}

const claim = (storage: string, status = {}): Draft => ({
  metadata: {},
  spec: { resources: { requests: { storage } } },
  status,
});

test('every quota that counts the object is charged', () => {
  const cases = [
    { hard: { pods: '2' }, used: { pods: '1' } },
    { hard: { configmaps: '0' }, used: { configmaps: '0' } },
    { hard: { pods: '9' }, used: { pods: '3' }, spec: { scopes: ['NotBestEffort'] } },
    { hard: { 'count/pods': '9' }, used: { 'count/pods': '3' }, spec: { scopes: ['BestEffort'] } },
  ];
  assert.deepEqual(decide('pods', { metadata: {} }, cases), [{ pods: '2' }, { 'count/pods': '4' }]);
});

test('the first quota that is exceeded is named, with what exceeds it', () => {
  const cases = [
    { hard: { pods: '1', 'count/pods': '9' }, used: { pods: '1', 'count/pods': '1' } },
    { hard: { pods: '0' }, used: { pods: '1' } },
  ];
  const why = 'exceeded quota: q0, requested: pods=1, used: pods=1, limited: pods=1';
  assert.equal(decide('pods', { metadata: {} }, cases), why);
});

test('a quota that is exceeded already does not hold what it does not count more', () => {
  const cases = [{ hard: { 'requests.storage': '1Gi' }, used: { 'requests.storage': '5Gi' } }];
  assert.deepEqual(decide('persistentvolumeclaims', claim('2Gi'), cases, claim('2Gi')), []);
  assert.deepEqual(decide('persistentvolumeclaims', claim('1Gi'), cases, claim('2Gi')), []);
  assert.equal(
    decide('persistentvolumeclaims', claim('3Gi'), cases, claim('2Gi')),
    'exceeded quota: q0, requested: requests.storage=1Gi, used: requests.storage=5Gi, limited: requests.storage=1Gi',
  );
});

test('the status of a claim is counted and not limited', () => {
  const cases = [{ hard: { 'requests.storage': '1Gi' }, used: { 'requests.storage': '1Gi' } }];
  const after = claim('1Gi', { allocatedResources: { storage: '3Gi' } });
  assert.deepEqual(decide('persistentvolumeclaims', after, cases, claim('1Gi'), 'status'), [
    { 'requests.storage': '3Gi' },
  ]);
});

test('updates of objects that are only counted are no matter of quotas', () => {
  const cases = [{ hard: { 'count/deployments.apps': '0' }, used: {} }];
  assert.deepEqual(decide('deployments.apps', { metadata: {} }, cases, { metadata: {} }), []);
  assert.equal(
    decide('deployments.apps', { metadata: {} }, cases),
    'status unknown for quota: q0, resources: count/deployments.apps',
  );
});

test('containers without what a quota limits are named before anything is counted', () => {
  const draft = { metadata: {}, spec: { containers: [{ name: 'b' }, { name: 'a' }] } };
  const cases = [
    { hard: { pods: '0' }, used: { pods: '0' } },
    { hard: { memory: '1', 'limits.cpu': '1' }, used: { memory: '0', 'limits.cpu': '0' } },
  ];
  assert.equal(decide('pods', draft, cases), 'failed quota: q1: must specify limits.cpu for: a,b; memory for: a,b');
});

test('a quota is read from its status', () => {
  const { hard } = quotaOf({ metadata: { name: 'q' }, spec: { hard: { pods: '1' } } });
  assert.deepEqual([...hard], []);
  assert.equal(amountsAt({ a: '1' }).size, 1);
});

test('an object that would use less than nothing is forbidden wherever there are quotas', () => {
  const resources = { requests: { memory: '-1', cpu: '-500m' } };
  const why = 'quota usage is negative for resource(s): cpu,memory,requests.cpu,requests.memory';
  for (const hard of [{ 'requests.cpu': '1' }, { configmaps: '1' }]) {
    assert.equal(decide('pods', { metadata: {}, spec: { resources } }, [{ hard, used: { 'requests.cpu': '0' } }]), why);
  }
});

test('a quantity with a huge exponent is more than any limit', () => {
  const cases = [{ hard: { 'requests.storage': '1e999' }, used: { 'requests.storage': '1' } }];
  const why = decide('persistentvolumeclaims', claim('1e1000000000'), cases);
  assert.ok(typeof why === 'string' && why.startsWith('exceeded quota: q0, requested: requests.storage=1e'));
});
