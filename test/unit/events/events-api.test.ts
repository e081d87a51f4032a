import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsApiDefault, eventsApis, makeBroadcaster } from '../../../src/events/events-api.ts';
import { EventStand } from '../../support/event-stand.ts';
import { settled } from '../../support/manual-clock.ts';

test('events are told in core/v1 unless somebody wants otherwise', () => {
  assert.equal(eventsApiDefault, 'core');
});

for (const api of eventsApis)
  test(`${api}: the broadcaster writes to that API and to no other`, async () => {
    const stand = new EventStand((options) => makeBroadcaster(api, options)).start();
    stand.record();
    await settled();
    const resource = api === 'core' ? 'events' : 'events.events.k8s.io';
    assert.deepEqual([...stand.server.resources], [resource]);
    await stand.stop();
  });
