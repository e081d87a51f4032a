import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import type { Drill } from '../../../simulator/drill/drill-plan.ts';
import type { DrillRecord, NodeState, PodRecord } from '../../../simulator/drill/drill-record.ts';
import { findMeetingViolations } from '../../../simulator/drill/find-meeting-violations.ts';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' } as const;
const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' } as const;
const flapping = { key: 'nodelifecycle/flapping', effect: 'NoSchedule' } as const;
type State = Partial<NodeState> & { readonly at: number };
type PodStory = Partial<PodRecord> & { readonly deletedAt?: number };

interface Story {
  readonly drill: Partial<Drill>;
  readonly nodes: Readonly<Record<string, readonly State[]>>;
  readonly pods?: readonly PodStory[];
}

/** In a drill of 300 s, with a slack of 7 s and 10 NoExecute taints a second. */
function find({ drill, nodes, pods = [] }: Story): readonly string[] {
  const toNode = (states: readonly State[]): unknown => {
    const base = {
      byController: true,
      ready: 'True',
      zone: 'a',
      taints: [],
      os: undefined,
      oldOs: undefined,
      bootID: '',
    };
    const heartbeats = Array.from({ length: 30 }, (_, index) => index * 10_000);
    return { states: states.map(({ at, ...state }) => ({ ...base, ...state, atMs: at * 1_000 })), heartbeats };
  };
  const toPod = ({ deletedAt, ...pod }: PodStory, index: number): unknown => {
    const deletion = deletedAt === undefined ? undefined : { atMs: deletedAt * 1_000, byController: true };
    const base = { key: `default/p${index}`, node: 'n1', tolerations: [], createdMs: 0, readiness: [], deletes: [] };
    return { ...base, overMs: undefined, deletion, goneMs: undefined, ...pod };
  };
  const record = {
    nodes: new Map(Object.entries(nodes).map(([name, states]) => [name, toNode(states)])),
    pods: new Map(pods.map((pod, index) => [`u${index}`, toPod(pod, index)])),
  };
  const violations = findMeetingViolations({
    drill: { name: 'test', acts: [], durationMs: 300_000, stuck: [], ...drill },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only what the checks read
    record: record as unknown as DrillRecord,
    span: { fromMs: 0, untilMs: 300_000 },
    options: defaultControllerOptions,
    graceMsOf: () => 24_000,
    rates: () => [{ fromMs: 0, perSecond: 10 }],
    slackMs: 7_000,
    knownMs: 100,
    waitsMs: 0,
  });
  return violations.map(({ invariant }) => invariant);
}

describe('a pod that a budget holds for 60 s from 20 s', () => {
  const budget = { nodes: ['n1'], timeoutMs: 60_000, waitsMs: 0 };
  const nodes = { n1: [{ at: 0 }, { at: 20, ready: 'False', taints: [notReady] }] };

  test('is deleted at the timeout', () => {
    assert.deepEqual(find({ drill: { budget }, nodes, pods: [{ deletes: [80_500], deletedAt: 81 }] }), []);
  });

  test('is not deleted before', () => {
    const pods = [{ deletes: [70_000], deletedAt: 70 }];
    assert.deepEqual(find({ drill: { budget }, nodes, pods }), ['budget-is-asked']);
  });

  test('is not deleted later', () => {
    assert.deepEqual(find({ drill: { budget }, nodes, pods: [{}] }), ['budget-has-an-end']);
  });

  test('may be evicted at any time', () => {
    assert.deepEqual(find({ drill: { budget }, nodes, pods: [{ deletedAt: 30 }] }), []);
  });

  test('waits for as long as a pause lasts in addition', () => {
    const paused = { fromMs: 30_000, untilMs: 40_000 };
    const pods = [{ deletes: [85_000], deletedAt: 85 }];
    assert.deepEqual(find({ drill: { budget: { ...budget, paused } }, nodes, pods }), ['budget-is-asked']);
  });

  test('is deleted when its node is unreachable', () => {
    const unknown = { at: 40, ready: 'Unknown', taints: [notReady] };
    const pods = [{ deletes: [41_000], deletedAt: 41 }, {}];
    assert.deepEqual(find({ drill: { budget }, nodes: { n1: [...nodes.n1, unknown] }, pods }), ['budget-has-an-end']);
  });
});

describe('a cooldown of 90 s after the recovery of another node at 100 s', () => {
  const cooldown = { recovers: 'n1', waits: 'n2', forMs: 90_000 };
  const n1 = [{ at: 0 }, { at: 50, ready: 'Unknown' }, { at: 100 }];
  const taintedAt = (at: number): readonly string[] =>
    find({
      drill: { cooldown },
      nodes: {
        n1,
        n2: [
          { at: 60, ready: 'Unknown' },
          { at, ready: 'Unknown', taints: [unreachable] },
        ],
      },
    });

  test('holds the NoExecute taint so long', () => {
    assert.deepEqual(
      [taintedAt(191), taintedAt(150), taintedAt(250)],
      [[], ['cooldown-is-kept'], ['cooldown-is-kept']],
    );
  });
});

