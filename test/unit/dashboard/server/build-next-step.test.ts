import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildNextStep,
  type NextStep,
  type NextStepEvidence,
} from '../../../../src/dashboard/server/build-next-step.ts';
import type { NodeState } from '../../../../src/dashboard/protocol.ts';

const evidence: NextStepEvidence = {
  now: { monotonicMs: 1_000, wallMs: 1_000_000 },
  ready: 'Unknown',
  isHeld: false,
  acts: { taints: true, evicts: true },
  mode: 'taint',
  missingKey: 'node.kubernetes.io/unreachable',
  slotAtMs: 6_000,
  first: { pod: 'default/p', atMs: 3_000 },
  endsAtWallMs: 1_700_000,
};

const standby = { acts: { taints: false, evicts: false } };
const taint = 'it gets node.kubernetes.io/unreachable:NoExecute';

const rows: readonly (readonly [NodeState, Partial<NextStepEvidence>, NextStep | undefined])[] = [
  ['ready', {}, undefined],
  ['paused', {}, { what: 'the pause ends', atWallMs: 1_700_000 }],
  ['paused', { endsAtWallMs: undefined }, undefined],
  ['maintenance', {}, { what: 'its planned maintenance ends at the latest', atWallMs: 1_700_000 }],
  ['suspect', {}, { what: 'its conditions become Unknown', atWallMs: undefined }],
  ['suspect', standby, undefined],
  ['unreachable', {}, { what: taint, atWallMs: 1_005_000 }],
  ['unreachable', { isHeld: true }, { what: taint, atWallMs: undefined }],
  ['unreachable', { slotAtMs: undefined }, { what: taint, atWallMs: undefined }],
  ['unreachable', standby, undefined],
  ['not-ready', { missingKey: undefined }, undefined],
  ['not-ready', { mode: 'eviction', missingKey: undefined }, { what: 'its pods are deleted', atWallMs: 1_005_000 }],
  ['tainted', { ready: 'True' }, { what: 'its NoExecute taint is removed', atWallMs: undefined }],
  ['tainted', { first: undefined }, undefined],
  ['emptying', {}, { what: 'pod default/p is evicted', atWallMs: 1_002_000 }],
  ['emptying', { isHeld: true }, { what: 'pod default/p is evicted', atWallMs: 1_002_000 }],
  [
    'emptying',
    { isHeld: true, first: { pod: 'default/p', atMs: 900 } },
    { what: 'pod default/p is evicted', atWallMs: undefined },
  ],
  ['emptying', { acts: { taints: true, evicts: false } }, undefined],
];

for (const [state, changes, next] of rows) {
  test(`${state} ${JSON.stringify(changes)}: ${next?.what ?? 'nothing'}`, () => {
    assert.deepEqual(buildNextStep(state, { ...evidence, ...changes }), next);
  });
}
