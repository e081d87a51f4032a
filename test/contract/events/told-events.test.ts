// Events from the recorder to the embedded API server over HTTP, in either API; on a real one: test/control-plane/events.test.ts
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { plainConnection } from '../../../src/adapters/http-connection.ts';
import { SystemClock } from '../../../src/adapters/system-clock.ts';
import { SystemRandom } from '../../../src/adapters/system-random.ts';
import { deriveNewerEvent } from '../../../src/events/derive-newer-event.ts';
import { type EventApi, EventSink, newerManner } from '../../../src/events/event-sink.ts';
import { type EventsApi, eventsApis } from '../../../src/events/events-api.ts';
import { Telling } from '../../support/event-telling.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { KeepingLogger } from '../../support/quiet.ts';
import { type Client, type Json, openClient } from '../apiserver/client.ts';

let client: Client;
const ends: (() => Promise<unknown>)[] = [];
before(async () => {
  client = await openClient();
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
after(() => client.close());

const corePath = '/api/v1/namespaces/default/events';
const newerPath = '/apis/events.k8s.io/v1/namespaces/default/events';

function tell(eventsApi: EventsApi): Telling {
  const { url, ca, token } = client.backend;
  const api = makeKubeApi(plainConnection(url, { token, tls: { ca } }));
  const telling = new Telling(eventsApi, api);
  ends.push(() => telling.end());
  return telling;
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
  test(`${eventsApi}: repeats are one event, whichever API it is read through`, async () => {
    const object = client.name('node');
    const telling = tell(eventsApi);
    for (let time = 0; time < 5; time++) telling.record(object, 'the first note');
    await telling.flush();
    const { core, newer } = await eventsAbout(object);
    assert.equal(core.metadata.uid, newer.metadata.uid);
    assert.equal(core.message, 'the first note');
    assert.equal(newer.note, 'the first note');
    assert.deepEqual(countsOf[eventsApi](core, newer), [5, 5]);
    assert.deepEqual(telling.drops, []);
  });

  test(`${eventsApi}: what could be refused is taken`, async () => {
    const name = client.name('Odd_Name');
    const telling = tell(eventsApi);
    const related = { kind: 'Pod', namespace: 'default', name: '' };
    const long = { reason: 'r'.repeat(200), message: '€'.repeat(700), action: '' };
    telling.recorder.record({ about: { kind: 'Node', name }, type: 'Warning', related, ...long });
    await telling.flush();
    assert.deepEqual(telling.drops, []);
    const { newer } = await eventsAbout(name);
    assert.equal(newer.note, '€'.repeat(eventsApi === 'core' ? 700 : 341));
  });

  test(`${eventsApi}: a repeat of an event that is gone is told anew, with its count`, async () => {
    const object = client.name('node');
    const telling = tell(eventsApi);
    telling.record(object, 'm');
    await telling.settle();
    const first = await eventsAbout(object);
    await client.delete(`${corePath}/${first.core.metadata.name}`);
    telling.record(object, 'm');
    await telling.flush();
    const { core, newer } = await eventsAbout(object);
    assert.notEqual(core.metadata.uid, first.core.metadata.uid);
    assert.deepEqual(countsOf[eventsApi](core, newer), [2, 2]);
  });
}

test('an event without an action is refused by events.k8s.io/v1, and the sink does not ask twice [I14]', async () => {
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
  const means = { api: counting, clock: new SystemClock(), random: new SystemRandom(), logger: new KeepingLogger() };
  const sink = new EventSink(means, newerManner);
  const draft = { about: { kind: 'Node', name: 'n' }, type: 'Normal', reason: 'R', message: 'm' } as const;
  const whole = deriveNewerEvent(draft, { component: 'c', host: 'h' }, client.name('event'), Date.now());
  const { signal } = new AbortController();
  const event = { ...whole, action: '' };
  assert.equal(await sink.deliver({ event, patch: undefined }, 12, signal), 'rejected');
  assert.equal(requests.length, 1);
  assert.equal(await sink.deliver({ event: whole, patch: undefined }, 12, signal), 'written');
});
