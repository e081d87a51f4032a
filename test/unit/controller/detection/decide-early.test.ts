import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideEarly } from '../../../../src/controller/detection/decide-early.ts';

const proof = {
  silentMs: 15_001,
  earliestMs: 15_000,
  observedMs: 50_000,
  graceMs: 50_000,
  last: 'no-answer',
  lastAgoMs: 5_000,
  silentRounds: 2,
  areTooMany: false,
  isStale: false,
  isWitnessed: true,
} as const;

test('everything together proves it', () => {
  assert.equal(decideEarly(proof), undefined);
});

for (const [change, doubt] of [
  [{ silentMs: 15_000 }, 'too-early'],
  [{ silentMs: 15_000, isWitnessed: false }, 'too-early'],
  [{ observedMs: 49_999 }, 'starting'],
  [{ isStale: true }, 'stale'],
  [{ areTooMany: true }, 'too-many'],
  [{ last: undefined, silentRounds: 0 }, 'asking'],
  [{ silentRounds: 1 }, 'asking'],
  [{ lastAgoMs: 5_001 }, 'asking'],
  [{ last: 'answered', silentRounds: 0 }, 'answered'],
  [{ last: 'path-suspect', silentRounds: 0 }, 'path-suspect'],
  [{ last: 'never-answered', silentRounds: 0 }, 'never-answered'],
  [{ last: 'not-asked', silentRounds: 0 }, 'not-asked'],
  [{ isWitnessed: false }, 'no-witness'],
] as const) {
  test(`not with ${JSON.stringify(change)}`, () => {
    assert.equal(decideEarly({ ...proof, ...change }), doubt);
  });
}
