import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildNodeReference } from '../../../../src/machinery/events/build-reference.ts';
import { EventBroadcaster } from '../../../../src/machinery/events/event-broadcaster.ts';
import {
  FleetBroadcaster,
  type FleetBroadcasterOptions,
  fleetWritersDefault,
} from '../../../../src/machinery/events/fleet-broadcaster.ts';
import { connectionLost } from '../../../support/event-server.ts';
import { aDraft, EventStand } from '../../../support/event-stand.ts';
import { settled } from '../../../support/manual-clock.ts';

const nodesMax = 10_000;
const nodeNames = Array.from({ length: nodesMax }, (_, index) => `n${String(index).padStart(5, '0')}`);

class Harness extends EventStand<FleetBroadcaster> {
  constructor(over: Partial<FleetBroadcasterOptions> = {}) {
    super((options) => new FleetBroadcaster({ ...options, ...over }));
  }

  /** Records an event as a kubelet does. */
  recordAs(nodeName: string, reason = 'Starting'): void {
    const about = buildNodeReference(nodeName);
    this.broadcaster.recorder('kubelet', nodeName).record(aDraft({ about, reason }));
  }
}

test('ten thousand kubelets record through one broadcaster, each with its own source', async () => {
  const harness = new Harness().start();
  for (const name of nodeNames) for (const reason of ['Starting', 'NodeReady']) harness.recordAs(name, reason);
  await settled();
  assert.equal(harness.broadcaster.pending, 0);
  const events = harness.events;
  assert.equal(events.length, 2 * nodesMax);
  for (const { source, involvedObject, count } of events) {
    assert.deepEqual(source, { component: 'kubelet', host: involvedObject.name });
    assert.deepEqual(involvedObject, { kind: 'Node', name: source.host, apiVersion: 'v1' });
    assert.equal(count, 1);
  }
  harness.recordAs('n00007');
  await settled();
  assert.equal(events.find(({ source }) => source.host === 'n00007')?.reason, 'Starting');
  assert.equal(harness.server.requests.at(-1)?.verb, 'PATCH');
});

test('the events of one machine keep their order', async () => {
  const harness = new Harness().start();
  const reasons = Array.from({ length: 20 }, (_, index) => `R${index}`);
  for (const reason of reasons) for (const name of nodeNames.slice(0, 50)) harness.recordAs(name, reason);
  await settled();
  for (const name of nodeNames.slice(0, 50)) {
    const written = harness.events.filter(({ source }) => source.host === name);
    const seen = written.map(({ reason }) => reason);
    assert.deepEqual(seen, reasons);
  }
});

test('a machine that floods uses up only its own rate limit', async () => {
  const harness = new Harness().start();
  for (let index = 0; index < 40; index++) harness.recordAs('n00001');
  for (const name of nodeNames.slice(2, 200)) harness.recordAs(name);
  await settled();
  assert.equal(harness.dropped('spam'), 15);
  assert.equal(harness.server.events.size, 199);
});

test('as many events are written concurrently as there are writers', async () => {
  const harness = new Harness().start();
  harness.server.hanging = 'until-aborted';
  for (const name of nodeNames.slice(0, 500)) harness.recordAs(name);
  await settled();
  assert.equal(harness.server.requests.length, fleetWritersDefault);
  assert.equal(harness.broadcaster.pending, 500);
});

test('the queues of all machines together are bounded', async () => {
  const harness = new Harness({ queueMax: 80, writers: 4 }).start();
  harness.server.failure = connectionLost;
  for (const name of nodeNames.slice(0, 1_000)) harness.recordAs(name);
  assert.ok(harness.broadcaster.pending <= 80);
  assert.equal(harness.dropped('queue-full'), 1_000 - harness.broadcaster.pending);
  harness.server.failure = () => undefined;
  await harness.clock.advance(60_000);
  assert.equal(harness.broadcaster.pending, 0);
});

test('events of one millisecond about one object have different names, whatever their source', async () => {
  const harness = new Harness().start();
  const about = { kind: 'Pod', namespace: 'd', name: 'p' };
  for (const name of nodeNames.slice(0, 200)) harness.broadcaster.recorder('kubelet', name).record(aDraft({ about }));
  await settled();
  assert.equal(harness.server.events.size, 200);
});

test('a flush ends within its timeout although every writer is stuck', async () => {
  const harness = new Harness().start();
  harness.server.hanging = 'ignores-signal';
  for (const name of nodeNames) harness.recordAs(name);
  await settled();
  await harness.stop();
  const flushed = harness.broadcaster.flush(2_000);
  await harness.clock.advance(2_000);
  assert.equal(await flushed, nodesMax);
  assert.equal(harness.dropped('stopped'), nodesMax);
  assert.equal(harness.clock.sleeping, 0);
});

test('ten thousand separate broadcasters between their tries stop as quickly', async () => {
  const harness = new EventStand((options) => new EventBroadcaster(options));
  harness.server.failure = connectionLost;
  const { clock, server: api, logger, meter } = harness;
  const stop = new AbortController();
  const all = nodeNames.map((name) => {
    const broadcaster = new EventBroadcaster({ api, clock, logger, meter, random: { next: () => 0.5 }, host: name });
    broadcaster.recorder('kubelet').record(aDraft());
    return { broadcaster, ended: broadcaster.run(stop.signal) };
  });
  await settled();
  assert.equal(clock.sleeping, nodesMax);
  stop.abort();
  await Promise.all(all.map(({ ended }) => ended));
  assert.equal(clock.sleeping, 0);
  const left = await Promise.all(all.map(({ broadcaster }) => broadcaster.flush(0)));
  assert.equal(harness.server.requests.length, nodesMax);
  const actual = left.reduce((sum, count) => sum + count, 0);
  assert.equal(actual, nodesMax);
});
