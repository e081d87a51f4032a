import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NodeView } from '../../../src/api/node.ts';
import type { PodView } from '../../../src/api/pod.ts';
import type { Taint } from '../../../src/api/taints.ts';
import { describeDecision } from '../../../src/controller/describe-decision.ts';
import { decideEviction } from '../../../src/controller/eviction/decide-eviction.ts';
import { TaintClock } from '../../../src/controller/eviction/taint-clock.ts';
import { assessNode, deriveRecord } from '../../../src/controller/health/assess-node.ts';
import { defaultControllerOptions } from '../../../src/controller/options.ts';
import { decideMarking } from '../../../src/controller/pod-readiness/decide-marking.ts';
import { deriveNoExecuteNeed, deriveNoScheduleChange } from '../../../src/controller/tainting/derive-taints.ts';
import { planRequest } from '../../../src/controller/writer/plan-request.ts';
import { classifyZone } from '../../../src/controller/zones/classify-zone.ts';
import { planRates } from '../../../src/controller/zones/plan-rates.ts';

const graces = { nodeMonitorGracePeriodMs: 50_000, nodeStartupGracePeriodMs: 60_000 };
const at = (ms: number): { monotonicMs: number; wallMs: number } => ({
  monotonicMs: ms,
  wallMs: 1_700_000_000_000 + ms,
});

function aNode(over: Partial<NodeView> = {}): NodeView {
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: 'h0', lastTransitionTime: 't0' }];
  return {
    name: 'n',
    uid: 'u',
    resourceVersion: '1',
    createdAtMs: at(0).wallMs,
    labels: {},
    unschedulable: false,
    taints: [],
    conditions,
    bootID: '',
    ...over,
  };
}

function aPod(over: Partial<PodView> = {}): PodView {
  return {
    namespace: 'default',
    name: 'p',
    uid: 'pu',
    resourceVersion: '1',
    generation: 1,
    labels: {},
    nodeName: 'n',
    phase: 'Running',
    reason: '',
    terminating: false,
    deletionGraceSeconds: undefined,
    tolerations: [],
    ready: 'True',
    disruptionReason: undefined,
    createdAtMs: 0,
    ...over,
  };
}

test('grace is strict: silent only after it, both for the monitor and for the startup grace period', () => {
  const posted = deriveRecord(undefined, { node: aNode(), lease: undefined }, at(0));
  assert.equal(assessNode(aNode(), posted, at(50_000), graces).kind, 'alive');
  assert.equal(assessNode(aNode(), posted, at(50_001), graces).kind, 'silent');
  const young = aNode({ conditions: [] });
  const unposted = deriveRecord(undefined, { node: young, lease: undefined }, at(0));
  assert.equal(assessNode(young, unposted, at(60_000), graces).kind, 'alive');
  const verdict = assessNode(young, unposted, at(60_001), graces);
  assert.ok(verdict.kind === 'silent' && verdict.rule === 'startup');
  assert.deepEqual(verdict.kind === 'silent' && verdict.conditions.map(({ type, reason }) => [type, reason]), [
    ['Ready', 'NodeStatusNeverUpdated'],
    ['MemoryPressure', 'NodeStatusNeverUpdated'],
    ['DiskPressure', 'NodeStatusNeverUpdated'],
    ['PIDPressure', 'NodeStatusNeverUpdated'],
  ]);
});

test('a deadline is the first moment at which the verdict is silent', () => {
  const record = deriveRecord(undefined, { node: aNode(), lease: undefined }, at(7));
  const verdict = assessNode(aNode(), record, at(100), graces);
  assert.ok(verdict.kind === 'alive');
  if (verdict.kind !== 'alive') return;
  assert.equal(assessNode(aNode(), record, at(verdict.silentFromMs - 1), graces).kind, 'alive');
  assert.equal(assessNode(aNode(), record, at(verdict.silentFromMs), graces).kind, 'silent');
});

