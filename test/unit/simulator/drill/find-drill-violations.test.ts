import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import { defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import type { Drill } from '../../../simulator/drill/drill-plan.ts';
import type { DrillRecord, NodeState } from '../../../simulator/drill/drill-record.ts';
import { findDrillViolations } from '../../../simulator/drill/find-drill-violations.ts';

const unreachable: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const maintenance: Taint = { key: 'example.com/maintenance', effect: 'NoExecute' };

interface Story {
  /** Ready status and NoExecute taints of the node, from these seconds on. */
  readonly states: readonly (readonly [seconds: number, ready: string, taints: readonly Taint[]])[];
  readonly heartbeats: readonly number[];
  readonly deletedAt?: number;
  readonly markedAt?: number;
  /** Writes are refused until then. */
  readonly acceptedFrom?: number;
  readonly drill?: Partial<Drill>;
}

function isPodLate(story: Story): boolean {
  return violates('deleted-in-time', story);
}

/** Of a pod that tolerates nothing, in a drill of 200 s with a slack of 7 s. */
function violates(name: string, { states, heartbeats, deletedAt, markedAt, acceptedFrom, drill = {} }: Story): boolean {
  const writes = { sent: 0, committed: 0 };
  const state = ([seconds, ready, taints]: Story['states'][number]): NodeState => {
    return {
      atMs: seconds * 1_000,
      byController: true,
      ready,
      zone: 'a',
      taints,
      os: undefined,
      oldOs: undefined,
      bootID: '',
    };
  };
  const node = { states: states.map(state), heartbeats: heartbeats.map((at) => at * 1_000), events: 0, writes };
  const pod = {
    key: 'default/pod',
    node: 'n1',
    tolerations: [],
    createdMs: 0,
    readiness: markedAt === undefined ? [] : [{ atMs: markedAt * 1_000, isReady: false, byController: true }],
    overMs: undefined,
    deletion: deletedAt === undefined ? undefined : { atMs: deletedAt * 1_000, byController: true },
    goneMs: undefined,
    writes,
  };
  const record = { nodes: new Map([['n1', node]]), pods: new Map([['uid', pod]]) } as unknown as DrillRecord;
  const accepted = acceptedFrom === undefined ? {} : { acceptedFromMs: acceptedFrom * 1_000 };
  const violations = findDrillViolations({
    drill: { name: 'outage', acts: [], durationMs: 200_000, stuck: [], ...accepted, ...drill },
    record,
    span: { fromMs: 0, untilMs: 200_000 },
    options: { ...defaultControllerOptions, nodeMonitorGracePeriodMs: 24_000 },
    graceMsOf: () => 24_000,
    rates: () => [],
    slackMs: 7_000,
    knownMs: 1_000,
    waitsMs: 0,
  });
  return violations.some(({ invariant }) => invariant === name);
}

const silentFrom100 = [
  [0, 'True', []],
  [100, 'Unknown', [unreachable]],
] as const;

test('a pod on a silent node is late when its toleration has expired and the slack is over', () => {
  assert.equal(isPodLate({ states: silentFrom100, heartbeats: [0, 76] }), true);
  assert.equal(isPodLate({ states: silentFrom100, heartbeats: [0, 76], deletedAt: 105 }), false);
});

test('a pod is not late while its node renews its lease again and has not posted its status', () => {
  const states = [...silentFrom100, [113, 'True', []]] as const;
  assert.equal(isPodLate({ states, heartbeats: [0, 76, 101, 111] }), false);
  assert.equal(
    isPodLate({ states: silentFrom100, heartbeats: [0, 76, 101, 111, 121, 131, 141, 151, 161, 171] }),
    false,
  );
});

test('a pod is late when its node became silent again, a grace period after the last renewal', () => {
  assert.equal(isPodLate({ states: silentFrom100, heartbeats: [0, 76, 101] }), true);
  assert.equal(isPodLate({ states: silentFrom100, heartbeats: [0, 76, 101], deletedAt: 130 }), false);
});

test('a pod is not marked whose node was Ready all the time that a write takes', () => {
  const states = [...silentFrom100, [113, 'True', []]] as const;
  const isWrong = (markedAt: number): boolean =>
    violates('mark-has-reason', { states, heartbeats: [0, 76, 113], markedAt });
  assert.deepEqual([90, 101, 114, 119, 121].map(isWrong), [true, false, false, false, true]);
  const short = [...silentFrom100, [103, 'True', []]] as const;
  assert.equal(violates('mark-has-reason', { states: short, heartbeats: [0, 76, 103], markedAt: 104 }), false);
});

test('a node is not Unknown within the grace period, unless a renewal came too late to be known', () => {
  const isEarly = (...heartbeats: readonly number[]): boolean =>
    violates('unknown-has-reason', { states: silentFrom100, heartbeats });
  assert.equal(isEarly(0, 70), false);
  assert.equal(isEarly(0, 70, 98.5), true);
  assert.equal(isEarly(0, 70, 99.5), false);
});

test('a node whose lease cannot be read is not Unknown before the hold for that is over', () => {
  const { leaseConfirmationHoldMs: holdMs } = defaultControllerOptions;
  const isEarly = (unknownAt: number): boolean =>
    violates('unknown-has-reason', {
      states: [
        [0, 'True', []],
        [unknownAt, 'Unknown', [unreachable]],
      ],
      heartbeats: [0, 10],
      drill: { unread: 'n1' },
    });
  assert.deepEqual([holdMs / 1_000 + 30, holdMs / 1_000 + 34].map(isEarly), [true, false]);
});

test('a pod stays on a node that renews its lease again, for less than a deletion may be held', () => {
  const isEarly = (deletedAt: number): boolean =>
    violates('deletion-has-reason', {
      states: silentFrom100,
      heartbeats: [0, 76, 151, 161],
      deletedAt,
      drill: { mayBeLate: true, renews: { node: 'n1', fromMs: 150_000 } },
    });
  assert.deepEqual([140, 160].map(isEarly), [false, true]);
});

test('the taint of a user is not held by renewals', () => {
  const states = [...silentFrom100, [105, 'Unknown', [unreachable, maintenance]]] as const;
  assert.equal(isPodLate({ states, heartbeats: [0, 76, 101, 111, 121, 131, 141, 151, 161, 171] }), true);
});

test('a pod whose deletion was refused is late when the longest delay of a retry is over', () => {
  const refused = { states: silentFrom100, heartbeats: [0, 76], acceptedFrom: 150 };
  assert.equal(isPodLate({ ...refused, deletedAt: 185 }), false);
  assert.equal(isPodLate({ ...refused, deletedAt: 190 }), true);
  assert.equal(isPodLate(refused), true);
});

/** A node that is Unknown from 50 s on, tainted at this time, in a drill of 200 s. */
function isTaintLate(taintedAt: number, drill: Partial<Drill>, perSecond: number): boolean {
  const state = { byController: true, zone: 'z', os: undefined, oldOs: undefined, bootID: '' };
  const states: readonly NodeState[] = [
    { ...state, atMs: 0, ready: 'True', taints: [] },
    { ...state, atMs: 50_000, ready: 'Unknown', taints: [{ ...unreachable, effect: 'NoSchedule' }] },
    {
      ...state,
      atMs: taintedAt * 1_000,
      ready: 'Unknown',
      taints: [unreachable, { ...unreachable, effect: 'NoSchedule' }],
    },
  ];
  const node = { states, heartbeats: [0], events: 0, writes: { sent: 0, committed: 0 } };
  const violations = findDrillViolations({
    drill: { name: 'd', acts: [], durationMs: 200_000, stuck: [], ...drill },
    record: { nodes: new Map([['n1', node]]), pods: new Map() } as unknown as DrillRecord,
    span: { fromMs: 0, untilMs: 200_000 },
    options: { ...defaultControllerOptions, nodeEvictionRate: 5 },
    graceMsOf: () => defaultControllerOptions.nodeMonitorGracePeriodMs,
    rates: () => [{ fromMs: 0, perSecond }],
    slackMs: 7_000,
    knownMs: 1_000,
    waitsMs: 0,
  });
  return violations.some(({ invariant }) => invariant === 'taints-in-time');
}

test('a node waits for two tokens of its zone at most, and for none where it is alone in a zone of its policy', () => {
  assert.equal(isTaintLate(76, {}, 0.1), false);
  assert.equal(isTaintLate(78, {}, 0.1), true);
  assert.equal(isTaintLate(56, { ownZones: ['n1'] }, 0.1), false);
  assert.equal(isTaintLate(58, { ownZones: ['n1'] }, 0.1), true);
});

test('a node in maintenance is tainted soon after its end', () => {
  const maintenance = { node: 'n1', untilMs: 90_000 };
  assert.equal(isTaintLate(96, { maintenance }, 5), false);
  assert.equal(isTaintLate(98, { maintenance }, 5), true);
});
