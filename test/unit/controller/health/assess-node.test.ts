import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import type { PodView } from '../../../../src/machinery/api/pod.ts';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import { describeDecision } from '../../../../src/controller/decision-log/describe-decision.ts';
import { decideEviction } from '../../../../src/controller/taint-eviction/decide-eviction.ts';
import { TaintClock } from '../../../../src/controller/taint-eviction/taint-clock.ts';
import { assessNode, buildRecord } from '../../../../src/controller/health/assess-node.ts';
import { defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import { decideMarking } from '../../../../src/controller/pod-readiness/pod-marker.ts';
import { decideNoExecuteNeed, decideNoScheduleChange } from '../../../../src/controller/tainting/decide-taints.ts';
import { planRequest } from '../../../../src/controller/writer/plan-request.ts';
import { classifyZone, planRates } from '../../../../src/controller/zones/plan-rates.ts';
import { aNodeView, aPodView } from '../../../support/builders.ts';

const graces = { nodeMonitorGracePeriodMs: 50_000, nodeStartupGracePeriodMs: 60_000 };
const at = (ms: number): { monotonicMs: number; wallMs: number } => ({
  monotonicMs: ms,
  wallMs: 1_700_000_000_000 + ms,
});

const aNode = (over: Partial<NodeView> = {}): NodeView =>
  aNodeView({
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: 'h0', lastTransitionTime: 't0' }],
    createdAtMs: at(0).wallMs,
    ...over,
  });

test('the grace period is exclusive: silent only after it, for both the monitor and the startup grace period', () => {
  const posted = buildRecord(undefined, { node: aNode(), lease: undefined }, at(0));
  assert.equal(assessNode(aNode(), posted, at(50_000), graces).kind, 'alive');
  assert.equal(assessNode(aNode(), posted, at(50_001), graces).kind, 'silent');
  const young = aNode({ conditions: [] });
  const unposted = buildRecord(undefined, { node: young, lease: undefined }, at(0));
  assert.equal(assessNode(young, unposted, at(60_000), graces).kind, 'alive');
  const assessment = assessNode(young, unposted, at(60_001), graces);
  assert.ok(assessment.kind === 'silent' && assessment.rule === 'startup');
  assert.deepEqual(assessment.kind === 'silent' && assessment.conditions.map(({ type, reason }) => [type, reason]), [
    ['Ready', 'NodeStatusNeverUpdated'],
    ['MemoryPressure', 'NodeStatusNeverUpdated'],
    ['DiskPressure', 'NodeStatusNeverUpdated'],
    ['PIDPressure', 'NodeStatusNeverUpdated'],
  ]);
});

test('a deadline is the earliest time at which the node is silent', () => {
  const record = buildRecord(undefined, { node: aNode(), lease: undefined }, at(7));
  const assessment = assessNode(aNode(), record, at(100), graces);
  assert.ok(assessment.kind === 'alive');
  if (assessment.kind !== 'alive') return;
  assert.equal(assessNode(aNode(), record, at(assessment.silentFromMs - 1), graces).kind, 'alive');
  assert.equal(assessNode(aNode(), record, at(assessment.silentFromMs), graces).kind, 'silent');
});

test('heartbeats: a changed timestamp counts, an unchanged one does not, whatever its value', () => {
  const lease = (renewTime: string | undefined) => ({ name: 'n', uid: 'l', resourceVersion: '1', renewTime });
  let record = buildRecord(undefined, { node: aNode(), lease: lease('2026-01-01T00:00:10.000000Z') }, at(0));
  record = buildRecord(record, { node: aNode(), lease: lease('2026-01-01T00:00:10.000000Z') }, at(10));
  assert.equal(record.heartbeatAtMs, 0);
  record = buildRecord(record, { node: aNode(), lease: lease('2026-01-01T00:00:20.000000Z') }, at(20));
  assert.equal(record.heartbeatAtMs, 20);
  record = buildRecord(record, { node: aNode(), lease: lease('2025-01-01T00:00:00.000000Z') }, at(30));
  assert.equal(record.heartbeatAtMs, 30, 'a clock that is set back is a heartbeat too');
  record = buildRecord(record, { node: aNode(), lease: lease(undefined) }, at(40));
  assert.equal(record.heartbeatAtMs, 30, 'no renewTime, no renewal');
  const posted = aNode({
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: 'h1', lastTransitionTime: 't0' }],
  });
  record = buildRecord(record, { node: posted, lease: undefined }, at(50));
  assert.deepEqual([record.heartbeatAtMs, record.readyChangedAtMs], [50, 0]);
});