test('heartbeats: a changed stamp counts, an unchanged one does not, whatever the stamps say', () => {
  const lease = (renewTime: string | undefined) => ({ name: 'n', uid: 'l', resourceVersion: '1', renewTime });
  let record = deriveRecord(undefined, { node: aNode(), lease: lease('2026-01-01T00:00:10.000000Z') }, at(0));
  record = deriveRecord(record, { node: aNode(), lease: lease('2026-01-01T00:00:10.000000Z') }, at(10));
  assert.equal(record.heardAtMs, 0);
  record = deriveRecord(record, { node: aNode(), lease: lease('2026-01-01T00:00:20.000000Z') }, at(20));
  assert.equal(record.heardAtMs, 20);
  record = deriveRecord(record, { node: aNode(), lease: lease('2025-01-01T00:00:00.000000Z') }, at(30));
  assert.equal(record.heardAtMs, 30, 'a clock set back is a sign of life too');
  record = deriveRecord(record, { node: aNode(), lease: lease(undefined) }, at(40));
  assert.equal(record.heardAtMs, 30, 'no renewTime, no renewal');
  const posted = aNode({
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: 'h1', lastTransitionTime: 't0' }],
  });
  record = deriveRecord(record, { node: posted, lease: undefined }, at(50));
  assert.deepEqual([record.heardAtMs, record.readyChangedAtMs], [50, 0]);
});

test('a node recreated under its old name starts anew', () => {
  const record = deriveRecord(undefined, { node: aNode(), lease: undefined }, at(0));
  const next = deriveRecord(record, { node: aNode({ uid: 'u2' }), lease: undefined }, at(90_000));
  assert.equal(next.heardAtMs, 90_000);
});

test('Unknown as another replica wrote it is silence from then on; the next heartbeat ends it', () => {
  const lease = (renewTime: string) => ({ name: 'n', uid: 'l', resourceVersion: '1', renewTime });
  const ready = (status: 'True' | 'Unknown', lastTransitionTime: string): NodeView =>
    aNode({ conditions: [{ type: 'Ready', status, lastHeartbeatTime: 'h0', lastTransitionTime }] });
  let record = deriveRecord(undefined, { node: ready('True', 't0'), lease: lease('r0') }, at(0));
  record = deriveRecord(record, { node: ready('True', 't0'), lease: lease('r1') }, at(10_000));
  assert.equal(record.heardSinceUnknown, true);
  record = deriveRecord(record, { node: ready('Unknown', 't1'), lease: lease('r1') }, at(70_000));
  assert.deepEqual([record.heardSinceUnknown, record.heardAtMs, record.readyChangedAtMs], [false, 10_000, 70_000]);
  record = deriveRecord(record, { node: ready('Unknown', 't1'), lease: lease('r1') }, at(80_000));
  assert.equal(record.readyChangedAtMs, 70_000);
  record = deriveRecord(record, { node: ready('Unknown', 't1'), lease: lease('r2') }, at(90_000));
  assert.deepEqual([record.heardSinceUnknown, record.heardAtMs], [true, 90_000]);
});

test('Unknown already: nothing is written, pressure conditions included', () => {
  const node = aNode({
    conditions: [
      { type: 'Ready', status: 'Unknown' },
      { type: 'MemoryPressure', status: 'False' },
    ],
  });
  const record = deriveRecord(undefined, { node, lease: undefined }, at(0));
  const verdict = assessNode(node, record, at(100_000), graces);
  assert.deepEqual(verdict.kind === 'silent' && verdict.conditions, []);
});

test('zones: few unready nodes do not disturb, all unready is dark, the share decides between', () => {
  assert.equal(classifyZone({ ready: 0, unready: 0 }, 0.55), 'normal');
  assert.equal(classifyZone({ ready: 0, unready: 1 }, 0.55), 'fully-disrupted');
  assert.equal(classifyZone({ ready: 1, unready: 2 }, 0.55), 'normal');
  assert.equal(classifyZone({ ready: 2, unready: 3 }, 0.55), 'partially-disrupted');
  assert.equal(classifyZone({ ready: 3, unready: 3 }, 0.55), 'normal');
  assert.equal(classifyZone({ ready: 5, unready: 6 }, 0.55), 'normal');
  assert.equal(classifyZone({ ready: 9, unready: 11 }, 0.55), 'partially-disrupted');
});

