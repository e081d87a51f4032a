import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeHold } from '../../../../src/controller/model/policy.ts';
import { decideNodeHold } from '../../../../src/controller/holds/decide-node-hold.ts';
import { aPolicy } from '../../../support/builders.ts';

const wallMs = Date.parse('2026-11-23T12:00:00Z');
const later = '2026-11-23T13:00:00+00:00';
const observing = aPolicy({ name: 'o', mode: 'Observe' });
const pausing = aPolicy({ name: 'p', mode: 'Paused' });

type Evidence = Partial<Parameters<typeof decideNodeHold>[0]>;

function holdOf(evidence: Evidence): NodeHold | undefined {
  return decideNodeHold({ paused: false, claims: [], annotation: undefined, wallMs, ...evidence });
}

const byPolicy = (policy: string): NodeHold['source'] => ({ kind: 'policy', policy });
const byAnnotation = (malformed: boolean): NodeHold['source'] => ({ kind: 'annotation', malformed });
const paused = (source: NodeHold['source'], untilMs = Infinity): NodeHold => ({ mode: 'Paused', source, untilMs });

const rows: readonly (readonly [string, Evidence, NodeHold | undefined])[] = [
  ['nothing', {}, undefined],
  ['mode Enforce', { claims: [aPolicy()] }, undefined],
  ['mode Observe', { claims: [observing] }, { mode: 'Observe', source: byPolicy('o'), untilMs: Infinity }],
  ['mode Paused', { claims: [pausing] }, paused(byPolicy('p'))],
  ['all nodes', { paused: true }, paused({ kind: 'config-file' })],
  ['true', { annotation: 'true' }, paused(byAnnotation(false))],
  ['a time', { annotation: later }, paused(byAnnotation(false), wallMs + 3_600_000)],
  ['this moment', { annotation: '2026-11-23T12:00:00Z' }, undefined],
  ['a time in the past', { annotation: '2026-11-23T11:59:59Z' }, undefined],
  ['false', { annotation: 'false' }, undefined],
  ['empty', { annotation: '' }, undefined],
  ['malformed', { annotation: 'True' }, paused(byAnnotation(true))],
  ['a date without a time', { annotation: '2026-11-24' }, paused(byAnnotation(true))],
  [
    'Observe and all paused',
    { claims: [observing], paused: true, annotation: 'true' },
    holdOf({ claims: [observing] }),
  ],
  ['all paused, and until a time', { paused: true, annotation: later }, paused({ kind: 'config-file' })],
  ['two claims, one pauses', { claims: [aPolicy(), pausing] }, paused(byPolicy('p'))],
  ['two claims, the strictest', { claims: [pausing, observing], paused: true }, holdOf({ claims: [observing] })],
  ['mode Paused, and until a time', { claims: [pausing], annotation: later }, paused(byPolicy('p'))],
];

for (const [what, evidence, expected] of rows) {
  test(`what holds a node: ${what}`, () => assert.deepEqual(holdOf(evidence), expected));
}
