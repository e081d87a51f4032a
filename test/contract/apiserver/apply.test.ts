// Field ownership and server-side apply.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byVersion } from '../../support/by-version.ts';
import {
  type ApiResponse,
  aPod,
  causesOf,
  expect,
  type Json,
  jsonPatch,
  leases,
  mergePatch,
  openClient,
} from './client.ts';

const client = await openClient();
const applyPatch = 'application/apply-patch+yaml';
const daemonSets = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/daemonsets`;

/** Applies as a manager. */
function apply(path: string, body: unknown, manager: string, query = ''): Promise<ApiResponse> {
  return client.patch(`${path}?fieldManager=${manager}${query}`, applyPatch, body);
}

/** The entries without times. */
function ownersOf({ metadata }: Json): readonly Json[] {
  return (metadata.managedFields ?? []).map(({ time: _time, ...entry }: Json) => entry);
}

function fieldsOf(object: Json, manager: string): Json {
  return ownersOf(object).find((entry) => entry.manager === manager)?.fieldsV1;
}

function aLease(name: string, spec: Json = {}, metadata: Json = {}): Json {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, ...metadata }, spec };
}

async function freshLease(): Promise<{ readonly path: string; readonly name: string }> {
  const name = client.name('lease');
  return { path: `${leases('default')}/${name}`, name };
}

function aDaemonSet(name: string, containers: readonly Json[]): Json {
  const labels = { app: name };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name }, spec };
}

test('T065 an object that does not exist is created, and its fields belong to the applier', async () => {
  const { path, name } = await freshLease();
  const created = expect(await apply(path, aLease(name, { holderIdentity: 'a' }, { labels: { l: 'x' } }), 'one'), 201);
  assert.deepEqual(ownersOf(created), [
    {
      manager: 'one',
      operation: 'Apply',
      apiVersion: 'coordination.k8s.io/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:labels': { 'f:l': {} } }, 'f:spec': { 'f:holderIdentity': {} } },
    },
  ]);
  assert.match(created.metadata.managedFields[0].time, /^\d{4}-.*Z$/);
});

test('an apply that changes nothing does not write', async () => {
  const { path, name } = await freshLease();
  const created = expect(await apply(path, aLease(name, { holderIdentity: 'a' }), 'one'), 201);
  const again = expect(await apply(path, aLease(name, { holderIdentity: 'a' }), 'one'), 200);
  assert.deepEqual(again, created);
});

test('T068 fields that the applier no longer has are removed, those of others are kept', async () => {
  const { path, name } = await freshLease();
  expect(await apply(path, aLease(name, { holderIdentity: 'a', leaseDurationSeconds: 5 }), 'one'), 201);
  expect(await apply(path, aLease(name, { leaseTransitions: 3 }), 'two'), 200);
  const changed = expect(await apply(path, aLease(name, { holderIdentity: 'b' }), 'one'), 200);
  assert.deepEqual(changed.spec, { holderIdentity: 'b', leaseTransitions: 3 });
});

test('T067 a conflict names manager and field, and force takes the field over', async () => {
  const { path, name } = await freshLease();
  expect(await apply(path, aLease(name, { holderIdentity: 'a' }), 'one'), 201);
  const refused = await apply(path, aLease(name, { holderIdentity: 'b' }), 'two');
  expect(refused, 409, {
    reason: 'Conflict',
    message: 'Apply failed with 1 conflict: conflict with "one": .spec.holderIdentity',
    details: {
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.holderIdentity' }],
    },
  });
  const forced = expect(await apply(path, aLease(name, { holderIdentity: 'b' }), 'two', '&force=true'), 200);
  assert.equal(forced.spec.holderIdentity, 'b');
  assert.deepEqual(
    ownersOf(forced).map(({ manager }) => manager),
    ['two'],
  );
});

test('conflicts with several updaters are listed by manager', async () => {
  const { path, name } = await freshLease();
  await client.make(
    `${leases('default')}?fieldManager=maker`,
    aLease(name, { holderIdentity: 'a', leaseDurationSeconds: 5 }),
  );
  const patch = { spec: { leaseDurationSeconds: 6 } };
  expect(await client.patch(`${path}?fieldManager=patcher`, mergePatch, patch), 200);
  const refused = await apply(path, aLease(name, { holderIdentity: 'b', leaseDurationSeconds: 7 }), 'two');
  const using = 'using coordination.k8s.io/v1';
  const message = `Apply failed with 2 conflicts: conflicts with "maker" ${using}:\n- .spec.holderIdentity\nconflicts with "patcher" ${using}:\n- .spec.leaseDurationSeconds`;
  expect(refused, 409, { message });
});

test('two appliers of the same value own it together', async () => {
  const { path, name } = await freshLease();
  const first = expect(await apply(path, aLease(name, { holderIdentity: 'a' }), 'one'), 201);
  const second = expect(await apply(path, aLease(name, { holderIdentity: 'a' }), 'two'), 200);
  assert.notEqual(second.metadata.resourceVersion, first.metadata.resourceVersion);
  assert.deepEqual(new Set(ownersOf(second).map(({ manager }) => manager)), new Set(['one', 'two']));
  const left = expect(await apply(path, aLease(name), 'one'), 200);
  assert.equal(left.spec.holderIdentity, 'a');
});

test('a create owns what the client sent and the defaults, an update what it changed', async () => {
  const namespace = await client.namespace();
  const name = client.name('pod');
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const created = await client.make(`${pods}?fieldManager=maker`, aPod(name, { metadata: { labels: { a: '1' } } }));
  assert.deepEqual(fieldsOf(created, 'maker'), {
    'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
    'f:spec': {
      'f:automountServiceAccountToken': {},
      'f:containers': {
        'k:{"name":"c"}': {
          '.': {},
          'f:image': {},
          'f:imagePullPolicy': {},
          'f:name': {},
          'f:resources': {},
          'f:terminationMessagePath': {},
          'f:terminationMessagePolicy': {},
        },
      },
      'f:dnsPolicy': {},
      'f:enableServiceLinks': {},
      'f:restartPolicy': {},
      'f:schedulerName': {},
      'f:securityContext': {},
      'f:terminationGracePeriodSeconds': {},
    },
  });
  const patch = { metadata: { labels: { a: '2', b: '3' } } };
  const patched = expect(await client.patch(`${pods}/${name}?fieldManager=patcher`, mergePatch, patch), 200);
  assert.deepEqual(fieldsOf(patched, 'patcher'), { 'f:metadata': { 'f:labels': { 'f:a': {}, 'f:b': {} } } });
  assert.deepEqual(fieldsOf(patched, 'maker')['f:metadata'], { 'f:labels': {} });
});

test('writes to the status are an entry of their own', async () => {
  const node = await client.node({ metadata: { labels: { a: '1' } } });
  const path = `/api/v1/nodes/${node.metadata.name}`;
  const conditions = [{ type: 'Ready', status: 'True' }];
  const body = { status: { conditions } };
  const type = 'application/strategic-merge-patch+json';
  const patched = expect(await client.patch(`${path}/status?fieldManager=kubelet`, type, body), 200);
  const entry = ownersOf(patched).find(({ manager }) => manager === 'kubelet');
  assert.equal(entry.subresource, 'status');
  const condition = {
    '.': {},
    'f:lastHeartbeatTime': {},
    'f:lastTransitionTime': {},
    'f:status': {},
    'f:type': {},
  };
  assert.deepEqual(entry.fieldsV1, { 'f:status': { 'f:conditions': { '.': {}, 'k:{"type":"Ready"}': condition } } });
});

test('elements of a list with keys belong to different appliers, and follow the order of the last one', async () => {
  const namespace = await client.namespace();
  const name = client.name('set');
  const path = `${daemonSets(namespace)}/${name}`;
  const a = { name: 'a', image: 'registry/a:1', ports: [{ containerPort: 80 }] };
  const b = { name: 'b', image: 'registry/b:1' };
  expect(await apply(path, aDaemonSet(name, [a]), 'one'), 201);
  const both = expect(await apply(path, aDaemonSet(name, [b, a]), 'two'), 200);
  assert.deepEqual(
    both.spec.template.spec.containers.map((each: Json) => each.name),
    ['b', 'a'],
  );
  const ports = fieldsOf(both, 'one')['f:spec']['f:template']['f:spec']['f:containers']['k:{"name":"a"}']['f:ports'];
  assert.deepEqual(ports, { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } });
  const last = expect(await apply(path, aDaemonSet(name, [b]), 'two'), 200);
  assert.deepEqual(
    last.spec.template.spec.containers.map((each: Json) => each.name),
    ['b', 'a'],
  );
});

test('T066 fieldManager is required, printable and at most 128 bytes', async () => {
  const { path, name } = await freshLease();
  const missing = await client.patch(path, applyPatch, aLease(name));
  expect(missing, 422, { details: { kind: 'PatchOptions' } });
  assert.match(missing.body.message, /fieldManager: Required value: is required for apply patch$/);
  expect(await apply(path, aLease(name), 'x'.repeat(129)), 422);
  expect(await apply(path, aLease(name), 'a%07b'), 422);
  const forced = await client.patch(`${path}?force=true`, mergePatch, {});
  assert.deepEqual(causesOf(forced), ['FieldValueForbidden']);
});

test('a configuration without kind, with another kind or with managedFields is rejected', async () => {
  const { path, name } = await freshLease();
  expect(await apply(path, { metadata: { name } }, 'one'), 400, { message: 'invalid object type: /, Kind=' });
  const wrong = { apiVersion: 'v1', kind: 'Pod', metadata: { name } };
  expect(await apply(path, wrong, 'one'), 400, { message: 'invalid object type: /v1, Kind=Pod' });
  const managed = aLease(name, {}, { managedFields: [] });
  expect(await apply(path, managed, 'one'), 400, { message: 'metadata.managedFields must be nil' });
});

test('fields that the kind does not have, and values of the wrong type, are rejected', async () => {
  const { path, name } = await freshLease();
  const prefix = `failed to create typed patch object (/${name}; coordination.k8s.io/v1, Kind=Lease)`;
  expect(await apply(path, aLease(name, { foo: 1 }), 'one'), 500, {
    message: `${prefix}: .spec.foo: field not declared in schema`,
  });
  expect(await apply(path, aLease(name, { leaseDurationSeconds: 'x' }), 'one'), 500, {
    message: `${prefix}: .spec.leaseDurationSeconds: expected numeric (int or float), got string`,
  });
});

test('YAML is accepted; malformed YAML, duplicate keys and lists are not', async () => {
  const { path, name } = await freshLease();
  const yaml = `apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  name: ${name}\nspec:\n  holderIdentity: 12:30\n  leaseTransitions: 010\n  renewTime: 2026-01-02T03:04:05.000000Z\n`;
  const spec = { holderIdentity: '12:30', leaseTransitions: 8, renewTime: '2026-01-02T03:04:05.000000Z' };
  assert.deepEqual(expect(await apply(path, yaml, 'one'), 201).spec, spec);
  const affirmed = await apply(path, yaml.replace('12:30', 'y'), 'one');
  expect(affirmed, 500);
  assert.match(
    affirmed.body.message,
    /\.spec\.holderIdentity: expected string, got &value\.valueUnstructured\{Value:true\}$/,
  );
  const malformed = await apply(path, 'a: [', 'one');
  expect(malformed, 400);
  const malformedText = byVersion({
    '1.34': /^error decoding YAML: error converting YAML to JSON: yaml: /,
    '1.37': /^error encoding patch: yaml: /,
  });
  assert.match(malformed.body.message, malformedText);
  const twice = await apply(path, `${yaml}  holderIdentity: z\n`, 'one', '&fieldValidation=Strict');
  expect(twice, 400);
  assert.match(
    twice.body.message,
    byVersion({ '1.34': /^error strict decoding YAML: /, '1.37': /^error strict decoding patch: / }),
  );
  expect(await apply(path, '[]', 'one'), 400);
});

test('name and namespace of a configuration must be those of the path', async () => {
  const { path, name } = await freshLease();
  expect(await apply(path, aLease('other'), 'one'), 400);
  expect(await apply(path, aLease(name, {}, { namespace: 'other' }), 'one'), 400);
});

test('a resourceVersion in a configuration is compared, a uid needs an object', async () => {
  const { path, name } = await freshLease();
  expect(await apply(path, aLease(name, {}, { uid: 'abc' }), 'one'), 409);
  const { metadata } = expect(await apply(path, aLease(name, { holderIdentity: 'a' }), 'one'), 201);
  const { resourceVersion } = metadata;
  expect(await apply(path, aLease(name, { holderIdentity: 'b' }, { resourceVersion }), 'one'), 200);
  expect(await apply(path, aLease(name, { holderIdentity: 'c' }, { resourceVersion }), 'one'), 409);
});

test('a dry run of an apply writes nothing', async () => {
  const { path, name } = await freshLease();
  expect(await apply(path, aLease(name, { holderIdentity: 'a' }), 'one', '&dryRun=All'), 201);
  expect(await client.get(path), 404);
});

test('managedFields can be reset, and the next apply protects what was there', async () => {
  const { path, name } = await freshLease();
  await client.make(`${leases('default')}?fieldManager=maker`, aLease(name, { holderIdentity: 'a' }));
  const reset = { metadata: { managedFields: [{}] } };
  const patched = expect(await client.patch(path, mergePatch, reset), 200);
  assert.equal(patched.metadata.managedFields, undefined);
  const refused = await apply(path, aLease(name, { holderIdentity: 'b' }), 'one');
  expect(refused, 409);
  assert.match(
    refused.body.message,
    /conflict with "before-first-apply" using coordination.k8s.io\/v1: \.spec\.holderIdentity$/,
  );
});

test('an update without managedFields keeps them, an update with them sets them', async () => {
  const { path, name } = await freshLease();
  const created = expect(await apply(path, aLease(name, { holderIdentity: 'a' }), 'one'), 201);
  const { managedFields, ...metadata } = created.metadata;
  const kept = expect(await client.put(path, { ...created, metadata }), 200);
  assert.deepEqual(kept, created);
  const renamed = [{ ...managedFields[0], manager: 'renamed' }];
  const patch = [{ op: 'replace', path: '/metadata/managedFields', value: renamed }];
  assert.deepEqual(expect(await client.patch(path, jsonPatch, patch), 200).metadata.managedFields, renamed);
});

test('updates of an object without owners are not tracked', async () => {
  const { path, name } = await freshLease();
  await client.make(leases('default'), aLease(name));
  const patched = expect(await client.patch(path, mergePatch, { metadata: { labels: { a: '1' } } }), 200);
  assert.equal(patched.metadata.managedFields, undefined);
});

test('more than ten updaters are merged into ancient-changes', async () => {
  const { path, name } = await freshLease();
  await client.make(leases('default'), aLease(name, { holderIdentity: 'a' }));
  for (let index = 0; index < 12; index += 1) {
    const patch = { metadata: { labels: { [`l${index}`]: 'x' } } };
    expect(await client.patch(`${path}?fieldManager=m${String(index).padStart(2, '0')}`, mergePatch, patch), 200);
  }
  const { body } = await client.get(path);
  assert.equal(body.metadata.managedFields.length, 10);
  assert.ok(fieldsOf(body, 'ancient-changes'));
});

test('kubectl takes over the fields of its last-applied annotation', async () => {
  const { path, name } = await freshLease();
  const key = 'kubectl.kubernetes.io/last-applied-configuration';
  const before = aLease(name, { holderIdentity: 'a' });
  const annotations = { [key]: JSON.stringify(before) };
  const query = '?fieldManager=kubectl-client-side-apply';
  await client.make(`${leases('default')}${query}`, aLease(name, { holderIdentity: 'a' }, { annotations }));
  expect(await apply(path, aLease(name, { holderIdentity: 'b' }), 'other'), 409);
  const applied = expect(await apply(path, aLease(name, { holderIdentity: 'b' }), 'kubectl'), 200);
  assert.equal(applied.spec.holderIdentity, 'b');
  assert.equal(JSON.parse(applied.metadata.annotations[key]).spec.holderIdentity, 'b');
});

test('an apply to the status is an entry of its own, without the fields that the endpoint resets', async () => {
  const name = client.name('node');
  const path = `/api/v1/nodes/${name}`;
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { a: '1' } } };
  expect(await apply(path, node, 'one'), 201);
  const status = { conditions: [{ type: 'Custom', status: 'True' }] };
  const applied = expect(await apply(`${path}/status`, { ...node, spec: { unschedulable: true }, status }, 'one'), 200);
  assert.equal(applied.spec.unschedulable, undefined);
  const condition = { '.': {}, 'f:status': {}, 'f:type': {} };
  const labels = { 'f:metadata': { 'f:labels': { 'f:a': {} } } };
  const common = { manager: 'one', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' };
  assert.deepEqual(ownersOf(applied), [
    { ...common, fieldsV1: labels },
    {
      ...common,
      subresource: 'status',
      fieldsV1: { ...labels, 'f:status': { 'f:conditions': { 'k:{"type":"Custom"}': condition } } },
    },
  ]);
});

test('a list element without its key has the default of the key, if there is one', async () => {
  const spec = { imagePullSecrets: [{}, { name: 'x' }] };
  const pod = aPod(client.name('pod'));
  const created = await client.make('/api/v1/namespaces/default/pods', { ...pod, spec: { ...pod.spec, ...spec } });
  const [owner] = ownersOf(created);
  const secrets = { '.': {}, 'k:{"name":""}': {}, 'k:{"name":"x"}': {} };
  assert.deepEqual(owner?.fieldsV1['f:spec']['f:imagePullSecrets'], secrets);
});

test('an object with list elements that have no identity keeps its owners, and cannot be applied', async () => {
  const collection = '/api/v1/namespaces/default/serviceaccounts';
  const name = client.name('account');
  const path = `${collection}/${name}`;
  await client.make(collection, { metadata: { name }, secrets: [{ name: 'x' }] });
  const patched = expect(await client.patch(path, mergePatch, { secrets: [{}] }), 200);
  const before = { 'f:secrets': { '.': {}, 'k:{"name":"x"}': {} } };
  assert.deepEqual(patched.secrets, [{}]);
  const kept = byVersion<readonly Json[]>({ '1.34': [], '1.37': [before] });
  assert.deepEqual(
    (patched.metadata.managedFields ?? []).map(({ fieldsV1 }: Json) => fieldsV1),
    kept,
  );
  const configuration = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { labels: { l: 'x' } } };
  const { code, body } = await apply(path, configuration, 'one');
  assert.equal(code, 500);
  const why = byVersion({
    '1.34': /^failed to create manager for existing fields: .*\.secrets: element 0: associative list/,
    '1.37': /^failed to create typed live object .*\.secrets: element 0: associative list/,
  });
  assert.match(body.message, why);
  expect(await client.patch(path, mergePatch, { secrets: [{ name: 'y' }] }), 200);
  assert.deepEqual(fieldsOf(expect(await apply(path, configuration, 'one'), 200), 'one'), {
    'f:metadata': { 'f:labels': { 'f:l': {} } },
  });
});
