import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LeaseView } from '../../../../src/machinery/api/lease.ts';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import type { PodView } from '../../../../src/machinery/api/pod.ts';
import { formatMicroTime, formatTime } from '../../../../src/machinery/api/timestamps.ts';
import { buildPreview } from '../../../../src/cli/whatif/cluster-preview.ts';
import type { ClusterState } from '../../../../src/cli/whatif/cluster-evaluation.ts';
import { comparePreviews } from '../../../../src/cli/whatif/compare-previews.ts';
import { describeWhatif } from '../../../../src/cli/whatif/describe-whatif.ts';
import type { NodePreview } from '../../../../src/cli/whatif/preview.ts';
import { type ControllerOptions, defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import type { NodePolicy } from '../../../../src/controller/model/policy.ts';
import { aNodeView, aPodView, aPolicy } from '../../../support/builders.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const unreachable = {
  key: 'node.kubernetes.io/unreachable',
  effect: 'NoExecute',
  timeAdded: formatTime(nowMs - 10_000),
} as const;

interface NodeStory extends Partial<NodeView> {
  /** Since its last heartbeat. */
  readonly silentSeconds?: number;
  /** Status of Ready. */
  readonly ready?: string;
  readonly pods?: readonly Partial<PodView>[];
}

function aCluster(stories: Readonly<Record<string, NodeStory>>): ClusterState {
  const leases = new Map<string, LeaseView>();
  const pods = new Map<string, readonly PodView[]>();
  const nodes = Object.entries(stories).map(
    ([name, { silentSeconds = 5, ready = 'True', pods: some = [], ...over }]) => {
      const renewTime = formatMicroTime(nowMs - silentSeconds * 1_000);
      leases.set(name, { name, uid: name, resourceVersion: '1', renewTime } as LeaseView);
      pods.set(
        name,
        some.map((pod, index) => aPodView({ name: `p${index}`, nodeName: name, ...pod })),
      );
      const lastHeartbeatTime = formatTime(nowMs - 600_000);
      const conditions = [{ type: 'Ready', status: ready, lastHeartbeatTime, lastTransitionTime: lastHeartbeatTime }];
      const labels = { 'topology.kubernetes.io/zone': 'a' };
      return aNodeView({ name, uid: name, conditions, labels, ...over });
    },
  );
  return { atMs: nowMs, nodes, leases, pods };
}

/** Others that keep the zone from being fully disrupted. */
const healthy = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`ok-${index}`, {}]));

function preview(
  story: NodeStory,
  policies: readonly NodePolicy[] = [],
  over: Partial<ControllerOptions> = {},
): NodePreview {
  const options = { ...defaultControllerOptions, policies, ...over };
  const node = buildPreview(aCluster({ ...healthy, n: story }), options).nodes.get('n');
  assert.ok(node !== undefined);
  return node;
}

