import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, type Client, causesOf, type Json, mergePatch, openClient, strategicPatch } from './client.ts';

let client: Client;
before(async () => {
  client = await openClient();
});
after(() => client.close());

const leases = (namespace: string): string => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

test('T135 taints must be well formed and unique', async () => {
  const node = await client.node();
  const taint = (taints: unknown): Promise<Answer> =>
    client.patch(`/api/v1/nodes/${node.metadata.name}`, strategicPatch, { spec: { taints } });
  assert.deepEqual(causesOf(await taint([{ key: 'a', effect: 'Never' }])), ['FieldValueNotSupported']);
  assert.deepEqual(causesOf(await taint([{ key: 'a', effect: '' }])), ['FieldValueRequired']);
  const twice = { key: 'a', effect: 'NoSchedule' };
  const duplicate = await taint([twice, { ...twice, value: 'v' }]);
  assert.equal(duplicate.code, 422);
  assert.deepEqual(causesOf(duplicate), ['FieldValueDuplicate']);
});

test('T136 what a node gets once it keeps', async () => {
  const node = await client.node({ spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'], providerID: 'x://1' } });
  const answer = await client.patch(`/api/v1/nodes/${node.metadata.name}`, mergePatch, {
    spec: { providerID: 'x://2' },
  });
  assert.equal(answer.code, 422);
  assert.ok(causesOf(answer).includes('FieldValueForbidden'));
});

test('T137 only NoExecute can be tolerated for a time', async () => {
  const namespace = await client.namespace();
  const tolerations = [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }];
  const answer = await client.post(`/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name: 'p' },
    spec: { tolerations, automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i:1' }] },
  });
  assert.equal(answer.code, 422);
  assert.deepEqual(causesOf(answer), ['FieldValueInvalid']);
});

test('T138 a lease lasts some time and changes hands no negative number of times', async () => {
  const namespace = await client.namespace();
  for (const spec of [{ leaseDurationSeconds: 0 }, { leaseTransitions: -1 }]) {
    const answer = await client.post(leases(namespace), { metadata: { name: 'l' }, spec });
    assert.equal(answer.code, 422, JSON.stringify(spec));
  }
});

test('T139 a MicroTime has six digits', async () => {
  const namespace = await client.namespace();
  const renew = (renewTime: string): Promise<Answer> =>
    client.post(leases(namespace), { metadata: { name: 'l' }, spec: { renewTime } });
  const three = await renew('2026-01-01T00:00:00.123Z');
  assert.equal(three.code, 400);
  assert.match(three.body.message, /parsing time/);
  const six = await renew('2026-01-01T00:00:00.123456Z');
  assert.equal(six.code, 201);
  assert.equal(six.body.spec.renewTime, '2026-01-01T00:00:00.123456Z');
});

test('T140 a Time has whole seconds', async () => {
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T01:00:00.987+01:00' }];
  const node = await client.node({ status: { conditions } });
  assert.equal(node.status.conditions[0].lastHeartbeatTime, '2026-01-01T00:00:00Z');
});

test('T141 names follow the rules of their kind', async () => {
  const refused: readonly (readonly [string, string])[] = [
    ['nodes', 'Upper'],
    ['nodes', 'a'.repeat(254)],
    ['namespaces', 'with.dot'],
  ];
  for (const [plural, name] of refused) {
    const answer = await client.post(`/api/v1/${plural}`, { metadata: { name } });
    assert.equal(answer.code, 422, name);
    assert.equal(answer.body.details.causes[0].field, 'metadata.name');
  }
});

test('T142 T143 annotations and bodies have a size', async () => {
  const annotations = { big: 'x'.repeat(257 * 1024) };
  assert.equal(
    (await client.post('/api/v1/nodes', { metadata: { name: client.name('node'), annotations } })).code,
    422,
  );
  const huge = await client.post('/api/v1/nodes', {
    metadata: { name: 'x', annotations: { big: 'x'.repeat(3_300_000) } },
  });
  assert.equal(huge.code, 413);
});

test('T144 owners are complete, single and named once', async () => {
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: '55555555-5555-4555-8555-555555555555' };
  const send = (ownerReferences: readonly Json[]): Promise<Answer> =>
    client.post('/api/v1/nodes', { metadata: { name: client.name('node'), ownerReferences } });
  assert.equal((await send([{ ...owner, uid: '' }])).code, 422);
  const controllers = ['a', 'b'].map((name) => ({
    ...owner,
    name,
    uid: owner.uid.replaceAll('5', name),
    controller: true,
  }));
  assert.equal((await send(controllers)).code, 422);
  const twice = await send([owner, owner]);
  assert.equal(twice.code, 201);
  assert.equal(twice.body.metadata.ownerReferences.length, 1);
  assert.match(String(twice.headers['warning']), /duplicate/);
});

test('an event about something without a namespace stands in the default one', async () => {
  const event = { involvedObject: { kind: 'Node', name: 'n' }, reason: 'R', message: 'm', type: 'Normal' };
  const name = client.name('event');
  const made = await client.make('/api/v1/namespaces/default/events', { metadata: { name }, ...event });
  assert.equal(made.reason, 'R');
  const namespace = await client.namespace();
  const answer = await client.post(`/api/v1/namespaces/${namespace}/events`, { metadata: { name }, ...event });
  assert.equal(answer.code, 422);
  const newer = await client.get(`/apis/events.k8s.io/v1/namespaces/default/events/${name}`);
  assert.equal(newer.body.note, 'm');
  assert.equal(newer.body.regarding.name, 'n');
  const selector = encodeURIComponent('involvedObject.name=n,involvedObject.namespace=,reason=R');
  const listed = await client.get(`/api/v1/namespaces/default/events?fieldSelector=${selector}`);
  assert.ok(listed.body.items.some((item: Json) => item.metadata.name === name));
});