describe('a node that is paused until 100 s', () => {
  const paused = { node: 'n1', untilMs: 100_000 };

  test('is not written before', () => {
    const at = (seconds: number): readonly string[] =>
      find({ drill: { paused }, nodes: { n1: [{ at: 0 }, { at: seconds, ready: 'Unknown' }] } });
    assert.deepEqual([at(101), at(50)], [[], ['pause-is-held']]);
  });

  test('keeps its pods', () => {
    assert.deepEqual(find({ drill: { paused }, nodes: { n1: [{ at: 0 }] }, pods: [{ deletedAt: 40 }] }), [
      'pause-is-held',
    ]);
  });
});

describe('two nodes of which one may be emptied at once', () => {
  const places = { nodes: ['n1', 'n2'] };
  const n1 = [{ at: 0 }, { at: 50, ready: 'Unknown', taints: [unreachable] }];
  const n2 = (at: number): readonly State[] => [
    { at: 0 },
    { at: 50, ready: 'Unknown' },
    { at, ready: 'Unknown', taints: [unreachable] },
  ];
  const pods = [{ deletedAt: 110 }, { node: 'n2', deletedAt: 290 }];

  test('are emptied one after the other', () => {
    assert.deepEqual(find({ drill: { places }, nodes: { n1, n2: n2(111) }, pods }), []);
  });

  test('are not emptied together', () => {
    assert.deepEqual(find({ drill: { places }, nodes: { n1, n2: n2(90) }, pods }), ['places-are-kept']);
  });

  test('do not wait for longer', () => {
    assert.deepEqual(find({ drill: { places }, nodes: { n1, n2: n2(200) }, pods }), ['places-are-freed']);
  });
});

describe('a rate of one deletion in ten seconds', () => {
  const deletionRate = { nodes: ['n1'], perSecond: 0.1 };
  const nodes = { n1: [{ at: 0 }, { at: 50, ready: 'Unknown', taints: [unreachable] }] };
  const deletedAt = (...times: readonly number[]): readonly string[] =>
    find({ drill: { deletionRate }, nodes, pods: times.map((at) => ({ deletedAt: at })) });

  test('is kept', () => assert.deepEqual(deletedAt(51, 61, 71), []));
  test('is not exceeded', () => assert.deepEqual(deletedAt(51, 52), ['deletion-rate']));
  test('is used', () => assert.deepEqual(deletedAt(51, 150), ['deletion-rate']));
});

describe('two evictions within an hour', () => {
  const hourlyLimit = { nodes: ['n1'], max: 2 };
  const nodes = { n1: [{ at: 0 }, { at: 50, ready: 'Unknown', taints: [unreachable] }] };
  const found = (...times: readonly (number | undefined)[]): readonly string[] =>
    find({
      drill: { hourlyLimit },
      nodes,
      pods: times.map((at) => (at === undefined ? {} : { deletedAt: at })),
    });

  test('are made', () => assert.deepEqual(found(51, 52, undefined), []));
  test('are not exceeded', () => assert.deepEqual(found(51, 52, 53), ['hourly-limit']));
  test('are used', () => assert.deepEqual(found(51, undefined), ['hourly-limit']));
});

describe('a node that flaps', () => {
  const rule = { recoveries: 2, withinMs: 1, initialMs: 1, maxMs: 1, budget: { percent: undefined, count: 1 } };
  const flapped = { node: 'n1', rule, isReleasedByMs: 200_000 };
  const levels = (...each: readonly (number | undefined)[]): readonly string[] => {
    const states = each.map((level, index): State => {
      const kept = { taints: [flapping], flapping: JSON.stringify({ level, until: '' }) };
      return { at: index * 10, ...(level === undefined ? {} : kept) };
    });
    return find({ drill: { flapped }, nodes: { n1: states } });
  };

  test('is kept for longer after each recovery', () => assert.deepEqual(levels(undefined, 1, 2, 3, undefined), []));
  test('does not begin again', () => assert.deepEqual(levels(1, 2, 1, undefined), ['flapping-level']));
  test('is released', () => assert.deepEqual(levels(1, 2), ['flapping-ends-in-time']));
});

test('a silent node has its NoExecute taint in time', () => {
  const taintedBy = { node: 'n1', byMs: 100_000 };
  const at = (seconds: number): readonly string[] =>
    find({
      drill: { taintedBy },
      nodes: {
        n1: [
          { at: 50, ready: 'Unknown' },
          { at: seconds, taints: [unreachable] },
        ],
      },
    });
  assert.deepEqual([at(90), at(150)], [[], ['taints-in-time']]);
});