describe('a node', () => {
  test('that renews its lease is due to be marked at the end of the grace period of its policy', () => {
    const node = preview({ silentSeconds: 60 }, [aPolicy({ name: 'edge', nodeMonitorGracePeriodMs: 180_000 })]);
    assert.deepEqual(
      [node.policy, node.gracePeriodSeconds, node.ready, node.markedUnknown, node.unknownFrom, node.noExecute],
      ['edge', 180, 'True', 'later', '2026-11-24T12:02:00Z', 'none'],
    );
  });

  test('that is silent for longer than the grace period is marked, tainted and emptied at once', () => {
    const node = preview({ silentSeconds: 60, pods: [{}, { tolerations: [{ operator: 'Exists' }] }] });
    assert.deepEqual(
      [node.ready, node.markedUnknown, node.noExecute, node.podsEvicted, node.podsHeld, node.hold],
      ['Unknown', 'now', 'added', 1, 0, null],
    );
  });

  test('that is Unknown and tainted already stays so', () => {
    const node = preview({ silentSeconds: 600, ready: 'Unknown', taints: [unreachable], pods: [{}] });
    assert.deepEqual(
      [node.markedUnknown, node.unknownFrom, node.noExecute, node.podsEvicted],
      ['already', null, 'carried', 1],
    );
  });

  test('keeps its completed pods if its policy says so', () => {
    const silent = { silentSeconds: 60, pods: [{}, { phase: 'Succeeded' }, { phase: 'Failed' }] };
    assert.equal(preview(silent, [aPolicy()]).podsEvicted, 3);
    assert.equal(preview(silent, [aPolicy({ keepCompletedPods: true })]).podsEvicted, 1);
  });

  test('that is Ready again loses its taint', () => {
    assert.equal(preview({ taints: [unreachable], pods: [{}] }).noExecute, 'removed');
    assert.equal(preview({ taints: [unreachable], pods: [{}] }).podsEvicted, 0);
  });

  for (const mode of ['Observe', 'Paused'] as const) {
    test(`of a policy with mode ${mode} is held: mark, taint and evictions`, () => {
      const node = preview({ silentSeconds: 60, pods: [{}] }, [aPolicy({ name: 'lab', mode })]);
      assert.deepEqual([node.markedUnknown, node.noExecute, node.podsEvicted, node.podsHeld], ['held', 'held', 0, 1]);
      assert.match(
        node.hold?.what ?? '',
        mode === 'Observe' ? /^mode Observe \(policy lab\): nothing is written$/u : /^paused by policy lab$/u,
      );
    });
  }

  test('in planned maintenance is marked and keeps its pods until the maximum', () => {
    const maintenance = { conditions: ['MaintenanceInProgress'], taints: [], maxDurationMs: 600_000 };
    const [ready] = aCluster({ n: { silentSeconds: 60 } }).nodes[0]?.conditions ?? [];
    assert.ok(ready !== undefined);
    const began = { type: 'MaintenanceInProgress', status: 'True', lastTransitionTime: formatTime(nowMs - 60_000) };
    const node = preview({ silentSeconds: 60, conditions: [ready, began], pods: [{}] }, [aPolicy({ maintenance })]);
    assert.deepEqual([node.markedUnknown, node.noExecute, node.podsHeld], ['now', 'held', 1]);
    assert.deepEqual(node.hold, { what: 'in planned maintenance (policy zone-a)', until: '2026-11-24T12:09:00Z' });
  });

  test('that was fenced gets the taint out-of-service by a policy that allows it', () => {
    const outOfService = { conditions: [], taints: ['example.com/fenced'] };
    const labels = { 'topology.kubernetes.io/zone': 'a', 'nodelifecycle/out-of-service': 'allowed' };
    const fenced = { key: 'example.com/fenced', effect: 'NoExecute', timeAdded: formatTime(nowMs) };
    const taints = [unreachable, fenced];
    const down = { silentSeconds: 600, ready: 'Unknown', taints, labels, bootID: 'b1' };
    assert.equal(preview(down).outOfService, 'none');
    assert.equal(preview(down, [aPolicy({ outOfService })]).outOfService, 'added');
    assert.equal(preview(down, [aPolicy({ outOfService, mode: 'Paused' })]).outOfService, 'held');
    const untimed = { ...down, taints: [unreachable, { ...fenced, timeAdded: '' }], fenced: 'b1' };
    assert.equal(preview(untimed, [aPolicy({ outOfService })]).outOfService, 'none', 'one reading shows no order');
  });

  test('that this controller took out of service keeps its pods in maintenance; of an administrator it does not', () => {
    const maintenance = { conditions: [], taints: ['example.com/m'], maxDurationMs: 600_000 };
    const began = { key: 'example.com/m', effect: 'NoSchedule', timeAdded: formatTime(nowMs - 60_000) };
    const tolerations = [{ key: unreachable.key, operator: 'Exists' }];
    for (const [value, podsHeld] of [
      ['node-lifecycle-controller', 1],
      ['nodeshutdown', 0],
    ] as const) {
      const out = {
        key: 'node.kubernetes.io/out-of-service',
        value,
        effect: 'NoExecute',
        timeAdded: formatTime(nowMs),
      };
      const down = { silentSeconds: 600, ready: 'Unknown', taints: [unreachable, out, began] };
      assert.equal(preview({ ...down, pods: [{ tolerations }] }, [aPolicy({ maintenance })]).podsHeld, podsHeld, value);
    }
  });

  test('that two policies claim equally has the default', () => {
    const node = preview({}, [aPolicy({ name: 'x', nodeMonitorGracePeriodMs: 90_000 }), aPolicy({ name: 'y' })]);
    assert.deepEqual([node.policy, node.conflict, node.gracePeriodSeconds], [null, ['x', 'y'], 50]);
  });

  test('that never posted a status has the grace period from its creation', () => {
    const created = aNodeView({
      name: 'n',
      createdAtMs: nowMs - 70_000,
      labels: { 'topology.kubernetes.io/zone': 'a' },
    });
    const state = { ...aCluster(healthy), nodes: [...aCluster(healthy).nodes, created] };
    const node = buildPreview(state, defaultControllerOptions).nodes.get('n');
    assert.deepEqual([node?.markedUnknown, node?.gracePeriodSeconds], ['now', 60]);
  });
});

