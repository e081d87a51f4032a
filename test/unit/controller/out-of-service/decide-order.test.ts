import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '../../../../src/machinery/api/conditions.ts';
import { decideOrder, type EvidenceOrder } from '../../../../src/controller/out-of-service/decide-order.ts';

const postedAt = '2026-11-24T10:00:00Z';
const renewedAt = '2026-11-24T10:04:00.000000Z';
const unknownAt = '2026-11-24T10:05:00Z';

function orderOf(at: string | undefined, observed: EvidenceOrder, ready: Partial<Condition> = {}): EvidenceOrder {
  const conditions = [
    { type: 'Ready', status: 'Unknown', lastHeartbeatTime: postedAt, lastTransitionTime: unknownAt, ...ready },
  ];
  const atMs = at === undefined ? undefined : Date.parse(at);
  return decideOrder(
    { source: 'condition Fenced', id: '', at: at ?? '', atMs },
    { observed, node: { conditions }, renewedAt },
  );
}

test('without a time what was observed decides', () => {
  for (const observed of ['newer', 'disproved', 'unknown'] as const)
    assert.equal(orderOf(undefined, observed), observed);
});

test('a time that no clock skew explains away proves the order where nothing was observed', () => {
  assert.equal(orderOf('2026-11-24T10:06:00Z', 'unknown'), 'newer', 'a minute after Unknown');
  assert.equal(orderOf('2026-11-24T10:05:59Z', 'unknown'), 'unknown');
  assert.equal(orderOf('2026-11-24T10:06:00Z', 'unknown', { status: 'True' }), 'unknown', 'no silence is known');
  assert.equal(orderOf('2026-11-24T10:06:00Z', 'disproved'), 'disproved', 'a heartbeat was seen after it');
});

test('the kubelet may be the one whose clock is wrong: its renewals have to be older by the skew too', () => {
  const early = { lastTransitionTime: '2026-11-24T10:01:00Z' };
  assert.equal(orderOf('2026-11-24T10:04:59Z', 'unknown', early), 'unknown');
  assert.equal(orderOf('2026-11-24T10:05:00Z', 'unknown', early), 'newer');
});

test('evidence from before the last renewal or status proves nothing, whatever was observed', () => {
  assert.equal(
    orderOf('2026-11-24T10:02:59Z', 'newer'),
    'disproved',
    'after the status, and a minute before the renewal',
  );
  assert.equal(orderOf('2026-11-24T10:03:00Z', 'newer'), 'newer', 'two clocks');
  assert.equal(orderOf('2026-11-24T10:04:30Z', 'newer', { lastHeartbeatTime: '2026-11-24T10:05:31Z' }), 'disproved');
});
