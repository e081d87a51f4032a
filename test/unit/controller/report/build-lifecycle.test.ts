import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';
import type { SignalMeaning } from '../../../../src/controller/model/policy.ts';
import { buildLifecycle } from '../../../../src/controller/report/build-lifecycle.ts';

const wallMs = Date.parse('2026-01-02T03:00:00Z');
const now = { wallMs, monotonicMs: 5_000 };
const ago = (seconds: number): string => formatTime(wallMs - seconds * 1_000);
const drain = { type: 'DrainInProgress', status: 'True', reason: 'KubectlDrain', lastTransitionTime: ago(720) };
const unknownFor = (seconds: number) => ({ type: 'Ready', status: 'Unknown', lastTransitionTime: ago(seconds) });
const meaningOf = (): SignalMeaning => 'uncounted';

test('conditions that are True are shown with reason, age and meaning, in the order of a node’s life', () => {
  const planned = { type: 'MaintenancePlanned', status: 'True' };
  const drained = { type: 'Drained', status: 'False' };
  const shown = buildLifecycle(
    [drain, planned, drained],
    (type) => (type === drain.type ? 'uncounted' : undefined),
    now,
  );
  assert.deepEqual(shown, [
    { condition: 'MaintenancePlanned', reason: null, since: null, means: null },
    {
      condition: 'DrainInProgress',
      reason: 'KubectlDrain',
      since: { at: '2026-01-02T02:48:00.000000Z', secondsAgo: 720 },
      means: 'uncounted',
    },
  ]);
});

test('what a node that is Unknown for ten minutes says about itself is stale', () => {
  const staleAt = (seconds: number): unknown =>
    buildLifecycle([drain, unknownFor(seconds)], meaningOf, now).map(({ stale }) => stale?.secondsAgo);
  assert.deepEqual(staleAt(599), [undefined]);
  assert.deepEqual(staleAt(600), [600]);
  assert.deepEqual(
    buildLifecycle([drain, { ...unknownFor(900), status: 'False' }], meaningOf, now).map(({ stale }) => stale),
    [undefined],
  );
});