describe('a cluster', () => {
  const silent = { silentSeconds: 60, pods: [{}] } as const;

  test('with more unhealthy nodes in a policy than its limit has an open breaker, which holds their taints', () => {
    const limits = { maxUnhealthy: { percent: undefined, count: 1 }, cooldownMs: 60_000, resetAtMs: undefined };
    const options = { ...defaultControllerOptions, policies: [aPolicy({ name: 'batch', limits })] };
    const { policies, nodes } = buildPreview(aCluster({ ...healthy, n1: silent, n2: silent }), options);
    assert.deepEqual(policies.get('batch'), {
      mode: 'Enforce',
      nodes: 7,
      conflicts: 0,
      breaker: { unhealthy: 2, limit: 1, open: true },
      flapping: null,
    });
    assert.deepEqual([nodes.get('n1')?.noExecute, nodes.get('n1')?.podsHeld], ['held', 1]);
  });

  test('a new policy does not inherit the cooldown of a breaker that did not exist', () => {
    const limits = { maxUnhealthy: { percent: undefined, count: 1 }, cooldownMs: 3_600_000, resetAtMs: undefined };
    const options = { ...defaultControllerOptions, policies: [aPolicy({ name: 'batch', limits })] };
    const recovered = aCluster(healthy);
    assert.equal(buildPreview(recovered, options).policies.get('batch')?.breaker?.open, true);
    const breaker = buildPreview(recovered, options, defaultControllerOptions).policies.get('batch')?.breaker;
    assert.equal(breaker?.open, false);
  });

  test('of which most nodes are silent has a disrupted zone, which adds no taints', () => {
    const silents = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`s${index}`, silent]));
    const state = aCluster({ ok: {}, ...silents });
    const { zones, nodes } = buildPreview(state, defaultControllerOptions);
    assert.deepEqual(zones.get('/a'), { nodes: 7, notReady: 6, state: 'partially-disrupted', ratePerSecond: 0 });
    assert.deepEqual([nodes.get('s0')?.noExecute, nodes.get('s0')?.podsHeld], ['stopped', 1]);
    const rack = aPolicy({ zones: { failureDomain: ['example.com/rack'], settings: { unhealthyZoneThreshold: 1 } } });
    const then = buildPreview(state, { ...defaultControllerOptions, policies: [rack] });
    assert.deepEqual(then.zones.get('zone-a:'), { nodes: 7, notReady: 6, state: 'normal', ratePerSecond: 0.1 });
    assert.equal(then.nodes.get('s0')?.noExecute, 'added');
  });

  test('without a ready node is fully disrupted: taints are removed and no pod is evicted for the health of its node', () => {
    const carrying = { silentSeconds: 60, ready: 'Unknown', taints: [unreachable], pods: [{}] };
    const { fullDisruption, nodes } = buildPreview(aCluster({ n: carrying, m: carrying }), defaultControllerOptions);
    assert.equal(fullDisruption, true);
    assert.deepEqual([nodes.get('n')?.noExecute, nodes.get('n')?.podsEvicted], ['removed', 0]);
  });
});

describe('a node that was kept from new pods', () => {
  const record = (until: string): string => JSON.stringify({ level: 2, until: `2026-11-24T${until}Z` });
  const keptUntil = (until: string, over: NodeStory = {}): NodeStory => {
    return { flapping: record(until), taints: [{ key: 'nodelifecycle/flapping', effect: 'NoSchedule' }], ...over };
  };
  const flapping = {
    recoveries: 3,
    withinMs: 3_600_000,
    initialMs: 300_000,
    maxMs: 1_800_000,
    budget: { percent: 10, count: 1 },
  };
  const flappingOf = (story: NodeStory, policies: readonly NodePolicy[]): readonly unknown[] => {
    const node = preview(story, policies);
    return [node.flapping, node.keptUntil];
  };

  test('stays so until its time with a policy that keeps it, and is released without', () => {
    assert.deepEqual(flappingOf(keptUntil('12:20:00'), [aPolicy({ flapping })]), ['kept', '2026-11-24T12:20:00Z']);
    for (const policies of [[], [aPolicy()], [aPolicy({ flapping, priority: 1 }), aPolicy({ name: 'b', priority: 2 })]])
      assert.deepEqual(flappingOf(keptUntil('12:20:00'), policies), ['released', null]);
  });

  test('is released by a shorter maximum, at the end of its time, and where its annotation is malformed', () => {
    const policies = [aPolicy({ flapping })];
    for (const story of [keptUntil('12:40:00'), keptUntil('11:59:00'), keptUntil('12:20:00', { flapping: '{}' })])
      assert.deepEqual(flappingOf(story, policies), ['released', null]);
  });

  test('keeps the taint while nothing is written for it', () => {
    assert.deepEqual(flappingOf(keptUntil('12:20:00'), [aPolicy({ mode: 'Observe' })]), ['held', null]);
  });

  test('uses up the budget of its policy', () => {
    const options = { ...defaultControllerOptions, policies: [aPolicy({ flapping })] };
    const { policies, nodes } = buildPreview(aCluster({ ...healthy, n: keptUntil('12:20:00') }), options);
    assert.deepEqual(policies.get('zone-a')?.flapping, { kept: 1, limit: 1 });
    assert.equal(nodes.get('ok-0')?.flapping, 'none');
  });
});

