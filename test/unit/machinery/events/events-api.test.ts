import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsApiDefault, eventsApis, makeBroadcaster } from '../../../../src/machinery/events/events-api.ts';
import { EventStand } from '../../../support/event-stand.ts';
import { settled } from '../../../support/manual-clock.ts';

test('the default API of events is core/v1', () => {
  assert.equal(eventsApiDefault, 'core');
});

for (const api of eventsApis)
  test(`${api}: the broadcaster writes to that API and to no other`, async () => {
    const harness = new EventStand((options) => makeBroadcaster(api, options)).start();
    harness.record();
    await settled();
    const resource = api === 'core' ? 'events' : 'events.events.k8s.io';
    assert.deepEqual([...harness.server.resources], [resource]);
  });
