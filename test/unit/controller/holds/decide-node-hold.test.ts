import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeHold, NodePolicy } from '../../../../src/controller/model/policy.ts';
import { decideNodeHold, unhealthySinceMs } from '../../../../src/controller/holds/decide-node-hold.ts';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import { aNodeView, aPolicy } from '../../../support/builders.ts';

const wallMs = Date.parse('2026-11-23T12:00:00Z');
const later = '2026-11-23T13:00:00+00:00';
const observing = aPolicy({ name: 'o', mode: 'Observe' });
const pausing = aPolicy({ name: 'p', mode: 'Paused' });

const day = 86_400_000;

interface Evidence {
  readonly paused?: boolean;
  readonly claims?: readonly NodePolicy[];
  readonly annotation?: string;
  /** The node is Unknown, with a taint of this time. */
  readonly taintedAt?: string | undefined;
  /** Time in the Ready condition. */
  readonly unknownAt?: string;
}

function holdOf({ paused: isPaused = false, claims = [], ...about }: Evidence): NodeHold | undefined {
  const isUnknown = 'taintedAt' in about || about.unknownAt !== undefined;
  const at = about.unknownAt === undefined ? {} : { lastTransitionTime: about.unknownAt };
  const time = about.taintedAt === undefined ? {} : { timeAdded: about.taintedAt };
  const node = aNodeView({
    ...(about.annotation === undefined ? {} : { pause: about.annotation }),
    conditions: [{ type: 'Ready', status: isUnknown ? 'Unknown' : 'True', ...at }],
    taints: isUnknown ? [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule', ...time }] : [],
  });
  return decideNodeHold({ paused: isPaused, claims, node, wallMs });
}

const detecting = (evictAfterMs: number | undefined, markPods = true): NodePolicy =>
  aPolicy({ name: 'd', mode: 'Detect', detect: { markPods, evictAfterMs } });
const detected = (untilMs: number, keepsPodsReady = false): NodeHold => {
  return { mode: 'Detect', source: byPolicy('d'), untilMs, keepsPodsReady };
};

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
  ['mode Detect of a Ready node', { claims: [detecting(day)] }, detected(Infinity)],
  [
    'mode Detect until evictAfter is over',
    { claims: [detecting(day)], taintedAt: '2026-11-23T11:00:00Z' },
    detected(wallMs - 3_600_000 + day),
  ],
  ['mode Detect when it is over', { claims: [detecting(day)], taintedAt: '2026-11-22T12:00:00Z' }, undefined],
  [
    'mode Detect without an end',
    { claims: [detecting(undefined)], taintedAt: '2020-01-01T00:00:00Z' },
    detected(Infinity),
  ],
  [
    'mode Detect with a taint of the future: from now on',
    { claims: [detecting(day)], taintedAt: '2030-01-01T00:00:00Z' },
    detected(wallMs + day),
  ],
  [
    'mode Detect with a taint without a time: by the condition',
    { claims: [detecting(day)], unknownAt: '2026-11-23T11:59:00Z' },
    detected(wallMs - 60_000 + day),
  ],
  ['mode Detect with no time at all: no end', { claims: [detecting(day)], taintedAt: undefined }, detected(Infinity)],
  [
    'two that detect: the longer one, and pods stay Ready if one says so',
    { claims: [detecting(1, false), detecting(day)], taintedAt: '2026-11-23T11:00:00Z' },
    detected(wallMs - 3_600_000 + day, true),
  ],
  ['mode Detect and paused', { claims: [detecting(day), pausing] }, paused(byPolicy('p'))],
  ['mode Detect and an annotation', { claims: [detecting(day)], annotation: 'true' }, paused(byAnnotation(false))],
  ['mode Detect and an annotation of the past', { claims: [detecting(day)], annotation: 'false' }, detected(Infinity)],
  ['mode Paused, and until a time', { claims: [pausing], annotation: later }, paused(byPolicy('p'))],
];

for (const [what, evidence, expected] of rows) {
  test(`what holds a node: ${what}`, () => assert.deepEqual(holdOf(evidence), expected));
}

test('a node is unhealthy since its first taint for what it is now, and by its condition where such a taint has no time', () => {
  const taint = (key: string, effect: string, timeAdded?: string): Taint => {
    return { key: `node.kubernetes.io/${key}`, effect, ...(timeAdded === undefined ? {} : { timeAdded }) };
  };
  const since = (status: string, at: string, ...taints: readonly Taint[]): string | undefined => {
    const node = aNodeView({ conditions: [{ type: 'Ready', status, lastTransitionTime: at }], taints });
    const ms = unhealthySinceMs(node, wallMs);
    return ms === undefined ? undefined : new Date(ms).toISOString().slice(11, 16);
  };
  const at = (time: string): string => `2026-11-23T${time}:00Z`;
  const both = [taint('not-ready', 'NoExecute', at('08:00')), taint('unreachable', 'NoSchedule', at('11:00'))];
  assert.equal(since('Unknown', at('10:00'), ...both), '11:00');
  assert.equal(since('False', at('10:00'), ...both), '08:00');
  const unstamped = [taint('not-ready', 'NoSchedule'), taint('not-ready', 'NoExecute', at('11:59'))];
  assert.equal(since('False', at('09:00'), ...unstamped), '09:00');
  assert.equal(since('Unknown', at('09:00')), '09:00');
  assert.equal(since('False', at('09:00')), '12:00', 'only the clock of the kubelet says more');
  assert.equal(since('True', at('09:00'), ...both), undefined);
});

test('mode Detect that has ended does not begin again by a time that comes later', () => {
  const claims = [
    { name: 'edge', mode: 'Detect', detect: { markPods: true, evictAfterMs: 60_000 }, modeWindow: undefined },
  ] as const;
  const at = (seconds: number): string => new Date(wallMs + seconds * 1_000).toISOString();
  const modeAt = (seconds: number, timeAdded?: string): string | undefined => {
    const taints =
      timeAdded === undefined ? [] : [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule', timeAdded }];
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: at(0) }];
    const node = { taints, conditions };
    return decideNodeHold({ paused: false, claims, node, wallMs: wallMs + seconds * 1_000, seenMs: wallMs })?.mode;
  };
  for (const stamp of [at(120), at(61), undefined]) {
    assert.equal(modeAt(59, stamp), 'Detect');
    for (const seconds of [61, 119, 121, 181]) assert.equal(modeAt(seconds, stamp), undefined);
  }
});

test('nor does it for a silent node of which a leader with a clock that is ahead wrote the state', () => {
  const claims = [
    { name: 'edge', mode: 'Detect', detect: { markPods: true, evictAfterMs: 60_000 }, modeWindow: undefined },
  ] as const;
  const ahead = new Date(wallMs + 120_000).toISOString();
  const taints = [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule', timeAdded: ahead }];
  const node = { taints, conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: ahead }] };
  const modes = [30, 61, 119, 121, 181].map(
    (seconds) =>
      decideNodeHold({ paused: false, claims, node, wallMs: wallMs + seconds * 1_000, seenMs: wallMs })?.mode,
  );
  assert.deepEqual(modes, ['Detect', undefined, undefined, undefined, undefined]);
});