describe('pods that are marked NotReady', () => {
  const pods = [{}, {}, { ready: 'False' }, { ready: undefined }];
  const unknown: NodeStory = { silentSeconds: 600, ready: 'Unknown', taints: [unreachable], pods };
  const notReady: NodeStory = { ready: 'False', pods };
  const detect = (markPods: boolean): readonly NodePolicy[] => [
    aPolicy({ mode: 'Detect', detect: { markPods, evictAfterMs: undefined } }),
  ];
  const after = (seconds: number): readonly NodePolicy[] => [aPolicy({ markPodsOfNotReadyAfterMs: seconds * 1_000 })];
  const marked = (story: NodeStory, policies: readonly NodePolicy[] = []): number =>
    preview(story, policies).podsMarked;

  test('are the Ready ones of nodes that are silent or Unknown', () => {
    assert.deepEqual([marked(unknown), marked({ silentSeconds: 60, pods }), marked({ pods })], [2, 2, 0]);
  });

  test('are none while something holds the marks', () => {
    assert.deepEqual([marked(unknown, detect(false)), marked(unknown, detect(true))], [0, 2]);
    for (const mode of ['Observe', 'Paused'] as const) assert.equal(marked(unknown, [aPolicy({ mode })]), 0, mode);
    assert.equal(marked({ ...unknown, pause: 'true' }), 0);
  });

  test('are those of nodes that report NotReady for as long as the policy says', () => {
    assert.deepEqual([marked(notReady), marked(notReady, after(60))], [0, 2]);
    assert.deepEqual([marked(notReady, after(600)), marked(notReady, after(601))], [2, 0]);
  });

  test('are none of a node that sends heartbeats since it is Unknown, and of one that never posted a status', () => {
    assert.equal(marked({ ...unknown, silentSeconds: 5 }), 0);
    const conditions = [
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        lastHeartbeatTime: formatTime(nowMs - 600_000),
      },
    ];
    assert.equal(marked({ ...unknown, conditions }), 0);
    assert.equal(marked({ ...unknown, conditions: [], createdAtMs: nowMs - 600_000 }), 0);
  });

  test('a longer grace period does not end the silence of a node that is Unknown', () => {
    assert.equal(marked(unknown, [aPolicy({ nodeMonitorGracePeriodMs: 3_600_000 })]), 2);
  });

  for (const [what, story, before, then] of [
    ['markPods: true for nodes that are Unknown', unknown, detect(false), detect(true)],
    ['markPodsOfNotReadyAfter for nodes that report NotReady', notReady, [aPolicy()], after(60)],
  ] as const) {
    test(`change with ${what}, and the report says so`, () => {
      const others = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`ok-${index}`, { pods: [{}] }]));
      const state = aCluster({ ...others, n0: story, n1: story, n2: story });
      const [was, is] = [before, then].map((policies) =>
        buildPreview(state, { ...defaultControllerOptions, policies }),
      );
      assert.ok(was !== undefined && is !== undefined);
      const report = comparePreviews(was, is, { atMs: nowMs, all: false });
      assert.deepEqual([report.changedNodes, report.total], [3, 20]);
      assert.deepEqual(report.effects.podsMarked, { before: 0, after: 6 });
      const text = describeWhatif(report);
      assert.match(text, /^3 of 20 nodes change .*; pods marked NotReady 0 -> 6; /mu);
      assert.match(text, /^ {2}pods marked NotReady: n0, n1, n2$/mu);
      assert.match(text, /^ {2}n0: pods marked NotReady 0 -> 2$/mu);
    });
  }
});

test('nodes beyond maxConcurrentEvictions wait', () => {
  const silent: NodeStory = { silentSeconds: 60, ready: 'Unknown', pods: [{}] };
  const options = { ...defaultControllerOptions, policies: [aPolicy({ name: 'edge', maxConcurrentEvictions: 1 })] };
  const { nodes } = buildPreview(aCluster({ ...healthy, a: silent, b: silent }), options);
  const [first, second] = ['a', 'b'].map((name) => nodes.get(name));
  assert.deepEqual([first?.noExecute, first?.hold], ['added', null]);
  const hold = { what: 'at most 1 node of policy edge is emptied at once', until: null };
  assert.deepEqual([second?.noExecute, second?.hold], ['held', hold]);
  for (const name of Object.keys(healthy)) assert.equal(nodes.get(name)?.hold, null, 'nothing is due for it');
});
