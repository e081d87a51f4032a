import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventDraft } from '../../../src/api/event.ts';
import { deriveNewerEvent, describeNewerFlaw } from '../../../src/events/derive-newer-event.ts';

const nowMs = Date.parse('2026-11-21T06:42:01.987Z');
const about = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
const draft: EventDraft = { about, type: 'Normal', reason: 'RegisteredNode', message: 'm' };
const source = { component: 'node-controller', host: 'h' };

test('every field the reference writes, with the time to the microsecond', () => {
  const related = { kind: 'Pod', namespace: 'd', name: 'p', resourceVersion: '7' };
  assert.deepEqual(deriveNewerEvent({ ...draft, action: 'Registering', related }, source, 'n1.1', nowMs), {
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

test('without an action the reason stands for it; the server wants one', () => {
  assert.equal(deriveNewerEvent(draft, source, 'x', nowMs).action, 'RegisteredNode');
  assert.equal(deriveNewerEvent({ ...draft, action: '' }, source, 'x', nowMs).action, 'RegisteredNode');
});

test('without a host the component alone is the instance', () => {
  assert.equal(deriveNewerEvent(draft, { component: 'c', host: undefined }, 'x', nowMs).reportingInstance, 'c');
});

test('what is too long is cut to what the server takes', () => {
  const long = { ...draft, reason: 'r'.repeat(200), action: 'é'.repeat(100), message: `x${'é'.repeat(600)}` };
  const event = deriveNewerEvent(long, { component: 'c', host: 'h'.repeat(253) }, 'x', nowMs);
  assert.equal(event.reason, 'r'.repeat(128));
  assert.equal(event.action, 'é'.repeat(64));
  assert.equal(event.note, `x${'é'.repeat(511)}`);
  assert.equal(event.reportingInstance, `c-${'h'.repeat(126)}`);
});

test('a version in a reference does not reach the event, and nothing that is empty does', () => {
  const versioned = { ...about, namespace: '', resourceVersion: '5' };
  assert.deepEqual(deriveNewerEvent({ ...draft, about: versioned }, source, 'x', nowMs).regarding, about);
});

test('a related object that nobody can name is left out', () => {
  for (const related of [
    { kind: '', name: 'x' },
    { kind: 'Pod', name: '' },
  ])
    assert.equal(deriveNewerEvent({ ...draft, related }, source, 'x', nowMs).related, undefined);
});

test('annotations are told', () => {
  const { metadata } = deriveNewerEvent({ ...draft, annotations: { a: 'b' } }, source, 'x', nowMs);
  assert.deepEqual(metadata.annotations, { a: 'b' });
});

test('what no event can be made of', () => {
  assert.equal(describeNewerFlaw(draft), undefined);
  assert.match(describeNewerFlaw({ ...draft, type: 'Info' as 'Normal' }) ?? '', /neither/);
  assert.match(describeNewerFlaw({ ...draft, reason: '' }) ?? '', /no reason/);
});
