// Events from the recorder to the embedded API server over HTTP, in both APIs; with a real one: test/control-plane/events.test.ts
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { plainConnection } from '../../support/plain-connection.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../../src/machinery/adapters/system-random.ts';
import { toEventsV1 } from '../../../src/machinery/events/to-events-v1.ts';
import { type EventApi, EventSink, eventV1Behavior } from '../../../src/machinery/events/event-sink.ts';
import { type EventsApi, eventsApis } from '../../../src/machinery/events/events-api.ts';
import { RunningBroadcaster } from '../../support/running-broadcaster.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { type Json, openClient } from '../apiserver/client.ts';

const client = await openClient();
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const corePath = '/api/v1/namespaces/default/events';
const newerPath = '/apis/events.k8s.io/v1/namespaces/default/events';

function record(eventsApi: EventsApi): RunningBroadcaster {
  const { url, ca, token } = client.backend;
  const api = makeKubeApi(plainConnection(url, { token, tls: { ca } }));
  const events = new RunningBroadcaster(eventsApi, api);
  ends.push(() => events.end());
  return events;
}

async function eventsAbout(object: string): Promise<{ readonly core: Json; readonly newer: Json }> {
  const core = await client.get(`${corePath}?fieldSelector=involvedObject.name=${object}`);
  const newer = await client.get(`${newerPath}?fieldSelector=regarding.name=${object}`);
  assert.deepEqual([core.body.items.length, newer.body.items.length], [1, 1], core.text);
  return { core: core.body.items[0], newer: newer.body.items[0] };
}

const countsOf: Readonly<Record<EventsApi, (core: Json, newer: Json) => readonly unknown[]>> = {
  core: (core, newer) => [core.count, newer.deprecatedCount],
  'events.k8s.io': (core, newer) => [core.series?.count, newer.series?.count],
};

for (const eventsApi of eventsApis) {
  test(`${eventsApi}: repeats are one event, in whichever API it is read`, async () => {
    const object = client.name('node');
    const events = record(eventsApi);
    for (let time = 0; time < 5; time++) events.record(object, 'the first note');
    await events.flush();
    const { core, newer } = await eventsAbout(object);
    assert.equal(core.metadata.uid, newer.metadata.uid);
    assert.equal(core.message, 'the first note');
    assert.equal(newer.note, 'the first note');
    assert.deepEqual(countsOf[eventsApi](core, newer), [5, 5]);
    assert.deepEqual(events.drops, []);
  });

  test(`${eventsApi}: drafts with overlong texts are accepted`, async () => {
    const name = client.name('Upper_Name');
    const events = record(eventsApi);
    const related = { kind: 'Pod', namespace: 'default', name: '' };
    const long = { reason: 'r'.repeat(200), message: '€'.repeat(700), action: '' };
    events.recorder.record({ about: { kind: 'Node', name }, type: 'Warning', related, ...long });
    await events.flush();
    assert.deepEqual(events.drops, []);
    const { newer } = await eventsAbout(name);
    assert.equal(newer.note, '€'.repeat(eventsApi === 'core' ? 700 : 341));
  });

  test(`${eventsApi}: a repeat of a deleted event is posted again, with its count`, async () => {
    const object = client.name('node');
    const events = record(eventsApi);
    events.record(object, 'm');
    await events.settle();
    const first = await eventsAbout(object);
    await client.delete(`${corePath}/${first.core.metadata.name}`);
    events.record(object, 'm');
    await events.flush();
    const { core, newer } = await eventsAbout(object);
    assert.notEqual(core.metadata.uid, first.core.metadata.uid);
    assert.deepEqual(countsOf[eventsApi](core, newer), [2, 2]);
  });
}

test('an event without an action is rejected by events.k8s.io/v1, and the sink does not retry [I14]', async () => {
  const requests: unknown[] = [];
  const { url, ca, token } = client.backend;
  const api = makeKubeApi(plainConnection(url, { token, tls: { ca } }));
  ends.push(() => api.close());
  const counting: EventApi = {
    create: (resource, object, options) => {
      requests.push(object);
      return api.create(resource, object, options);
    },
    patch: (...request) => api.patch(...request),
  };
  const dependencies = {
    api: counting,
    clock: new SystemClock(),
    random: new SystemRandom(),
    logger: new RecordingLogger(),
  };
  const sink = new EventSink(dependencies, eventV1Behavior);
  const draft = { about: { kind: 'Node', name: 'n' }, type: 'Normal', reason: 'R', message: 'm' } as const;
  const whole = toEventsV1(draft, { component: 'c', host: 'h' }, client.name('event'), Date.now());
  const { signal } = new AbortController();
  const event = { ...whole, action: '' };
  assert.equal(await sink.deliver({ event, patch: undefined }, 12, signal), 'rejected');
  assert.equal(requests.length, 1);
  assert.equal(await sink.deliver({ event: whole, patch: undefined }, 12, signal), 'written');
});
