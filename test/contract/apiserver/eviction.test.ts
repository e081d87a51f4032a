/** Evictions and the budgets that limit them. No controller runs: the tests write the status of budgets themselves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byVersion } from '../../support/by-version.ts';
import { type ApiResponse, expect, type Json, mergePatch, openClient, podPath } from './client.ts';

const client = await openClient();

const budgets = (namespace: string): string => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

function evict(pod: Json, extra: Json = {}, query = ''): Promise<ApiResponse> {
  const { name, namespace } = pod.metadata;
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, ...extra };
  return client.post(`${podPath(pod)}/eviction${query}`, body);
}

/** Why the budget refuses, if it is not that healthy pods are missing; before 1.35 that was the reason in each case. */
function refusedBy(name: string, why: string, counts: { readonly needed: number; readonly healthy: number }): string {
  return byVersion({
    '1.34': `The disruption budget ${name} needs ${counts.needed} healthy pods and has ${counts.healthy} currently`,
    '1.35': `The disruption budget ${name} does not allow evicting pods currently${why}`,
  });
}

/** A running pod on a node, which is ready unless specified otherwise. */
async function runningPod(namespace: string, ready = 'True', phase = 'Running'): Promise<Json> {
  const labels = { app: 'web' };
  const pod = await client.pod(namespace, { metadata: { labels }, spec: { nodeName: 'n1' } });
  const status = { phase, conditions: [{ type: 'Ready', status: ready }] };
  return expect(await client.patch(`${podPath(pod)}/status`, mergePatch, { status }), 200);
}

/** A budget for the pods above, with this status of the generation that it has. */
async function budget(namespace: string, status: Json, spec: Json = { minAvailable: 1 }): Promise<Json> {
  const body = { metadata: { name: client.name('pdb') }, spec: { selector: { matchLabels: { app: 'web' } }, ...spec } };
  const made = await client.make(budgets(namespace), body);
  return setStatus(made, { observedGeneration: made.metadata.generation, ...status });
}

async function setStatus({ metadata }: Json, status: Json): Promise<Json> {
  const counts = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  const path = `${budgets(metadata.namespace)}/${metadata.name}/status`;
  return expect(await client.patch(path, mergePatch, { status: { ...counts, ...status } }), 200);
}

async function statusOf({ metadata }: Json): Promise<Json> {
  return expect(await client.get(`${budgets(metadata.namespace)}/${metadata.name}`), 200).status;
}

/** The response of a refused eviction: the message is always the same, the cause says why. */
function refusal(response: ApiResponse): Json {
  const { message, details } = expect(response, 429, { reason: 'TooManyRequests', status: 'Failure' });
  assert.equal(message, "Cannot evict pod as it would violate the pod's disruption budget.");
  assert.equal(details.causes.length, 1);
  assert.equal(details.causes[0].reason, 'DisruptionBudget');
  return { ...details, cause: details.causes[0].message, header: response.headers['retry-after'] };
}

test('T127 a new budget has no status, and no pod of it is evicted until a controller has observed it', async () => {
  const namespace = await client.namespace();
  const pod = await runningPod(namespace);
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } };
  const made = await client.make(budgets(namespace), { metadata: { name: 'new' }, spec });
  assert.equal(made.metadata.generation, 1);
  assert.deepEqual(made.status, { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 });
  const { cause, retryAfterSeconds, header } = refusal(await evict(pod));
  assert.equal(cause, 'The disruption budget new is still being processed by the server.');
  assert.deepEqual([retryAfterSeconds, header], [10, '10']);
});