test('rates: full, secondary in large zones only, none when every zone is dark', () => {
  const rate = (zones: Record<string, [number, number]>, zone: string): number | undefined => {
    const tallies = new Map(Object.entries(zones).map(([name, [ready, unready]]) => [name, { ready, unready }]));
    return planRates(tallies, defaultControllerOptions).zones.find((plan) => plan.zone === zone)?.ratePerSecond;
  };
  assert.equal(rate({ a: [9, 1] }, 'a'), 0.1);
  assert.equal(rate({ a: [22, 29], b: [1, 0] }, 'a'), 0.01);
  assert.equal(rate({ a: [22, 28], b: [1, 0] }, 'a'), 0);
  assert.equal(rate({ a: [0, 5], b: [1, 0] }, 'a'), 0.1);
  assert.equal(rate({ a: [0, 5], b: [0, 1] }, 'a'), 0);
  assert.equal(rate({ a: [0, 5], b: [0, 0] }, 'a'), 0, 'a zone in which nobody counts cannot vouch for the others');
});

test('a dark zone among others may have a rate of its own', () => {
  const tallies = new Map([
    ['a', { ready: 0, unready: 5 }],
    ['b', { ready: 1, unready: 0 }],
  ]);
  const plan = planRates(tallies, { ...defaultControllerOptions, fullDisruptionEvictionRate: 0.02 });
  assert.deepEqual(
    plan.zones.map(({ ratePerSecond }) => ratePerSecond),
    [0.02, 0.1],
  );
});

test('the rate of a zone is never more than the full rate, and 0 everywhere when every zone is dark', () => {
  const tally = fc.record({ ready: fc.nat(120), unready: fc.nat(120) });
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tally), (zones) => {
      const plan = planRates(new Map(Object.entries(zones)), defaultControllerOptions);
      for (const zone of plan.zones) {
        assert.ok(zone.ratePerSecond <= 0.1);
        if (plan.everyZoneDark) assert.equal(zone.ratePerSecond, 0);
      }
      const counted = Object.values(zones).filter(({ ready, unready }) => ready + unready > 0);
      assert.equal(plan.everyZoneDark, counted.length > 0 && counted.every(({ ready }) => ready === 0));
    }),
  );
});

test('NoSchedule taints follow the conditions; others keep theirs', () => {
  const node = aNode({
    unschedulable: true,
    conditions: [
      { type: 'Ready', status: 'Unknown' },
      { type: 'MemoryPressure', status: 'Unknown' },
      { type: 'DiskPressure', status: 'True' },
      { type: 'Custom', status: 'True' },
    ],
    taints: [
      { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
      { key: 'dedicated', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/pid-pressure', effect: 'PreferNoSchedule' },
    ],
  });
  const change = deriveNoScheduleChange(node, 'now');
  assert.deepEqual(
    change.add.map(({ key }) => key),
    ['node.kubernetes.io/unreachable', 'node.kubernetes.io/disk-pressure', 'node.kubernetes.io/unschedulable'],
  );
  assert.deepEqual(
    change.remove.map(({ key }) => key),
    ['node.kubernetes.io/memory-pressure'],
  );
});

test('NoExecute: one key at a time; a swap carries the older stamp on', () => {
  const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded: 'then' };
  const unreachable: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: 'later' };
  assert.deepEqual(deriveNoExecuteNeed('True', [notReady]), { need: 'none', remove: [notReady] });
  assert.deepEqual(deriveNoExecuteNeed('True', []), { need: 'settled' });
  assert.deepEqual(deriveNoExecuteNeed('False', []), { need: 'add', key: notReady.key });
  assert.deepEqual(deriveNoExecuteNeed('Unknown', [unreachable]), { need: 'settled' });
  assert.deepEqual(deriveNoExecuteNeed('Unknown', [notReady]), {
    need: 'swap',
    add: { ...unreachable, timeAdded: 'then' },
    remove: [notReady],
  });
  assert.deepEqual(deriveNoExecuteNeed('Unknown', [notReady, unreachable]), {
    need: 'swap',
    add: unreachable,
    remove: [notReady],
  });
  assert.deepEqual(deriveNoExecuteNeed('missing', [notReady]), { need: 'settled' });
  assert.deepEqual(deriveNoExecuteNeed('Perhaps', [notReady]), { need: 'settled' });
});

