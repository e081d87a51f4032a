/** ResourceQuotas limit writes. No controller runs: the tests write the status of quotas themselves. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { type ApiResponse, aPod, expect, type Json, mergePatch, openClient, podPath } from './client.ts';

const client = await openClient();
const core = (namespace: string, plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`;
/** Quotas without scopes have it, so that a test can see that the server has observed the quota. */
const sentinel = { 'count/endpoints': '0' };

/** A quota whose status says that nothing is used, as soon as the server limits writes by it. */
async function quota(namespace: string, hard: Json, spec: Json = {}, probe?: Json): Promise<string> {
  const isScoped = probe !== undefined;
  const all = isScoped ? hard : { ...hard, ...sentinel };
  const name = client.name('quota');
  const made = await client.make(core(namespace, 'resourcequotas'), {
    metadata: { name },
    spec: { hard: all, ...spec },
  });
  assert.deepEqual(made.status, {});
  const used = Object.fromEntries(Object.keys(all).map((resource) => [resource, '0']));
  await setStatus(namespace, name, { hard: all, used });
  const path = core(namespace, isScoped ? 'pods' : 'endpoints');
  await untilForbidden(path, probe ?? { metadata: { name: 'probe' } });
  return name;
}

async function setStatus(namespace: string, name: string, status: Json): Promise<void> {
  expect(await client.patch(`${core(namespace, 'resourcequotas')}/${name}/status`, mergePatch, { status }), 200);
}

/** kube-apiserver reads quotas from a cache. */
async function untilForbidden(path: string, body: Json): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { code } = await client.post(`${path}?dryRun=All`, body);
    if (code === 403) return;
    await sleep(50);
  }
  assert.fail(`${path} is not limited`);
}

async function usedOf(namespace: string, name: string): Promise<Json> {
  return expect(await client.get(`${core(namespace, 'resourcequotas')}/${name}`), 200).status.used;
}

/** The message of a refusal, after the name of the object. */
function refusal(response: ApiResponse, kind: string, name: string): string {
  const { message, details } = expect(response, 403, { reason: 'Forbidden', status: 'Failure' });
  const [plural, ...group] = kind.split('.');
  assert.deepEqual(details, { name, ...(group.length === 0 ? {} : { group: group.join('.') }), kind: plural });
  const start = `${kind} "${name}" is forbidden: `;
  assert.equal(message.slice(0, start.length), start);
  return message.slice(start.length);
}

const resources = (requests: Json, limits: Json = {}): Json => ({
  containers: [{ name: 'c', image: 'registry/image:1', resources: { requests, limits } }],
});

test('pods up to the limit are created, and the status counts them at once', async () => {
  const namespace = await client.namespace();
  const name = await quota(namespace, { pods: '2', 'count/pods': '3' });
  await client.pod(namespace);
  await client.pod(namespace);
  assert.deepEqual(await usedOf(namespace, name), { ...sentinel, pods: '2', 'count/pods': '2' });
  const response = await client.post(core(namespace, 'pods'), aPod('more'));
  assert.equal(
    refusal(response, 'pods', 'more'),
    `exceeded quota: ${name}, requested: pods=1, used: pods=2, limited: pods=2`,
  );
  const generated = await client.post(
    core(namespace, 'pods'),
    aPod('', { metadata: { name: '', generateName: 'web-' } }),
  );
  assert.match(expect(generated, 403).message, /^pods "web-[a-z0-9]{5}" is forbidden: exceeded quota: /);
});

test('a dry run is limited and counts nothing', async () => {
  const namespace = await client.namespace();
  const name = await quota(namespace, { pods: '1' });
  const path = `${core(namespace, 'pods')}?dryRun=All`;
  expect(await client.post(path, aPod('a')), 201);
  assert.equal((await usedOf(namespace, name)).pods, '0');
  await client.pod(namespace);
  expect(await client.post(path, aPod('a')), 403);
  assert.equal((await usedOf(namespace, name)).pods, '1');
});

test('an object of a name that exists is refused by the quota first, and is not counted', async () => {
  const namespace = await client.namespace();
  await quota(namespace, { pods: '1' });
  const { metadata } = await client.pod(namespace);
  expect(await client.post(core(namespace, 'pods'), aPod(metadata.name)), 403);
});

