import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NotedDecision } from '../../../../src/controller/decision-log/decision-log.ts';
import { selectHoldSince } from '../../../../src/dashboard/server/dashboard-holds.ts';

const paused = (atMs: number): NotedDecision => ({ atMs, decision: { kind: 'evaluation-paused', why: 'no-contact' } });
const resumed = (atMs: number): NotedDecision => ({ atMs, decision: { kind: 'evaluation-resumed', staleMs: 1 } });

const rows: readonly (readonly [readonly NotedDecision[], number | undefined])[] = [
  [[], undefined],
  [[paused(1)], 1],
  [[paused(1), paused(2)], 1],
  [[paused(1), resumed(2)], undefined],
  [[paused(1), resumed(2), paused(3), paused(4)], 3],
];

for (const [decisions, since] of rows) {
  test(`${decisions.map(({ decision, atMs }) => `${decision.kind} ${atMs}`).join(', ')}: ${since}`, () => {
    const found = selectHoldSince(
      decisions,
      ({ kind }) => kind === 'evaluation-paused',
      ({ kind }) => kind === 'evaluation-resumed',
    );
    assert.equal(found, since);
  });
}