test('a node created again under its old name gets a new record', () => {
  const record = buildRecord(undefined, { node: aNode(), lease: undefined }, at(0));
  const next = buildRecord(record, { node: aNode({ uid: 'u2' }), lease: undefined }, at(90_000));
  assert.equal(next.heartbeatAtMs, 90_000);
});

test('Unknown written by another replica is a silence from then on; the next heartbeat ends it', () => {
  const lease = (renewTime: string) => ({ name: 'n', uid: 'l', resourceVersion: '1', renewTime });
  const ready = (status: 'True' | 'Unknown', lastTransitionTime: string): NodeView =>
    aNode({ conditions: [{ type: 'Ready', status, lastHeartbeatTime: 'h0', lastTransitionTime }] });
  let record = buildRecord(undefined, { node: ready('True', 't0'), lease: lease('r0') }, at(0));
  record = buildRecord(record, { node: ready('True', 't0'), lease: lease('r1') }, at(10_000));
  assert.equal(record.heartbeatSinceUnknown, true);
  record = buildRecord(record, { node: ready('Unknown', 't1'), lease: lease('r1') }, at(70_000));
  const expected = [false, 10_000, 70_000];
  assert.deepEqual([record.heartbeatSinceUnknown, record.heartbeatAtMs, record.readyChangedAtMs], expected);
  record = buildRecord(record, { node: ready('Unknown', 't1'), lease: lease('r1') }, at(80_000));
  assert.equal(record.readyChangedAtMs, 70_000);
  record = buildRecord(record, { node: ready('Unknown', 't1'), lease: lease('r2') }, at(90_000));
  assert.deepEqual([record.heartbeatSinceUnknown, record.heartbeatAtMs], [true, 90_000]);
});

test('already Unknown: nothing is written, pressure conditions included', () => {
  const node = aNode({
    conditions: [
      { type: 'Ready', status: 'Unknown' },
      { type: 'MemoryPressure', status: 'False' },
    ],
  });
  const record = buildRecord(undefined, { node, lease: undefined }, at(0));
  const assessment = assessNode(node, record, at(100_000), graces);
  assert.deepEqual(assessment.kind === 'silent' && assessment.conditions, []);
});

test('zones: few unready nodes are normal, only unready nodes are a full disruption, the share decides in between', () => {
  assert.equal(classifyZone({ ready: 0, unready: 0 }, 0.55), 'normal');
  assert.equal(classifyZone({ ready: 0, unready: 1 }, 0.55), 'fully-disrupted');
  assert.equal(classifyZone({ ready: 1, unready: 2 }, 0.55), 'normal');
  assert.equal(classifyZone({ ready: 2, unready: 3 }, 0.55), 'partially-disrupted');
  assert.equal(classifyZone({ ready: 3, unready: 3 }, 0.55), 'normal');
  assert.equal(classifyZone({ ready: 5, unready: 6 }, 0.55), 'normal');
  assert.equal(classifyZone({ ready: 9, unready: 11 }, 0.55), 'partially-disrupted');
});

test('rates: primary, secondary in large zones only, none in a full disruption', () => {
  const rate = (zones: Record<string, [number, number]>, zone: string): number | undefined => {
    const tallies = new Map(Object.entries(zones).map(([name, [ready, unready]]) => [name, { ready, unready }]));
    return planRates(tallies, () => defaultControllerOptions).zones.find((plan) => plan.zone === zone)?.ratePerSecond;
  };
  assert.equal(rate({ a: [9, 1] }, 'a'), 0.1);
  assert.equal(rate({ a: [22, 29], b: [1, 0] }, 'a'), 0.01);
  assert.equal(rate({ a: [22, 28], b: [1, 0] }, 'a'), 0);
  assert.equal(rate({ a: [0, 5], b: [1, 0] }, 'a'), 0.1);
  assert.equal(rate({ a: [0, 5], b: [0, 1] }, 'a'), 0);
  const actual = rate({ a: [0, 5], b: [0, 0] }, 'a');
  assert.equal(actual, 0, 'a zone without counted nodes does not prevent a full disruption');
});

test('a fully disrupted zone among others may have a rate of its own', () => {
  const tallies = new Map([
    ['a', { ready: 0, unready: 5 }],
    ['b', { ready: 1, unready: 0 }],
  ]);
  const plan = planRates(tallies, () => ({ ...defaultControllerOptions, fullDisruptionEvictionRate: 0.02 }));
  const rates = plan.zones.map(({ ratePerSecond }) => ratePerSecond);
  assert.deepEqual(rates, [0.02, 0.1]);
});