test('an apply that creates is limited, one of an existing object is not', async () => {
  const namespace = await client.namespace();
  await quota(namespace, { configmaps: '1' });
  const apply = (name: string): Promise<ApiResponse> => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: String(Math.random()) } };
    const path = `${core(namespace, 'configmaps')}/${name}?fieldManager=test`;
    return client.patch(path, 'application/apply-patch+yaml', body);
  };
  expect(await apply('a'), 201);
  expect(await apply('a'), 200);
  expect(await apply('b'), 403);
});

test('containers must have what the quota limits', async () => {
  const namespace = await client.namespace();
  const hard = { cpu: '2', 'limits.memory': '1Gi', 'requests.ephemeral-storage': '1Gi' };
  const name = await quota(namespace, hard);
  const spec = {
    initContainers: [{ name: 'i', image: 'registry/image:1', resources: { requests: { cpu: '0' } } }],
    containers: [
      { name: 'b', image: 'registry/image:1' },
      { name: 'a', image: 'registry/image:1', resources: { limits: { memory: '1Mi' } } },
    ],
  };
  const response = await client.post(core(namespace, 'pods'), aPod('p', { spec }));
  assert.equal(
    refusal(response, 'pods', 'p'),
    `failed quota: ${name}: must specify cpu for: a,b; limits.memory for: b,i`,
  );
  const withPodLevel = { ...spec, resources: { requests: { cpu: '1' } } };
  expect(await client.post(core(namespace, 'pods'), aPod('p', { spec: withPodLevel })), 201);
  assert.equal((await usedOf(namespace, name)).cpu, '1');
});

test('requests and limits are added up, init containers and sidecars as they run', async () => {
  const namespace = await client.namespace();
  const hard = { 'requests.cpu': '1', cpu: '1', 'limits.cpu': '3', 'requests.memory': '1Gi', memory: '1Gi' };
  const name = await quota(namespace, hard);
  const container = (id: string, requests: Json, more: Json = {}): Json => ({
    name: id,
    image: 'registry/image:1',
    resources: { requests, limits: { cpu: '1' } },
    ...more,
  });
  const spec = {
    initContainers: [
      container('first', { cpu: '100m', memory: '300Mi' }),
      container('side', { cpu: '50m', memory: '10Mi' }, { restartPolicy: 'Always' }),
      container('last', { cpu: '250m', memory: '1Mi' }),
    ],
    containers: [container('a', { cpu: '0.1', memory: '100Mi' }), container('b', { cpu: '100m', memory: '100Mi' })],
  };
  await client.pod(namespace, { spec });
  const used = { 'requests.cpu': '300m', cpu: '300m', 'limits.cpu': '3', 'requests.memory': '300Mi', memory: '300Mi' };
  assert.deepEqual(await usedOf(namespace, name), { ...sentinel, ...used });
  const response = await client.post(core(namespace, 'pods'), aPod('p', { spec }));
  assert.equal(
    refusal(response, 'pods', 'p'),
    `exceeded quota: ${name}, requested: limits.cpu=3, used: limits.cpu=3, limited: limits.cpu=3`,
  );
  const large = resources({ cpu: '800m', memory: '0.8Gi' }, { cpu: '900m', memory: '2Gi' });
  assert.match(
    refusal(await client.post(core(namespace, 'pods'), aPod('p', { spec: large })), 'pods', 'p'),
    /requested: cpu=800m,limits.cpu=900m,memory=[^,]+,requests.cpu=800m,requests.memory=[^,]+, used: cpu=300m,limits.cpu=3,/,
  );
});

