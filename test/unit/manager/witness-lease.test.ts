import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiWitnessReports } from '../../../src/manager/witness-lease.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryApi } from '../../support/memory-api.ts';

const { signal } = new AbortController();
const name = { namespace: 'kube-node-lease', name: 'node-lifecycle-controller-witness' };
const unanswered = new Map([['web-7', '2026-01-02T03:04:05Z']]);

test('a report is created, read by another replica, and replaced', async () => {
  const clock = new ManualClock();
  const api = new MemoryApi(clock);
  const [here, there] = ['here', 'there'].map(
    (place) => new ApiWitnessReports(api, clock, { identity: `replica ${place}`, place }),
  );
  assert.ok(here !== undefined && there !== undefined);
  assert.equal(await there.read(signal), undefined);
  await here.write(unanswered, signal);
  assert.deepEqual(await there.read(signal), {
    identity: 'replica here',
    place: 'here',
    reportedAtMs: clock.nowMs(),
    unanswered,
  });
  await there.write(new Map(), signal);
  assert.deepEqual((await here.read(signal))?.unanswered, new Map());
  assert.equal((await here.read(signal))?.place, 'there');
});

const report = '{"place":"there","nodes":{"web-7":"2026-01-02T03:04:05Z"}}';
const spec = { holderIdentity: 'other', renewTime: '2026-01-02T03:04:05.000000Z' };
for (const [what, annotations, fields] of [
  ['no annotation', {}, spec],
  ['no JSON', { 'nodelifecycle/unanswered': '{' }, spec],
  ['a list', { 'nodelifecycle/unanswered': '[]' }, spec],
  ['no place', { 'nodelifecycle/unanswered': '{"nodes":{}}' }, spec],
  ['nodes that are no map', { 'nodelifecycle/unanswered': '{"place":"there","nodes":[]}' }, spec],
  ['a text of 200,000 characters', { 'nodelifecycle/unanswered': report + ' '.repeat(200_000) }, spec],
  ['no holder', { 'nodelifecycle/unanswered': report }, { renewTime: spec.renewTime }],
  ['no time', { 'nodelifecycle/unanswered': report }, { holderIdentity: 'other' }],
  ['a time that is none', { 'nodelifecycle/unanswered': report }, { ...spec, renewTime: 'today' }],
] as const) {
  test(`a lease with ${what} is no report`, async () => {
    const clock = new ManualClock();
    const api = new MemoryApi(clock);
    const lease = { metadata: { ...name, annotations }, spec: fields };
    await api.create('leases', lease);
    const reports = new ApiWitnessReports(api, clock, { identity: 'this', place: 'here' });
    assert.equal(await reports.read(signal), undefined);
  });
}
