import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseEventStream, type StreamEvent } from '../../../../src/dashboard/stream/parse-event-stream.ts';

const stream =
  ': alive\n\nid: 1\nevent: snapshot\ndata: {"a":\ndata: 1}\n\ndata:x\n\nevent: delta\n\nevent: delta\ndata: {}\n\n';
const events: readonly StreamEvent[] = [
  { event: 'snapshot', data: '{"a":\n1}' },
  { event: 'message', data: 'x' },
  { event: 'delta', data: '{}' },
];

test('events are complete; comments and events without data are none', () => {
  assert.deepEqual(parseEventStream('', stream), { events, rest: '' });
});

test('an event is the same in however many chunks it arrives', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (lengths) => {
      const found: StreamEvent[] = [];
      let rest = '';
      for (let at = 0, turn = 0; at < stream.length; turn += 1) {
        const length = lengths[turn % lengths.length] ?? 1;
        const parsed = parseEventStream(rest, stream.slice(at, at + length));
        found.push(...parsed.events);
        ({ rest } = parsed);
        at += length;
      }
      assert.deepEqual([found, rest], [events, '']);
    }),
  );
});

test('the beginning of an event is kept', () => {
  assert.deepEqual(parseEventStream('da', 'ta: 1'), { events: [], rest: 'data: 1' });
});
