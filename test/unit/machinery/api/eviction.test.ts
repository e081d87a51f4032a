import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetKey, targetOf, transformEviction } from '../../../../src/machinery/api/eviction.ts';
import type { KubeObject } from '../../../../src/machinery/api/meta.ts';
import { anEviction, aResponder } from '../../../support/evictions.ts';

const heartbeatAtMs = Date.parse('2026-11-28T12:00:00Z');

test('an Eviction as kube-apiserver sends it', () => {
  const view = transformEviction(anEviction({ heartbeatAtMs }));
  assert.deepEqual(view, {
    namespace: 'default',
    name: 'web-1',
    uid: 'eviction-of-uid-web',
    resourceVersion: '7',
    podName: 'web',
    podUid: 'uid-web',
    requesters: ['drain.example.com/nodes'],
    requesterCount: 1,
    responder: { name: aResponder, heartbeatAtMs, isCompleted: false },
  });
  assert.equal(targetOf(view), targetKey('default/web', 'uid-web'));
});

test('an Eviction that its controller has not filled yet', () => {
  const { metadata } = anEviction();
  const { responder, podUid, requesters } = transformEviction({ metadata });
  assert.deepEqual({ responder, podUid, requesters }, { responder: undefined, podUid: '', requesters: [] });
});

test('requesters that have withdrawn do not count, and three names are kept', () => {
  const intents = ['Withdrawn', 'Eviction', 'Eviction', 'Eviction', 'Eviction'];
  const requesters = intents.map((intent, place) => ({ name: `r.example.com/${place}`, intent }));
  const view = transformEviction({ ...anEviction(), status: { requesters } } as KubeObject);
  assert.deepEqual(view.requesters, ['r.example.com/1', 'r.example.com/2', 'r.example.com/3']);
  assert.equal(view.requesterCount, 4);
});

test('10,000 responders and texts without an end cost one pass, and little of them is kept', () => {
  const names = Array.from({ length: 10_000 }, (_, place) => `${'r'.repeat(300)}.example.com/${place}`);
  const status = {
    requesters: names.map((name) => ({ name })),
    targetResponders: names.map((name, place) => ({ name, state: place === 9_999 ? 'Active' : 'Inactive' })),
    responders: names.map((name) => ({ name, heartbeatTime: '2026-11-28T12:00:00Z', message: name })),
  };
  const startedAtMs = performance.now();
  const view = transformEviction({ ...anEviction(), status } as KubeObject);
  assert.ok(performance.now() - startedAtMs < 500);
  assert.equal(view.responder?.heartbeatAtMs, heartbeatAtMs);
  assert.ok(JSON.stringify(view).length < 2_000);
});

test('malformed fields are problems, and nothing throws', () => {
  const malformed = {
    spec: { target: 7 },
    status: { targetResponders: [{ name: 'a/b', state: 'Active' }], responders: 'x' },
  };
  const view = transformEviction({ ...anEviction(), ...malformed } as unknown as KubeObject);
  assert.deepEqual(view.responder, { name: 'a/b', heartbeatAtMs: undefined, isCompleted: false });
  assert.equal(view.problems?.length, 2);
  for (const status of [null, [], 'x', { targetResponders: [null, { state: 'Active' }] }])
    assert.doesNotThrow(() => transformEviction({ metadata: null, spec: null, status } as unknown as KubeObject));
});