test('the rate of a zone is never above the primary rate, and 0 everywhere in a full disruption', () => {
  const tally = fc.record({ ready: fc.nat(120), unready: fc.nat(120) });
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tally), (zones) => {
      const plan = planRates(new Map(Object.entries(zones)), () => defaultControllerOptions);
      for (const zone of plan.zones) {
        assert.ok(zone.ratePerSecond <= 0.1);
        if (plan.fullDisruption) assert.equal(zone.ratePerSecond, 0);
      }
      const counted = Object.values(zones).filter(({ ready, unready }) => ready + unready > 0);
      assert.equal(plan.fullDisruption, counted.length > 0 && counted.every(({ ready }) => ready === 0));
    }),
  );
});

test('NoSchedule taints follow the conditions; taints of others are kept', () => {
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
  const change = decideNoScheduleChange(node, 'now');
  const keys = (taints: readonly Taint[]): readonly string[] => taints.map(({ key }) => key.split('/')[1] ?? '');
  assert.deepEqual(keys(change.add), ['unreachable', 'disk-pressure', 'unschedulable']);
  assert.deepEqual(keys(change.remove), ['memory-pressure']);
});

test('NoExecute: one key at a time; the replacing taint gets its time when it is written', () => {
  const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded: 'then' };
  const unreachable: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: 'later' };
  assert.deepEqual(decideNoExecuteNeed('True', [notReady]), { need: 'none', remove: [notReady] });
  assert.deepEqual(decideNoExecuteNeed('True', []), { need: 'settled' });
  assert.deepEqual(decideNoExecuteNeed('False', []), { need: 'add', key: notReady.key });
  assert.deepEqual(decideNoExecuteNeed('Unknown', [unreachable]), { need: 'settled' });
  assert.deepEqual(decideNoExecuteNeed('Unknown', [notReady]), {
    need: 'swap',
    add: { key: unreachable.key, effect: 'NoExecute' },
    remove: [notReady],
  });
  assert.deepEqual(decideNoExecuteNeed('Unknown', [notReady, unreachable]), {
    need: 'swap',
    add: unreachable,
    remove: [notReady],
  });
  assert.deepEqual(decideNoExecuteNeed('missing', [notReady]), { need: 'settled' });
  assert.deepEqual(decideNoExecuteNeed('Perhaps', [notReady]), { need: 'settled' });
});

test('eviction: the first matching toleration in order counts, the earliest end of a toleration wins', () => {
  const running = (key: string, sinceMs: number) => ({ taint: { key, effect: 'NoExecute' }, sinceMs });
  const tolerations = [
    { key: 'a', operator: 'Exists', tolerationSeconds: 100 },
    { operator: 'Exists', tolerationSeconds: 1 },
    { key: 'b', operator: 'Exists' },
  ];
  const leave = (atMs: number, taint: string, toleratedSeconds: number) =>
    ({
      kind: 'evict',
      atMs,
      taint,
      forHealth: false,
      toleratedSeconds,
      sinceMs: atMs - toleratedSeconds * 1_000,
    }) as const;
  const stay = (why: string) => ({ kind: 'stay', why });
  const rows: readonly (readonly [Partial<PodView>, readonly ReturnType<typeof running>[], object])[] = [
    [{}, [], stay('taint-gone')],
    [{ tolerations }, [running('a', 500)], leave(100_500, 'a', 100)],
    [{ tolerations }, [running('a', 0), running('b', 0)], leave(1_000, 'b', 1)],
    [{ tolerations: [{ operator: 'Exists' }] }, [running('a', 0)], stay('tolerates-forever')],
    [{}, [running('a', 7)], leave(7, 'a', 0)],
    [{ terminating: true }, [running('a', 7)], stay('already-terminating')],
    [{ tolerations: [{ operator: 'Exists', tolerationSeconds: -5 }] }, [running('a', 7)], leave(7, 'a', 0)],
  ];
  for (const [pod, taints, decision] of rows)
    assert.deepEqual(decideEviction(aPodView(pod), { taints, boundMs: 0 }), decision);
});