test('eviction: the first matching toleration in order counts, the earliest end of patience wins', () => {
  const running = (key: string, sinceMs: number) => ({ taint: { key, effect: 'NoExecute' }, sinceMs });
  const tolerations = [
    { key: 'a', operator: 'Exists', tolerationSeconds: 100 },
    { operator: 'Exists', tolerationSeconds: 1 },
    { key: 'b', operator: 'Exists' },
  ];
  assert.deepEqual(decideEviction(aPod(), []), { kind: 'stay', why: 'taint-gone' });
  assert.deepEqual(decideEviction(aPod({ tolerations }), [running('a', 500)]), {
    kind: 'leave',
    atMs: 100_500,
    taint: 'a',
    toleratedSeconds: 100,
  });
  assert.deepEqual(decideEviction(aPod({ tolerations }), [running('a', 0), running('b', 0)]), {
    kind: 'leave',
    atMs: 1_000,
    taint: 'b',
    toleratedSeconds: 1,
  });
  assert.deepEqual(decideEviction(aPod({ tolerations: [{ operator: 'Exists' }] }), [running('a', 0)]), {
    kind: 'stay',
    why: 'tolerates-for-ever',
  });
  assert.deepEqual(decideEviction(aPod(), [running('a', 7)]), {
    kind: 'leave',
    atMs: 7,
    taint: 'a',
    toleratedSeconds: 0,
  });
  assert.deepEqual(decideEviction(aPod({ terminating: true }), [running('a', 7)]), {
    kind: 'stay',
    why: 'already-terminating',
  });
  const negative = [{ operator: 'Exists', tolerationSeconds: -5 }];
  assert.deepEqual(decideEviction(aPod({ tolerations: negative }), [running('a', 7)]), {
    kind: 'leave',
    atMs: 7,
    taint: 'a',
    toleratedSeconds: 0,
  });
});

test('the countdown of a taint starts at its timeAdded, not before, and one from the future starts now', () => {
  const now = { monotonicMs: 1_000_000, wallMs: Date.parse('2026-01-01T00:10:00Z') };
  const taint = (timeAdded?: string): Taint => ({
    key: 'k',
    effect: 'NoExecute',
    ...(timeAdded === undefined ? {} : { timeAdded }),
  });
  const since = (timeAdded?: string): number | undefined => {
    const clock = new TaintClock();
    const createdAtMs = Date.parse('2025-12-31T00:00:00Z');
    clock.observe({ name: 'n', createdAtMs, taints: [taint(timeAdded)] }, now);
    return clock.get('n')[0]?.sinceMs;
  };
  assert.equal(
    since('2026-01-01T00:09:00Z'),
    1_000_000 - 59_000,
    'a whole second is granted for the stamp being cut off',
  );
  assert.equal(since('2026-01-01T00:10:00Z'), 1_000_000);
  assert.equal(since('2027-01-01T00:00:00Z'), 1_000_000);
  assert.equal(since('nonsense'), 1_000_000);
  assert.equal(since(), 1_000_000);
  assert.equal(since('1970-01-01T00:00:00Z'), 1_000_000, 'older than its node: absurd');
});

