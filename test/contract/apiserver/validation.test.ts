import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byVersion } from '../../support/by-version.ts';
import {
  type ApiResponse,
  aPod,
  causesOf,
  expect,
  type Json,
  leases,
  mergePatch,
  namesOf,
  nodePath,
  openClient,
  strategicPatch,
} from './client.ts';

const client = await openClient();

test('T135 taints must be valid and unique', async () => {
  const node = await client.node();
  const taint = (taints: unknown): Promise<ApiResponse> =>
    client.patch(`/api/v1/nodes/${node.metadata.name}`, strategicPatch, { spec: { taints } });
  assert.deepEqual(causesOf(await taint([{ key: 'a', effect: 'Never' }])), ['FieldValueNotSupported']);
  assert.deepEqual(causesOf(await taint([{ key: 'a', effect: '' }])), ['FieldValueRequired']);
  const twice = { key: 'a', effect: 'NoSchedule' };
  const duplicate = await taint([twice, { ...twice, value: 'v' }]);
  expect(duplicate, 422);
  assert.deepEqual(causesOf(duplicate), ['FieldValueDuplicate']);
});

test('T136 podCIDRs and providerID of a node are immutable once set', async () => {
  const node = await client.node({ spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'], providerID: 'x://1' } });
  const response = await client.patch(nodePath(node), mergePatch, { spec: { providerID: 'x://2' } });
  expect(response, 422);
  assert.deepEqual(causesOf(response), [byVersion({ '1.34': 'FieldValueForbidden', '1.37': 'FieldValueInvalid' })]);
});

test('T137 tolerationSeconds requires the effect NoExecute', async () => {
  const tolerations = [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }];
  const response = await client.post('/api/v1/namespaces/default/pods', aPod('p', { spec: { tolerations } }));
  expect(response, 422);
  assert.deepEqual(causesOf(response), ['FieldValueInvalid']);
});

test('tolerations that compare numbers are rejected without their feature gate', async () => {
  for (const operator of ['Lt', 'Gt']) {
    const tolerations = [{ key: 'a', operator, value: '5', effect: 'NoExecute' }];
    const response = await client.post('/api/v1/namespaces/default/pods', aPod('p', { spec: { tolerations } }));
    expect(response, 422);
    // Before 1.35 the operators are not known.
    const supported = /^Unsupported value: "(Lt|Gt)": supported values: "Equal", "Exists"(, "Lt", "Gt")?$/;
    assert.match(response.body.details.causes[0].message, supported);
  }
});

test('T138 leaseDurationSeconds must be positive and leaseTransitions not negative', async () => {
  const namespace = await client.namespace();
  for (const spec of [{ leaseDurationSeconds: 0 }, { leaseTransitions: -1 }]) {
    const response = await client.post(leases(namespace), { metadata: { name: 'l' }, spec });
    assert.equal(response.code, 422, JSON.stringify(spec));
  }
});

test('T139 T140 a MicroTime has six digits, a Time whole seconds', async () => {
  const namespace = await client.namespace();
  const renew = (renewTime: string): Promise<ApiResponse> =>
    client.post(leases(namespace), { metadata: { name: 'l' }, spec: { renewTime } });
  assert.match(expect(await renew('2026-01-01T00:00:00.123Z'), 400).message, /renewTime: must be a time|parsing time/);
  const renewTime = '2026-01-01T00:00:00.123456Z';
  expect(await renew(renewTime), 201, { spec: { renewTime } });
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T01:00:00.987+01:00' }];
  const node = await client.node({ status: { conditions } });
  assert.equal(node.status.conditions[0].lastHeartbeatTime, '2026-01-01T00:00:00Z');
});

test('T141 names follow the rules of their kind', async () => {
  for (const [plural, name] of [
    ['nodes', 'Upper'],
    ['nodes', 'a'.repeat(254)],
    ['namespaces', 'with.dot'],
  ]) {
    const details = { causes: [{ field: 'metadata.name' }] };
    expect(await client.post(`/api/v1/${plural}`, { metadata: { name } }), 422, { details });
  }
});

test('T142 T143 size limits of annotations and bodies', async () => {
  const annotate = (big: string): Promise<ApiResponse> =>
    client.post('/api/v1/nodes', { metadata: { name: client.name('node'), annotations: { big } } });
  expect(await annotate('x'.repeat(257 * 1024)), 422);
  expect(await annotate('x'.repeat(3_300_000)), 413);
});

test('T144 owner references must be complete, with one controller, and duplicates are dropped', async () => {
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: '55555555-5555-4555-8555-555555555555' };
  const send = (ownerReferences: readonly Json[]): Promise<ApiResponse> =>
    client.post('/api/v1/nodes', { metadata: { name: client.name('node'), ownerReferences } });
  expect(await send([{ ...owner, uid: '' }]), 422);
  const controller = (name: string): object => ({
    ...owner,
    name,
    uid: owner.uid.replaceAll('5', name),
    controller: true,
  });
  expect(await send(['a', 'b'].map(controller)), 422);
  const twice = await send([owner, owner]);
  assert.equal(expect(twice, 201).metadata.ownerReferences.length, 1);
  assert.match(String(twice.headers['warning']), /duplicate/);
});

test('an event about a cluster-scoped object must be in the default namespace', async () => {
  const event = { involvedObject: { kind: 'Node', name: 'n' }, reason: 'R', message: 'm', type: 'Normal' };
  const body = { metadata: { name: client.name('event') }, ...event };
  const { metadata } = await client.make('/api/v1/namespaces/default/events', body);
  expect(await client.post(`/api/v1/namespaces/${await client.namespace()}/events`, body), 422);
  const path = `/apis/events.k8s.io/v1/namespaces/default/events/${metadata.name}`;
  expect(await client.get(path), 200, { note: 'm', regarding: { name: 'n' }, reason: 'R' });
  const selector = encodeURIComponent('involvedObject.name=n,involvedObject.namespace=,reason=R');
  const listed = await client.get(`/api/v1/namespaces/default/events?fieldSelector=${selector}`);
  assert.ok(namesOf(listed).includes(metadata.name));
});
