import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decideHold, describeHoldKind, holdsOf } from '../../../../src/controller/holds/decide-holds.ts';
import { type Act, type HoldEvidence, type HoldKind, noHolds } from '../../../../src/controller/model/holds.ts';

const nowMs = 1_000_000;
const byPolicy = { kind: 'policy', policy: 'p' } as const;

/** Evidence from which exactly this kind of hold follows, its words, and the acts that it covers, in the order of precedence. */
const rows: readonly (readonly [HoldKind, Partial<HoldEvidence>, words: string, acts: string])[] = [
  [
    'observed',
    { mode: { mode: 'Observe', source: byPolicy, untilMs: Infinity } },
    'mode Observe (policy p): nothing is written',
    'mark-unknown add-no-schedule add-no-execute add-out-of-service add-flapping-taint mark-pods empty-node delete-for-health delete-for-taint collect-pods remove-taints set-labels',
  ],
  [
    'paused',
    { mode: { mode: 'Paused', source: { kind: 'annotation', malformed: false }, untilMs: nowMs + 5 } },
    'paused by an annotation of the node',
    'mark-unknown add-no-schedule add-no-execute add-out-of-service add-flapping-taint mark-pods empty-node delete-for-health delete-for-taint collect-pods',
  ],
  [
    'maintenance',
    { maintenance: { policy: 'p', untilMs: nowMs + 9, hold: { by: [], untilMs: nowMs + 5, endsWithSilence: true } } },
    'in planned maintenance (policy p)',
    'add-no-execute add-out-of-service empty-node delete-for-health',
  ],
  [
    'breaker',
    { breaker: { policy: 'p', openedAtMs: 7, untilMs: Infinity } },
    'the breaker of policy p is open',
    'add-no-execute add-out-of-service empty-node delete-for-health',
  ],
  [
    'concurrency',
    { emptying: { policy: 'p', max: 2 } },
    'at most 2 nodes of policy p are emptied at once',
    'add-no-execute add-out-of-service',
  ],
  [
    'stale',
    { stale: 'no-contact' },
    'watch streams are stale (no-contact)',
    'add-no-execute add-out-of-service mark-pods empty-node delete-for-health',
  ],
  ['stale-pods', { arePodsStale: true }, 'the watch of pods is not open', 'delete-for-health delete-for-taint'],
  [
    'full-disruption',
    { isFullyDisrupted: true },
    'all zones are fully disrupted',
    'add-no-execute add-out-of-service empty-node delete-for-health',
  ],
  [
    'outage',
    { outage: { outage: 'ControlPlanePathFailure', fromMs: 7, untilMs: nowMs + 5 } },
    'ControlPlanePathFailure: it became silent together with most nodes of several zones',
    'add-no-execute add-out-of-service mark-pods empty-node',
  ],
  [
    'unclassified',
    { unclassifiedUntilMs: nowMs + 5 },
    'it is not known yet whether most nodes failed with it',
    'add-no-execute add-out-of-service mark-pods empty-node',
  ],
  [
    'awaited',
    { isAwaiting: true },
    'it is not known yet which nodes of its zone failed with it',
    'add-no-execute empty-node',
  ],
  [
    'unconfirmed',
    { isUnconfirmed: true },
    'it looks silent, and a live read of its lease does not confirm it',
    'mark-unknown',
  ],
  ['node-is-ready', { isReady: true }, 'it is Ready, so its taint is about to be removed', 'delete-for-health'],
  ['lease-is-renewed', { isLeaseRenewed: true }, 'its lease is being renewed', 'delete-for-health'],
  ['late-cache', { isCacheLate: true }, 'the cache may lack its last change', 'delete-for-health delete-for-taint'],
  ['zone-stopped', { stoppedZone: '' }, 'the eviction rate of zone (none) is 0', 'add-no-execute empty-node'],
];

const acts = rows[0]?.[3].split(' ') as readonly Act[];
const kindsOf = (evidence: HoldEvidence, act: Act): readonly HoldKind[] =>
  [...holdsOf(evidence, [act], nowMs)].map(({ kind }) => kind);

for (const [kind, some, words, covered] of rows) {
  test(`${kind} holds ${covered}`, () => {
    const evidence = { ...noHolds, ...some };
    const held = acts.filter((act) => kindsOf(evidence, act).length > 0);
    assert.deepEqual(held.toSorted(), covered.split(' ').toSorted());
    for (const act of held) assert.deepEqual(kindsOf(evidence, act), [kind]);
    assert.equal(describeHoldKind(kind, evidence), words);
  });
}

test('a time that has come ends a hold, and a node whose maintenance is over waits until it is counted', () => {
  const [later] = holdsOf({ ...noHolds, ...rows[1]?.[1] }, ['mark-unknown'], nowMs + 4);
  assert.deepEqual([later?.untilMs, later?.scope], [nowMs + 5, 'node']);
  for (const [kind, some] of rows.filter(([each]) =>
    ['paused', 'maintenance', 'outage', 'unclassified'].includes(each),
  ))
    assert.deepEqual([...holdsOf({ ...noHolds, ...some }, ['add-no-execute'], nowMs + 5)], [], kind);
  const [uncounted] = holdsOf({ ...noHolds, isUncounted: true }, ['add-no-execute'], nowMs);
  assert.deepEqual([uncounted?.kind, uncounted?.untilMs], ['maintenance', nowMs + 100]);
});

test('whatever applies, holds come in one order, and one question finds the first of those that end as asked', () => {
  const anyRows = fc.subarray([...rows]);
  const ends = fc.subarray(['time', 'change', 'live-read', 'token'] as const);
  fc.assert(
    fc.property(anyRows, ends, fc.constantFrom(...acts), (some, asked, act) => {
      const evidence: HoldEvidence = Object.assign({ ...noHolds }, ...some.map(([, each]) => each));
      const found = [...holdsOf(evidence, [act], nowMs)];
      const order = rows.map(([kind]) => kind).filter((kind) => found.some((hold) => hold.kind === kind));
      assert.deepEqual(
        found.map(({ kind }) => kind),
        order,
      );
      const first = found.find(({ endsBy }) => asked.includes(endsBy));
      assert.deepEqual(decideHold(evidence, act, { nowMs, ends: asked }), first);
    }),
  );
});