test('a taint that stays keeps its start, whatever happens to its stamp or to the clock', () => {
  const clock = new TaintClock();
  const first = { monotonicMs: 0, wallMs: Date.parse('2026-01-01T00:00:00Z') };
  const carrying = (...taints: readonly Taint[]) => ({ name: 'n', createdAtMs: first.wallMs, taints });
  const stamped = (timeAdded: string): Taint => ({ key: 'k', effect: 'NoExecute', timeAdded });
  assert.equal(clock.observe(carrying(stamped('2026-01-01T00:00:00Z')), first), true);
  const later = { monotonicMs: 30_000, wallMs: first.wallMs + 3_600_000 };
  assert.equal(clock.observe(carrying(stamped('2026-01-01T00:00:30Z')), later), false);
  assert.equal(clock.get('n')[0]?.sinceMs, 0);
  assert.equal(clock.observe(carrying({ key: 'k', effect: 'NoSchedule' }), later), true);
  assert.deepEqual(clock.get('n'), []);
});

test('marking: while the node is Unknown and stays silent, and only pods that are not marked yet', () => {
  const silent = { ready: 'Unknown', heardSinceUnknown: false, neverPosted: false };
  assert.equal(decideMarking(aPod(), silent, 'before'), true);
  assert.equal(decideMarking(aPod({ ready: 'False' }), silent, 'before'), false);
  assert.equal(decideMarking(aPod({ ready: undefined }), silent, 'before'), false);
  assert.equal(decideMarking(aPod(), { ...silent, heardSinceUnknown: true }, 'before'), false);
  assert.equal(decideMarking(aPod(), { ...silent, neverPosted: true }, 'before'), false);
  assert.equal(decideMarking(aPod(), { ...silent, neverPosted: true }, 'newly'), true);
  assert.equal(decideMarking(aPod(), { ...silent, ready: 'False' }, 'before'), false);
  assert.equal(decideMarking(aPod(), { ...silent, ready: 'False' }, 'newly'), true);
  assert.equal(decideMarking(aPod(), { ...silent, ready: 'True' }, 'newly'), false);
  assert.equal(decideMarking(aPod(), undefined, 'newly'), false);
});

test('every request names the version or the uid that was decided upon', () => {
  const node = aNode({ taints: [{ key: 'x', effect: 'NoSchedule' }] });
  const taints = planRequest({ kind: 'change-taints', node, add: [], remove: node.taints, urgency: 'untaint' });
  assert.deepEqual(taints.verb === 'patch' && taints.body, {
    metadata: { uid: 'u', resourceVersion: '1' },
    spec: { taints: null },
  });
  const conditions = planRequest({ kind: 'set-node-conditions', node, conditions: [] });
  assert.ok(conditions.verb === 'patch' && conditions.subresource === 'status');
  const deletion = planRequest({ kind: 'delete-pod', pod: aPod() });
  assert.ok(deletion.verb === 'delete' && deletion.uid === 'pu');
  const marked = planRequest({ kind: 'mark-pod-disrupted', pod: aPod(), atMs: 0 });
  assert.deepEqual(marked.verb === 'patch' && marked.body, {
    metadata: { uid: 'pu' },
    status: {
      conditions: [
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'DeletionByTaintManager',
          message: 'Taint manager: deleting due to NoExecute taint',
          lastTransitionTime: '1970-01-01T00:00:00Z',
          observedGeneration: 1,
        },
      ],
    },
  });
});

test('a decision is told with its reason', () => {
  const why = {
    ready: 2,
    unready: 3,
    unhealthyZoneThreshold: 0.55,
    largeClusterSizeThreshold: 50,
    rule: 'small-zone-disrupted',
  } as const;
  const text = describeDecision({
    kind: 'zone-changed',
    zone: 'r/a',
    from: 'normal',
    to: 'partially-disrupted',
    ratePerSecond: 0,
    why,
  });
  assert.match(text, /3 of 5 unready = 0\.60 \(threshold 0\.55, large above 50\)/);
});
