import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import { AwaitedHeartbeats, type UnknownSince } from '../../../../src/controller/zones/awaited-heartbeats.ts';
import { ZoneTable } from '../../../../src/controller/zones/zone-table.ts';
import { RecordingMeter } from '../../../support/fakes.ts';

const nodes = ['a-0', 'a-1', 'a-2', 'a-3', 'a-4'];

/** A zone of five nodes, of which a-0 and `silent` stopped at 0; the others send a heartbeat at every moment. */
class Zone {
  readonly table = new ZoneTable(() => defaultControllerOptions, new RecordingMeter());
  readonly awaited: AwaitedHeartbeats;
  readonly #unknown = new Map<string, UnknownSince>();
  nowMs = 0;

  constructor(silent: readonly string[]) {
    for (const node of nodes) this.table.place(node, 'r\0a', 'ready');
    this.awaited = new AwaitedHeartbeats({
      zones: this.table,
      heartbeatsOf: (node) => ({
        heartbeatAtMs: node === 'a-0' || silent.includes(node) ? 0 : this.nowMs,
        isObserved: true,
        isReset: false,
        windowMs: 12_000,
        graceMs: 50_000,
      }),
      unknownSince: (node) => this.#unknown.get(node),
      confirmedWithinMs: () => 30_000,
      nowMs: () => this.nowMs,
    });
  }

  becomeUnknown(node: string): void {
    this.table.place(node, 'r\0a', 'unready');
    this.#unknown.set(node, { atMs: this.nowMs, transitionAtMs: this.nowMs });
  }

  becomeReady(node: string): void {
    this.table.place(node, 'r\0a', 'ready');
    this.#unknown.delete(node);
  }
}

test('a node does not wait for itself where the list of ready nodes was read before it became Unknown', () => {
  const zone = new Zone(['a-1']);
  zone.becomeUnknown('a-1');
  zone.nowMs = 50_000;
  // Two of five nodes are no disruption; three of five stop the zone.
  assert.equal(zone.awaited.awaitedFor('a-0'), undefined);
  zone.becomeUnknown('a-0');
  assert.equal(zone.awaited.heldForMs('a-0'), 0);
});

test('a node waits 5 min at most, and again when it has recovered and becomes Unknown again', () => {
  const zone = new Zone(['a-1', 'a-2']);
  zone.nowMs = 50_000;
  zone.becomeUnknown('a-0');
  assert.ok(zone.awaited.heldForMs('a-0') > 0);
  const { nodes: awaited, untilMs } = zone.awaited.awaitedFor('a-0') ?? { nodes: [], untilMs: NaN };
  assert.deepEqual([awaited, untilMs], [['a-1', 'a-2'], 85_000]);
  zone.becomeReady('a-0');
  zone.nowMs = 60_000;
  zone.becomeUnknown('a-0');
  assert.ok(zone.awaited.heldForMs('a-0') > 0);
});

test('the stops that it remembers are those of Unknown nodes', () => {
  const zone = new Zone(['a-1', 'a-2']);
  zone.nowMs = 50_000;
  zone.becomeUnknown('a-0');
  zone.becomeUnknown('a-1');
  for (const node of ['a-0', 'a-1']) zone.awaited.heldForMs(node);
  assert.equal(zone.awaited.size, 2);
  zone.becomeReady('a-0');
  zone.nowMs += 1_000;
  zone.awaited.heldForMs('a-1');
  assert.equal(zone.awaited.size, 1);
  zone.awaited.forget('a-1');
  assert.equal(zone.awaited.size, 0);
});