test('the countdown of a taint found at the start begins at its timeAdded, not before, and one in the future begins now', () => {
  const now = { monotonicMs: 1_000_000, wallMs: Date.parse('2026-01-01T00:10:00Z') };
  const taint = (timeAdded?: string): Taint => ({
    key: 'k',
    effect: 'NoExecute',
    ...(timeAdded === undefined ? {} : { timeAdded }),
  });
  const since = (timeAdded?: string): number | undefined => {
    const clock = new TaintClock();
    const createdAtMs = Date.parse('2025-12-31T00:00:00Z');
    clock.observe({ name: 'n', createdAtMs, taints: [taint(timeAdded)] }, 'cache', now);
    return clock.get('n')[0]?.sinceMs;
  };
  const actual = since('2026-01-01T00:09:00Z');
  assert.equal(actual, 1_000_000 - 59_000, 'a whole second is granted for the stamp being cut off');
  assert.equal(since('2026-01-01T00:10:00Z'), 1_000_000);
  assert.equal(since('2027-01-01T00:00:00Z'), 1_000_000);
  assert.equal(since('nonsense'), 1_000_000);
  assert.equal(since(), 1_000_000);
  assert.equal(since('1970-01-01T00:00:00Z'), 1_000_000, 'a time before the creation of its node is not used');
});

test('a taint that stays keeps its start, whatever happens to the clock; a later timeAdded is another taint', () => {
  const clock = new TaintClock();
  const first = { monotonicMs: 0, wallMs: Date.parse('2026-01-01T00:00:00Z') };
  const carrying = (...taints: readonly Taint[]) => ({ name: 'n', createdAtMs: first.wallMs, taints });
  const stamped = (timeAdded: string): Taint => ({ key: 'k', effect: 'NoExecute', timeAdded });
  assert.equal(clock.observe(carrying(stamped('2026-01-01T00:00:00Z')), 'cache', first), true);
  const later = { monotonicMs: 30_000, wallMs: first.wallMs + 3_600_000 };
  assert.equal(clock.observe(carrying(stamped('2026-01-01T00:00:00Z')), 'cache', later), false);
  assert.equal(clock.get('n')[0]?.sinceMs, 0);
  assert.equal(clock.observe(carrying(stamped('2026-01-01T00:00:30Z')), 'watch-event', later), true);
  assert.equal(clock.get('n')[0]?.sinceMs, 30_000);
  assert.equal(clock.observe(carrying({ key: 'k', effect: 'NoSchedule' }), 'cache', later), true);
  assert.deepEqual(clock.get('n'), []);
});

test('marking: while the node is Unknown and silent, and only pods that are not marked yet', () => {
  const silent = { ready: 'Unknown', hasRecentHeartbeat: false, neverPosted: false, isNotReadyForLong: false };
  assert.equal(decideMarking(aPodView(), silent, 'before'), true);
  assert.equal(decideMarking(aPodView({ ready: 'False' }), silent, 'before'), false);
  assert.equal(decideMarking(aPodView({ ready: undefined }), silent, 'before'), false);
  assert.equal(decideMarking(aPodView(), { ...silent, hasRecentHeartbeat: true }, 'before'), false);
  assert.equal(decideMarking(aPodView(), { ...silent, neverPosted: true }, 'before'), false);
  assert.equal(decideMarking(aPodView(), { ...silent, neverPosted: true }, 'newly'), true);
  assert.equal(decideMarking(aPodView(), { ...silent, ready: 'False' }, 'before'), false);
  assert.equal(decideMarking(aPodView(), { ...silent, ready: 'False' }, 'newly'), true);
  assert.equal(decideMarking(aPodView(), { ...silent, ready: 'False', isNotReadyForLong: true }, 'before'), true);
  assert.equal(decideMarking(aPodView(), { ...silent, ready: 'True' }, 'newly'), false);
  assert.equal(decideMarking(aPodView(), undefined, 'newly'), false);
});

test('every request contains the resourceVersion or the uid that was evaluated', () => {
  const node = aNode({ taints: [{ key: 'x', effect: 'NoSchedule' }] });
  const taints = planRequest({ kind: 'change-taints', node, add: [], remove: node.taints, lane: 'recovery' });
  assert.deepEqual(taints.verb === 'patch' && taints.body, {
    metadata: { uid: 'u', resourceVersion: '1' },
    spec: { taints: null },
  });
  const conditions = planRequest({ kind: 'set-node-conditions', node, conditions: [] });
  assert.ok(conditions.verb === 'patch' && conditions.subresource === 'status');
  const deletion = planRequest({ kind: 'delete-pod', pod: aPodView() });
  assert.ok(deletion.verb === 'delete' && deletion.options.uid === 'uid-p');
  const marked = planRequest({ kind: 'mark-pod-disrupted', pod: aPodView(), atMs: 0 });
  assert.deepEqual(marked.verb === 'patch' && marked.body, {
    metadata: { uid: 'uid-p', resourceVersion: '1' },
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

test('the description of a decision has its reason', () => {
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
