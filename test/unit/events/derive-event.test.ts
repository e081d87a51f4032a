import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventDraft } from '../../../src/api/event.ts';
import { deriveEvent, describeFlaw } from '../../../src/events/derive-event.ts';

const nowMs = Date.parse('2026-11-21T06:42:01.999Z');
const aboutNode = { apiVersion: 'v1', kind: 'Node', name: 'n00008', uid: '938f1804-3a0d-4c01-a052-90bf206f5f73' };

test('about a node: in `default`, with every field the reference writes', () => {
  const draft = {
    about: aboutNode,
    type: 'Normal',
    reason: 'RegisteredNode',
    message: 'Node n00008 event: Registered Node n00008 in Controller',
  } as const;
  const source = { component: 'node-controller', host: undefined };
  assert.deepEqual(deriveEvent(draft, source, 'n00008.18e9fc4a045fd069', nowMs), {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'n00008.18e9fc4a045fd069', namespace: 'default' },
    involvedObject: aboutNode,
    reason: 'RegisteredNode',
    message: 'Node n00008 event: Registered Node n00008 in Controller',
    source: { component: 'node-controller' },
    firstTimestamp: '2026-11-21T06:42:01Z',
    lastTimestamp: '2026-11-21T06:42:01Z',
    count: 1,
    type: 'Normal',
    eventTime: null,
    reportingComponent: 'node-controller',
    reportingInstance: '',
  });
});

test('about a pod: in its namespace, without a uid where none was given', () => {
  const about = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web', uid: '' };
  const draft = { about, type: 'Warning', reason: 'R', message: 'm' } as const;
  const event = deriveEvent(draft, { component: 'kubelet', host: 'n1' }, 'web.1', nowMs);
  assert.equal(event.metadata.namespace, 'shop');
  assert.deepEqual(event.involvedObject, { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web' });
  assert.deepEqual(event.source, { component: 'kubelet', host: 'n1' });
  assert.equal(event.reportingInstance, 'n1');
});

test('a version in the reference does not reach the event', () => {
  const about = { ...aboutNode, namespace: '', resourceVersion: '5' };
  const draft: EventDraft = { about, type: 'Normal', reason: 'R', message: 'm' };
  const event = deriveEvent(draft, { component: 'c', host: undefined }, 'x', nowMs);
  assert.deepEqual(event.involvedObject, aboutNode);
  assert.equal(event.metadata.namespace, 'default');
});

test('what no event can be made of', () => {
  const draft: EventDraft = { about: aboutNode, type: 'Normal', reason: 'R', message: 'm' };
  assert.equal(describeFlaw(draft), undefined);
  assert.match(describeFlaw({ ...draft, type: 'Info' as 'Normal' }) ?? '', /neither Normal nor Warning/);
  assert.match(describeFlaw({ ...draft, about: { ...aboutNode, kind: '' } }) ?? '', /no object/);
  assert.match(describeFlaw({ ...draft, about: { ...aboutNode, name: '' } }) ?? '', /no object/);
});
