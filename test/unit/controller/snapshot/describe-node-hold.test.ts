import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeNodeHold, type NodeHoldEvidence } from '../../../../src/controller/snapshot/describe-node-hold.ts';

const nothing: NodeHoldEvidence = {
  nodeHold: undefined,
  maintenance: undefined,
  breaker: undefined,
  emptying: undefined,
  stale: undefined,
  fullDisruption: false,
  outage: undefined,
  isUnconfirmed: false,
  stoppedZone: undefined,
  wait: undefined,
};

const observed = { mode: 'Observe', source: { kind: 'policy', policy: 'p' }, untilMs: Infinity } as const;
const paused = { mode: 'Paused', source: { kind: 'annotation', malformed: false }, untilMs: Infinity } as const;

const rows: readonly (readonly [Partial<NodeHoldEvidence>, string | null])[] = [
  [{}, null],
  [{ nodeHold: observed }, 'mode Observe (policy p): nothing is written'],
  [{ nodeHold: paused, fullDisruption: true }, 'paused by an annotation of the node'],
  [{ maintenance: 'p', breaker: 'p' }, 'in planned maintenance (policy p)'],
  [{ breaker: 'p', stale: 'no-contact' }, 'the breaker of policy p is open'],
  [{ emptying: { policy: 'p', max: 2, nodes: ['a', 'b'] } }, 'at most 2 nodes of policy p are emptied at once'],
  [{ stale: 'no-contact', fullDisruption: true }, 'watch streams are stale (no-contact)'],
  [{ fullDisruption: true, stoppedZone: 'r/a' }, 'all zones are fully disrupted'],
  [
    { outage: 'ControlPlanePathFailure' },
    'ControlPlanePathFailure: it became silent together with most nodes of several zones',
  ],
  [{ isUnconfirmed: true }, 'it looks silent, and a live read of its lease does not confirm it'],
  [{ stoppedZone: '' }, 'the eviction rate of zone (none) is 0'],
  [{ wait: { policy: 'p', reason: 'rate' } }, 'its pod waits for a token of policy p'],
  [{ wait: { policy: 'p', reason: 'budget' } }, 'the Eviction API does not evict its pod (budget)'],
];

for (const [evidence, text] of rows) {
  test(text ?? 'nothing', () => assert.equal(describeNodeHold({ ...nothing, ...evidence }), text));
}
