import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveNodeReference } from '../../../src/events/derive-node-reference.ts';
import { EventBroadcaster } from '../../../src/events/event-broadcaster.ts';
import {
  FleetBroadcaster,
  type FleetBroadcasterOptions,
  fleetWritersDefault,
} from '../../../src/events/fleet-broadcaster.ts';
import { connectionLost } from '../../support/event-server.ts';
import { aDraft, EventStand } from '../../support/event-stand.ts';
import { settled } from '../../support/manual-clock.ts';

const nodesMax = 10_000;
const nodeNames = Array.from({ length: nodesMax }, (_, index) => `n${String(index).padStart(5, '0')}`);

class Stand extends EventStand<FleetBroadcaster> {
  constructor(over: Partial<FleetBroadcasterOptions> = {}) {
    super((options) => new FleetBroadcaster({ ...options, ...over }));
  }

  /** As a kubelet does. */
  tell(nodeName: string, reason = 'Starting'): void {
    const about = deriveNodeReference({ name: nodeName });
    this.broadcaster.recorder('kubelet', nodeName).record(aDraft({ about, reason }));
  }
}

test('ten thousand kubelets tell through it, each as itself', async () => {
  const stand = new Stand().start();
  for (const name of nodeNames) for (const reason of ['Starting', 'NodeReady']) stand.tell(name, reason);
  await settled();
  assert.equal(stand.broadcaster.pending, 0);
  const events = [...stand.server.events.values()];
  assert.equal(events.length, 2 * nodesMax);
  for (const { source, involvedObject, count } of events) {
    assert.deepEqual(source, { component: 'kubelet', host: involvedObject.name });
    assert.deepEqual(involvedObject, { kind: 'Node', name: source.host, uid: source.host });
    assert.equal(count, 1);
  }
  stand.tell('n00007');
  await settled();
  assert.equal(events.find(({ source }) => source.host === 'n00007')?.reason, 'Starting');
  assert.equal(stand.server.requests.at(-1)?.verb, 'PATCH');
  await stand.stop();
});

test('the events of one machine keep their order', async () => {
  const stand = new Stand().start();
  const reasons = Array.from({ length: 20 }, (_, index) => `R${index}`);
  for (const reason of reasons) for (const name of nodeNames.slice(0, 50)) stand.tell(name, reason);
  await settled();
  for (const name of nodeNames.slice(0, 50)) {
    const told = [...stand.server.events.values()].filter(({ source }) => source.host === name);
    assert.deepEqual(
      told.map(({ reason }) => reason),
      reasons,
    );
  }
  await stand.stop();
});

test('one that floods uses up its own allowance, and that of no other', async () => {
  const stand = new Stand().start();
  for (let index = 0; index < 40; index++) stand.tell('n00001');
  for (const name of nodeNames.slice(2, 200)) stand.tell(name);
  await settled();
  assert.equal(stand.dropped('spam'), 15);
  assert.equal(stand.server.events.size, 199);
  await stand.stop();
});

test('so many events are under way as there are writers', async () => {
  const stand = new Stand().start();
  stand.server.hanging = 'until-aborted';
  for (const name of nodeNames.slice(0, 500)) stand.tell(name);
  await settled();
  assert.equal(stand.server.requests.length, fleetWritersDefault);
  assert.equal(stand.broadcaster.pending, 500);
  await stand.stop();
});

test('the queue is bounded for all of them together', async () => {
  const stand = new Stand({ queueMax: 80, writers: 4 }).start();
  stand.server.failure = connectionLost;
  for (const name of nodeNames.slice(0, 1_000)) stand.tell(name);
  assert.ok(stand.broadcaster.pending <= 80);
  assert.equal(stand.dropped('queue-full'), 1_000 - stand.broadcaster.pending);
  stand.server.failure = () => undefined;
  await stand.clock.advance(60_000);
  assert.equal(stand.broadcaster.pending, 0);
  await stand.stop();
});

test('no two of one millisecond about one object share a name, whoever tells', async () => {
  const stand = new Stand().start();
  const about = { kind: 'Pod', namespace: 'd', name: 'p' };
  for (const name of nodeNames.slice(0, 200)) stand.broadcaster.recorder('kubelet', name).record(aDraft({ about }));
  await settled();
  assert.equal(stand.server.events.size, 200);
  await stand.stop();
});

test('who watches hears all machines, one event at a time and in order', async () => {
  const stand = new Stand();
  const lines: string[] = [];
  const end = stand.broadcaster.startLogging((line) => lines.push(line));
  for (const name of nodeNames.slice(0, 100)) stand.tell(name);
  await settled();
  assert.deepEqual(
    lines.map((line) => /Name:"(\w+)"/.exec(line)?.[1]),
    nodeNames.slice(0, 100),
  );
  end();
  stand.tell('n00001');
  await settled();
  assert.equal(lines.length, 100);
});

test('it ends within its limit though every writer is stuck', async () => {
  const stand = new Stand().start();
  stand.server.hanging = 'deaf';
  for (const name of nodeNames) stand.tell(name);
  await settled();
  await stand.stop();
  const flushed = stand.broadcaster.flush(2_000);
  await stand.clock.advance(2_000);
  assert.equal(await flushed, nodesMax);
  assert.equal(stand.dropped('stopped'), nodesMax);
  assert.equal(stand.clock.sleeping, 0);
});

test('ten thousand broadcasters of their own in the middle of their tries end as quickly', async () => {
  const stand = new EventStand((options) => new EventBroadcaster(options));
  stand.server.failure = connectionLost;
  const { clock, server: api, logger, meter } = stand;
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
  assert.equal(stand.server.requests.length, nodesMax);
  assert.equal(
    left.reduce((sum, count) => sum + count, 0),
    nodesMax,
  );
});