test('huge pages and extended resources are limited by requests', async () => {
  const namespace = await client.namespace();
  const hard = { 'requests.example.com/gpu': '2', 'hugepages-2Mi': '4Mi', 'requests.hugepages-2Mi': '8Mi' };
  const name = await quota(namespace, hard);
  const amounts = { cpu: '1', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' };
  await client.pod(namespace, { spec: resources(amounts, amounts) });
  const used = { 'requests.example.com/gpu': '2', 'hugepages-2Mi': '4Mi', 'requests.hugepages-2Mi': '4Mi' };
  assert.deepEqual(await usedOf(namespace, name), { ...sentinel, ...used });
  const more = { cpu: '1', 'example.com/gpu': '1', 'hugepages-2Mi': '2Mi' };
  assert.equal(
    refusal(await client.post(core(namespace, 'pods'), aPod('p', { spec: resources(more, more) })), 'pods', 'p'),
    `exceeded quota: ${name}, requested: hugepages-2Mi=2Mi,requests.example.com/gpu=1, used: hugepages-2Mi=4Mi,requests.example.com/gpu=2, limited: hugepages-2Mi=4Mi,requests.example.com/gpu=2`,
  );
});

test('Services count with their node ports and load balancers, and a change of the type counts', async () => {
  const namespace = await client.namespace();
  const name = await quota(namespace, { services: '3', 'services.nodeports': '2', 'services.loadbalancers': '1' });
  const service = (id: string, spec: Json, ports = 1): Json => ({
    metadata: { name: id },
    spec: { ports: Array.from({ length: ports }, (_, index) => ({ name: `p${index}`, port: 80 + index })), ...spec },
  });
  const path = core(namespace, 'services');
  await client.make(path, service('a', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }));
  await client.make(path, service('b', { type: 'NodePort' }));
  await client.make(path, service('c', { type: 'ClusterIP' }, 2));
  const used = { services: '3', 'services.nodeports': '1', 'services.loadbalancers': '1' };
  assert.deepEqual(await usedOf(namespace, name), { ...sentinel, ...used });
  const patched = await client.patch(`${path}/c`, mergePatch, { spec: { type: 'NodePort' } });
  assert.equal(
    refusal(patched, 'services', 'c'),
    `exceeded quota: ${name}, requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=2`,
  );
  expect(await client.patch(`${path}/c`, mergePatch, { metadata: { labels: { a: 'b' } } }), 200);
  expect(await client.patch(`${path}/b`, mergePatch, { spec: { type: 'LoadBalancer' } }), 403);
});

test('claims are counted with their storage, also by class', async () => {
  const namespace = await client.namespace();
  const gold = 'gold.storageclass.storage.k8s.io';
  const hard = {
    persistentvolumeclaims: '9',
    'requests.storage': '10Gi',
    [`${gold}/requests.storage`]: '5Gi',
    [`${gold}/persistentvolumeclaims`]: '2',
  };
  const name = await quota(namespace, hard);
  const claim = (id: string, storage: string, storageClassName?: string): Json => ({
    metadata: { name: id },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  });
  const path = core(namespace, 'persistentvolumeclaims');
  await client.make(path, claim('a', '3Gi', 'gold'));
  await client.make(path, claim('b', '4Gi', 'plain'));
  const used = {
    persistentvolumeclaims: '2',
    'requests.storage': '7Gi',
    [`${gold}/requests.storage`]: '3Gi',
    [`${gold}/persistentvolumeclaims`]: '1',
  };
  assert.deepEqual(await usedOf(namespace, name), { ...sentinel, ...used });
  assert.equal(
    refusal(await client.post(path, claim('c', '3Gi', 'gold')), 'persistentvolumeclaims', 'c'),
    `exceeded quota: ${name}, requested: ${gold}/requests.storage=3Gi, used: ${gold}/requests.storage=3Gi, limited: ${gold}/requests.storage=5Gi`,
  );
});

