import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectResponder } from '../../../../src/controller/taint-eviction/select-responder.ts';
import { imperativeResponder, transformEviction } from '../../../../src/machinery/api/eviction.ts';
import { anEviction, aResponder } from '../../../support/evictions.ts';

const nowMs = Date.parse('2026-11-28T12:00:00Z');
const minuteMs = 60_000;

for (const [title, fields, timeoutMs, isWaited] of [
  ['a heartbeat of now', { heartbeatAtMs: nowMs }, 10 * minuteMs, true],
  ['a heartbeat within the timeout', { heartbeatAtMs: nowMs - 9 * minuteMs }, 10 * minuteMs, true],
  ['a heartbeat as old as the timeout', { heartbeatAtMs: nowMs - 10 * minuteMs }, 10 * minuteMs, false],
  ['a heartbeat within the deadline of the API', { heartbeatAtMs: nowMs - 19 * minuteMs }, 60 * minuteMs, true],
  ['a heartbeat beyond the deadline of the API', { heartbeatAtMs: nowMs - 20 * minuteMs }, 60 * minuteMs, false],
  ['a clock that is ahead', { heartbeatAtMs: nowMs + minuteMs }, 10 * minuteMs, true],
  ['a heartbeat of another day', { heartbeatAtMs: nowMs + 24 * 60 * minuteMs }, 60 * minuteMs, false],
  ['no heartbeat', {}, 10 * minuteMs, false],
  ['no active responder', { heartbeatAtMs: nowMs, state: 'Interrupted' }, 10 * minuteMs, false],
  ['a completed responder', { heartbeatAtMs: nowMs, completedAtMs: nowMs }, 10 * minuteMs, false],
  ['the responder of the API', { heartbeatAtMs: nowMs, responder: imperativeResponder }, 10 * minuteMs, false],
] as const) {
  test(`${title}: ${isWaited ? 'waits' : 'does not wait'}`, () => {
    const selected = selectResponder([transformEviction(anEviction(fields))], { nowMs, timeoutMs });
    assert.equal(selected?.name, isWaited ? aResponder : undefined);
  });
}

test('the latest heartbeat of several Evictions counts', () => {
  const evictions = [30, 10, 20].map((seconds) =>
    transformEviction(anEviction({ heartbeatAtMs: nowMs - seconds * 1_000, responder: `r.example.com/r${seconds}` })),
  );
  assert.deepEqual(selectResponder(evictions, { nowMs, timeoutMs: minuteMs }), {
    name: 'r.example.com/r10',
    eviction: 'default/web-1',
    heartbeatAtMs: nowMs - 10_000,
  });
});