test('T128 an allowed eviction marks and deletes the pod, and takes one disruption from the budget', async () => {
  const namespace = await client.namespace();
  const [first, second] = [await runningPod(namespace), await runningPod(namespace)];
  const pdb = await budget(namespace, { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 });
  const response = expect(await evict(first), 201, { kind: 'Status', status: 'Success', code: 201 });
  assert.deepEqual(response, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
  const deleted = expect(await client.get(podPath(first)), 200);
  assert.ok(deleted.metadata.deletionTimestamp);
  const condition = deleted.status.conditions.find(({ type }: Json) => type === 'DisruptionTarget');
  assert.partialDeepStrictEqual(condition, {
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  });
  const status = await statusOf(pdb);
  assert.equal(status.disruptionsAllowed, 0);
  assert.deepEqual(Object.keys(status.disruptedPods), [first.metadata.name]);
  assert.partialDeepStrictEqual(status.conditions, [
    { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' },
  ]);
  const { cause, retryAfterSeconds, header } = refusal(await evict(second));
  assert.equal(cause, refusedBy(pdb.metadata.name, '', { needed: 1, healthy: 2 }));
  assert.deepEqual([retryAfterSeconds, header], [undefined, undefined]);
  // A pod that is deleted already needs no budget.
  expect(await evict(first), 201);
});

test('T126 an exhausted budget says how many healthy pods it needs', async () => {
  const namespace = await client.namespace();
  const pod = await runningPod(namespace);
  const { metadata } = await budget(namespace, { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 });
  const { cause } = refusal(await evict(pod));
  assert.equal(cause, `The disruption budget ${metadata.name} needs 1 healthy pods and has 1 currently`);
});

test('a budget whose computation failed says why', async () => {
  const namespace = await client.namespace();
  const pod = await runningPod(namespace);
  const condition = { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'no scale' };
  const conditions = [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const { metadata } = await budget(namespace, { conditions });
  const { cause } = refusal(await evict(pod));
  assert.equal(cause, refusedBy(metadata.name, ' because it failed sync: no scale', { needed: 0, healthy: 0 }));
});

test('T131 two budgets for one pod are an error', async () => {
  const namespace = await client.namespace();
  const pod = await runningPod(namespace);
  await budget(namespace, { disruptionsAllowed: 1 });
  await budget(namespace, { disruptionsAllowed: 1 });
  const { message } = expect(await evict(pod), 500, { status: 'Failure' });
  assert.equal(
    message,
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  );
});

test('budgets select by labels, and an empty selector selects every pod of its namespace', async () => {
  const [namespace, another] = [await client.namespace(), await client.namespace()];
  const pod = await runningPod(namespace);
  await budget(
    namespace,
    {},
    { minAvailable: 1, selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] } },
  );
  await budget(another, {});
  const all = await budget(namespace, {}, { minAvailable: 1, selector: { matchLabels: null } });
  const { cause } = refusal(await evict(pod));
  assert.match(cause, new RegExp(`disruption budget ${all.metadata.name} `));
});

test('an empty selector selects pods without labels too, a missing one no pod', async () => {
  const namespace = await client.namespace();
  const pods = [1, 2].map(async () => {
    const pod = await client.pod(namespace, { spec: { nodeName: 'n1' } });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    return expect(await client.patch(`${podPath(pod)}/status`, mergePatch, { status }), 200);
  });
  const [first, second] = await Promise.all(pods);
  await budget(namespace, {}, { minAvailable: 1, selector: null });
  expect(await evict(first), 201);
  const all = await budget(namespace, {}, { minAvailable: 1, selector: {} });
  assert.match(refusal(await evict(second)).cause, new RegExp(`disruption budget ${all.metadata.name} `));
});

test('T129 pods that are pending or terminal need no budget', async () => {
  const namespace = await client.namespace();
  await budget(namespace, {});
  for (const phase of ['Pending', 'Succeeded', 'Failed']) {
    const pod = await runningPod(namespace, 'False', phase);
    expect(await evict(pod), 201, { status: 'Success' });
  }
});

test('T132 a pod that is not ready is evicted while its budget is kept', async () => {
  const namespace = await client.namespace();
  const sick = await runningPod(namespace, 'False');
  const pdb = await budget(namespace, { currentHealthy: 1, desiredHealthy: 1, expectedPods: 2 });
  expect(await evict(sick), 201);
  assert.equal((await statusOf(pdb)).disruptedPods, undefined);
  const another = await runningPod(namespace, 'False');
  await setStatus(pdb, { observedGeneration: 1, currentHealthy: 0, desiredHealthy: 1, expectedPods: 2 });
  refusal(await evict(another));
});

test('unhealthyPodEvictionPolicy AlwaysAllow evicts every pod that is not ready', async () => {
  const namespace = await client.namespace();
  const [healthy, sick] = [await runningPod(namespace), await runningPod(namespace, 'False')];
  await budget(namespace, { desiredHealthy: 1 }, { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
  expect(await evict(sick), 201);
  refusal(await evict(healthy));
});

test('T130 a dry run checks the budget and changes nothing', async () => {
  const namespace = await client.namespace();
  const pod = await runningPod(namespace);
  const pdb = await budget(namespace, { disruptionsAllowed: 1, currentHealthy: 1 });
  expect(await evict(pod, {}, '?dryRun=All'), 201);
  expect(await evict(pod, { deleteOptions: { dryRun: ['All'] } }), 201);
  const kept = expect(await client.get(podPath(pod)), 200);
  assert.equal(kept.metadata.resourceVersion, pod.metadata.resourceVersion);
  assert.equal((await statusOf(pdb)).disruptionsAllowed, 1);
  await setStatus(pdb, { observedGeneration: 1 });
  refusal(await evict(pod, {}, '?dryRun=All'));
});

test('delete options of an eviction: grace period and preconditions', async () => {
  const namespace = await client.namespace();
  const pod = await runningPod(namespace);
  const uid = { preconditions: { uid: 'another' } };
  const conflict = expect(await evict(pod, { deleteOptions: uid }), 409, { reason: 'Conflict' });
  assert.match(conflict.message, /the UID in the precondition \(another\) does not match the UID in record/);
  const version = { preconditions: { resourceVersion: '1' } };
  expect(await evict(pod, { deleteOptions: version }), 409);
  expect(await evict(pod, { metadata: { name: 'another' } }), 400);
  const current = { resourceVersion: pod.metadata.resourceVersion, uid: pod.metadata.uid };
  expect(await evict(pod, { deleteOptions: { gracePeriodSeconds: 0, preconditions: current } }), 201);
  expect(await client.get(podPath(pod)), 404);
  expect(await evict(pod), 404);
});

test('an eviction of a version that the pod no longer has is a conflict, after its budget was asked', async () => {
  const namespace = await client.namespace();
  const pod = await runningPod(namespace);
  const pdb = await budget(namespace, { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 });
  const { resourceVersion, uid } = pod.metadata;
  const changed = expect(await client.patch(podPath(pod), mergePatch, { metadata: { labels: { changed: 'y' } } }), 200);
  const options = { deleteOptions: { preconditions: { resourceVersion, uid } } };
  const { message } = expect(await evict(pod, options), 409, { reason: 'Conflict' });
  assert.match(message, /the ResourceVersion in the precondition \(\d+\) does not match the ResourceVersion in record/);
  const kept = expect(await client.get(podPath(pod)), 200);
  assert.equal(kept.metadata.resourceVersion, changed.metadata.resourceVersion, 'not marked');
  assert.equal((await statusOf(pdb)).disruptionsAllowed, 0, 'one disruption is spent');
  refusal(await evict(pod, options));
});

test('budgets are validated', async () => {
  const namespace = await client.namespace();
  const refused = async (spec: Json): Promise<string> => {
    const body = { metadata: { name: client.name('pdb') }, spec: { selector: {}, ...spec } };
    return expect(await client.post(budgets(namespace), body), 422).message;
  };
  assert.match(
    await refused({ minAvailable: 1, maxUnavailable: 1 }),
    /minAvailable and maxUnavailable cannot be both set/,
  );
  assert.match(
    await refused({ minAvailable: -1 }),
    /spec.minAvailable: Invalid value: -1: must be greater than or equal to 0/,
  );
  for (const [value, problem] of [
    ['many', 'a valid percent string'],
    ['101%', 'must not be greater than 100%'],
  ] as const) {
    const message = await refused({ maxUnavailable: value });
    assert.ok(message.includes(`spec.maxUnavailable: Invalid value: "${value}": ${problem}`), message);
  }
  assert.match(
    await refused({ unhealthyPodEvictionPolicy: 'Maybe' }),
    /supported values: "AlwaysAllow", "IfHealthyBudget"/,
  );
});

test('a change of the spec of a budget is a new generation, one of its status is not', async () => {
  const namespace = await client.namespace();
  const pdb = await budget(namespace, {});
  const path = `${budgets(namespace)}/${pdb.metadata.name}`;
  assert.equal(pdb.metadata.generation, 1);
  const changed = expect(await client.patch(path, mergePatch, { spec: { minAvailable: 2 } }), 200);
  assert.equal(changed.metadata.generation, 2);
  const { metadata, ...rest } = changed;
  const { resourceVersion: _version, ...unversioned } = metadata;
  expect(await client.put(path, { ...rest, metadata: unversioned }), 422);
});
