import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTimelineLine } from '../../../../src/dashboard/server/dashboard-timeline.ts';

const atMs = Date.parse('2026-01-02T03:04:05Z');
const at = '2026-01-02T03:04:05.000000Z';

test('a decision about a pod names its node, and one about a zone the zone', () => {
  const pod = buildTimelineLine(1, { atMs, decision: { kind: 'pod-marked-not-ready', pod: 'ns/p', node: 'n' } });
  assert.deepEqual(pod, {
    id: 1,
    at,
    kind: 'pod-marked-not-ready',
    text: 'pod ns/p marked not ready: its node n is not Ready',
    warning: false,
    node: 'n',
    pod: 'ns/p',
    zone: null,
  });
  const registered = buildTimelineLine(2, { atMs, decision: { kind: 'node-registered', node: 'n', zone: '' } });
  assert.deepEqual([registered.node, registered.pod, registered.zone], ['n', null, '(none)']);
});

test('a warning is one, and a long text is cut', () => {
  const message = 'x'.repeat(5_000);
  const line = buildTimelineLine(3, {
    atMs,
    decision: { kind: 'evaluation-failed', subject: 's', stage: 't', message },
  });
  assert.deepEqual([line.warning, line.node, line.text.length], [true, null, 1_001]);
});
