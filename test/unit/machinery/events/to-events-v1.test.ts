import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { EventDraft } from '../../../../src/machinery/api/event.ts';
import { cutText, toEventsV1, describeEventV1Problem } from '../../../../src/machinery/events/to-events-v1.ts';

const nowMs = Date.parse('2026-11-21T06:42:01.987Z');
const about = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
const draft: EventDraft = { about, type: 'Normal', reason: 'RegisteredNode', message: 'm' };
const source = { component: 'node-controller', host: 'h' };

test('an event has every field that client-go writes, with eventTime in microseconds', () => {
  const related = { kind: 'Pod', namespace: 'd', name: 'p', resourceVersion: '7' };
  assert.deepEqual(toEventsV1({ ...draft, action: 'Registering', related }, source, 'n1.1', nowMs), {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'n1.1', namespace: 'default' },
    eventTime: '2026-11-21T06:42:01.987000Z',
    reportingController: 'node-controller',
    reportingInstance: 'node-controller-h',
    action: 'Registering',
    reason: 'RegisteredNode',
    regarding: about,
    related: { kind: 'Pod', namespace: 'd', name: 'p' },
    note: 'm',
    type: 'Normal',
  });
});

test('without an action the reason is used, since the API server requires an action', () => {
  assert.equal(toEventsV1(draft, source, 'x', nowMs).action, 'RegisteredNode');
  assert.equal(toEventsV1({ ...draft, action: '' }, source, 'x', nowMs).action, 'RegisteredNode');
});

test('without a host reportingInstance is the component', () => {
  assert.equal(toEventsV1(draft, { component: 'c', host: undefined }, 'x', nowMs).reportingInstance, 'c');
});

test('texts beyond the limits of the API server are truncated', () => {
  const long = { ...draft, reason: 'r'.repeat(200), action: 'é'.repeat(100), message: `x${'é'.repeat(600)}` };
  const event = toEventsV1(long, { component: 'c', host: 'h'.repeat(253) }, 'x', nowMs);
  assert.equal(event.reason, 'r'.repeat(128));
  assert.equal(event.action, 'é'.repeat(64));
  assert.equal(event.note, `x${'é'.repeat(511)}`);
  assert.equal(event.reportingInstance, `c-${'h'.repeat(126)}`);
});

test('a resourceVersion and empty fields of a reference are not part of the event', () => {
  const versioned = { ...about, namespace: '', resourceVersion: '5' };
  assert.deepEqual(toEventsV1({ ...draft, about: versioned }, source, 'x', nowMs).regarding, about);
});

test('a related object without kind or name is left out', () => {
  for (const related of [
    { kind: '', name: 'x' },
    { kind: 'Pod', name: '' },
  ])
    assert.equal(toEventsV1({ ...draft, related }, source, 'x', nowMs).related, undefined);
});

test('annotations are part of the event', () => {
  const { metadata } = toEventsV1({ ...draft, annotations: { a: 'b' } }, source, 'x', nowMs);
  assert.deepEqual(metadata.annotations, { a: 'b' });
});

test('invalid drafts', () => {
  assert.equal(describeEventV1Problem(draft), undefined);
  assert.match(describeEventV1Problem({ ...draft, type: 'Info' as 'Normal' }) ?? '', /Normal or Warning/);
  assert.match(describeEventV1Problem({ ...draft, reason: '' }) ?? '', /reason: must not be empty/);
});

for (const [text, bytesMax, cut] of [
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['aé', 2, 'a'],
  ['aé', 3, 'aé'],
  ['a€', 3, 'a'],
  ['😀😀', 7, '😀'],
  ['😀', 3, ''],
] as const)
  test(`"${text}" in ${bytesMax} bytes is "${cut}"`, () => {
    assert.equal(cutText(text, bytesMax), cut);
  });

test('property: the longest prefix that fits, without splitting a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 0, max: 60 }), (text, bytesMax) => {
      const cut = cutText(text, bytesMax);
      assert.ok(text.startsWith(cut));
      assert.ok(Buffer.byteLength(cut) <= bytesMax);
      assert.ok(cut.isWellFormed());
      const [next = ''] = text.slice(cut.length);
      assert.ok(next === '' || Buffer.byteLength(cut + next) > bytesMax);
    }),
  );
});