test('objects of any kind are counted by count/RESOURCE.GROUP, some also by their name', async () => {
  const namespace = await client.namespace();
  const names = ['configmaps', 'secrets', 'replicationcontrollers', 'count/deployments.apps'];
  const name = await quota(namespace, {
    ...Object.fromEntries(names.map((resource) => [resource, '1'])),
    'count/secrets': '1',
    resourcequotas: '0',
    'count/leases.coordination.k8s.io': '0',
  });
  const labels = { app: 'a' };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: resources({}) } };
  const rows: readonly (readonly [string, string, Json])[] = [
    [core(namespace, 'configmaps'), 'configmaps', {}],
    [core(namespace, 'secrets'), 'secrets', {}],
    [core(namespace, 'replicationcontrollers'), 'replicationcontrollers', { spec: { ...spec, selector: labels } }],
    [`/apis/apps/v1/namespaces/${namespace}/deployments`, 'deployments.apps', { spec }],
  ];
  for (const [path, kind, body] of rows) {
    await client.make(path, { metadata: { name: 'one' }, ...body });
    const response = await client.post(path, { metadata: { name: 'two' }, ...body });
    assert.match(refusal(response, kind, 'two'), new RegExp(`^exceeded quota: ${name}, requested: `), kind);
  }
  // A PUT creates a Lease.
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/l`;
  const put = await client.put(lease, { metadata: { name: 'l' }, spec: {} });
  assert.match(
    refusal(put, 'leases.coordination.k8s.io', 'l'),
    /requested: count\/leases.coordination.k8s.io=1, used: /,
  );
  const another = { metadata: { name: 'q' }, spec: { hard: { pods: '1' } } };
  const second = await client.post(core(namespace, 'resourcequotas'), another);
  assert.match(refusal(second, 'resourcequotas', 'q'), /requested: resourcequotas=1, used: /);
});

test('a scope selects the pods that count', async () => {
  const namespace = await client.namespace();
  const ending = { activeDeadlineSeconds: 60, restartPolicy: 'Never' };
  const long = await quota(namespace, { pods: '0' }, { scopes: ['NotTerminating'] }, aPod('probe'));
  const refused = await client.post(core(namespace, 'pods'), aPod('p'));
  assert.equal(
    refusal(refused, 'pods', 'p'),
    `exceeded quota: ${long}, requested: pods=1, used: pods=0, limited: pods=0`,
  );
  await client.pod(namespace, { spec: ending });
  const ended = await quota(namespace, { pods: '0' }, { scopes: ['Terminating'] }, aPod('probe', { spec: ending }));
  assert.match(
    refusal(await client.post(core(namespace, 'pods'), aPod('p', { spec: ending })), 'pods', 'p'),
    new RegExp(ended),
  );
});

test('pods that get a deadline move to the quota of terminating pods', async () => {
  const namespace = await client.namespace();
  const pod = await client.pod(namespace, { spec: { restartPolicy: 'Never' } });
  const probe = aPod('probe', { spec: { activeDeadlineSeconds: 60 } });
  const name = await quota(namespace, { pods: '0' }, { scopes: ['Terminating'] }, probe);
  const patched = await client.patch(podPath(pod), mergePatch, { spec: { activeDeadlineSeconds: 60 } });
  assert.equal(
    refusal(patched, 'pods', pod.metadata.name),
    `exceeded quota: ${name}, requested: pods=1, used: pods=0, limited: pods=0`,
  );
  expect(await client.patch(podPath(pod), mergePatch, { metadata: { labels: { a: 'b' } } }), 200);
});

test('pods are selected by quality of service and by priority class', async () => {
  const namespace = await client.namespace();
  const burstable = resources({ cpu: '1m' });
  await quota(namespace, { pods: '0' }, { scopes: ['BestEffort'] }, aPod('probe'));
  await client.pod(namespace, { spec: burstable });
  const other = await client.namespace();
  await quota(other, { pods: '0' }, { scopes: ['NotBestEffort'] }, aPod('probe', { spec: burstable }));
  await client.pod(other);
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const [high, low] = [client.name('high'), client.name('low')];
  for (const name of [high, low]) await client.make(classes, { metadata: { name }, value: 1 });
  const third = await client.namespace();
  const selector = { scopeName: 'PriorityClass', operator: 'In', values: [high] };
  const highPod = aPod('probe', { spec: { priorityClassName: high } });
  await quota(third, { pods: '0' }, { scopeSelector: { matchExpressions: [selector] } }, highPod);
  await client.pod(third, { spec: { priorityClassName: low } });
  await client.pod(third);
  const fourth = await client.namespace();
  const without = { scopeName: 'PriorityClass', operator: 'DoesNotExist' };
  await quota(fourth, { pods: '0' }, { scopeSelector: { matchExpressions: [without] } }, aPod('probe'));
  await client.pod(fourth, { spec: { priorityClassName: low } });
});

test('a quota without a status limits nothing, one with an incomplete status everything', async () => {
  const namespace = await client.namespace();
  const hard = { pods: '0' };
  await client.make(core(namespace, 'resourcequotas'), { metadata: { name: 'q' }, spec: { hard } });
  await client.pod(namespace);
  await setStatus(namespace, 'q', { hard });
  await untilForbidden(core(namespace, 'pods'), aPod('probe'));
  const response = await client.post(core(namespace, 'pods'), aPod('p'));
  assert.equal(refusal(response, 'pods', 'p'), 'status unknown for quota: q, resources: pods');
});
