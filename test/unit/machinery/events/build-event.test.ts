import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventDraft } from '../../../../src/machinery/api/event.ts';
import { buildEvent, describeProblem } from '../../../../src/machinery/events/build-event.ts';

const nowMs = Date.parse('2026-11-21T06:42:01.999Z');
const aboutNode = { apiVersion: 'v1', kind: 'Node', name: 'n00008', uid: '938f1804-3a0d-4c01-a052-90bf206f5f73' };

test('an event about a node is in `default`, with every field that client-go writes', () => {
  const draft = {
    about: aboutNode,
    type: 'Normal',
    reason: 'RegisteredNode',
    message: 'Node n00008 event: Registered Node n00008 in Controller',
  } as const;
  const source = { component: 'node-controller', host: undefined };
  assert.deepEqual(buildEvent(draft, source, 'n00008.18e9fc4a045fd069', nowMs), {
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

test('an event about a pod is in its namespace, without a uid if none was given', () => {
  const about = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web', uid: '' };
  const draft = { about, type: 'Warning', reason: 'R', message: 'm' } as const;
  const event = buildEvent(draft, { component: 'kubelet', host: 'n1' }, 'web.1', nowMs);
  assert.equal(event.metadata.namespace, 'shop');
  assert.deepEqual(event.involvedObject, { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web' });
  assert.deepEqual(event.source, { component: 'kubelet', host: 'n1' });
  assert.equal(event.reportingInstance, 'n1');
});

test('a resourceVersion in an ObjectReference is not part of the event', () => {
  const about = { ...aboutNode, namespace: '', resourceVersion: '5' };
  const draft: EventDraft = { about, type: 'Normal', reason: 'R', message: 'm' };
  const event = buildEvent(draft, { component: 'c', host: undefined }, 'x', nowMs);
  assert.deepEqual(event.involvedObject, aboutNode);
  assert.equal(event.metadata.namespace, 'default');
});

test('invalid drafts', () => {
  const draft: EventDraft = { about: aboutNode, type: 'Normal', reason: 'R', message: 'm' };
  assert.equal(describeProblem(draft), undefined);
  assert.match(describeProblem({ ...draft, type: 'Info' as 'Normal' }) ?? '', /Normal or Warning/);
  const actual = describeProblem({ ...draft, about: { ...aboutNode, kind: '' } }) ?? '';
  assert.match(actual, /kind and name must not be empty/);
  assert.match(
    describeProblem({ ...draft, about: { ...aboutNode, name: '' } }) ?? '',
    /kind and name must not be empty/,
  );
});
