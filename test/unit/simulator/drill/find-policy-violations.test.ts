import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import type { Drill } from '../../../simulator/drill/drill-plan.ts';
import type { DrillRecord, NodeState, PodRecord } from '../../../simulator/drill/drill-record.ts';
import { findPolicyViolations } from '../../../simulator/drill/find-policy-violations.ts';

const noExecute: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const out: Taint = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'node-lifecycle-controller',
  effect: 'NoExecute',
};

type State = readonly [seconds: number, ready: string, taints: readonly Taint[], boot?: string];

/** In a drill of 200 s, with a slack of 7 s. */
function find(
  drill: Pick<Drill, 'maintenance' | 'fenced' | 'detected'>,
  given: readonly State[],
  pod: Partial<PodRecord> = {},
): readonly string[] {
  const states = given.map(([seconds, ready, taints, bootID = 'b1']): NodeState => {
    const base = { atMs: seconds * 1_000, byController: true, ready, zone: 'a', taints, bootID };
    return { ...base, os: undefined, oldOs: undefined };
  });
  const nodes = new Map([['n1', { states, heartbeats: [], events: 0, writes: { sent: 0, committed: 0 } }]]);
  const about = { key: 'default/p', node: 'n1', tolerations: [], createdMs: 0, readiness: [], isOver: false };
  const pods = new Map([['uid', { ...about, deletion: undefined, ...pod }]]);
  const record = { nodes, pods } as unknown as DrillRecord;
  const context = { drill, record, span: { fromMs: 0, untilMs: 200_000 }, slackMs: 7_000 };
  return findPolicyViolations(context).map(({ invariant }) => invariant);
}

describe('a node in maintenance until 100 s', () => {
  const maintenance = { node: 'n1', untilMs: 100_000 };

  test('may be Unknown, and gets its NoExecute taint afterwards', () => {
    assert.deepEqual(
      find({ maintenance }, [
        [0, 'True', []],
        [50, 'Unknown', []],
        [100, 'Unknown', [noExecute]],
      ]),
      [],
    );
  });

  test('gets no NoExecute taint before', () => {
    const early: readonly State[] = [
      [0, 'True', []],
      [50, 'Unknown', []],
      [90, 'Unknown', [noExecute]],
    ];
    assert.deepEqual(find({ maintenance }, early), ['maintenance-is-held']);
  });

  test('may keep one that it had', () => {
    assert.deepEqual(
      find({ maintenance }, [
        [0, 'Unknown', [noExecute]],
        [50, 'Unknown', [noExecute]],
      ]),
      [],
    );
  });
});

describe('a node that was fenced at 60 s', () => {
  const fenced = { node: 'n1', provenMs: 60_000 };
  const tainted: readonly State[] = [
    [0, 'True', []],
    [50, 'Unknown', [noExecute]],
  ];

  test('is out of service soon, until it is back', () => {
    const story: readonly State[] = [
      ...tainted,
      [62, 'Unknown', [noExecute, out]],
      [150, 'True', [out], 'b2'],
      [152, 'True', [], 'b2'],
    ];
    assert.deepEqual(find({ fenced }, story), []);
  });

  test('that is not out of service, or stays so, is late', () => {
    assert.deepEqual(find({ fenced }, tainted), ['fenced-in-time']);
    const stays: readonly State[] = [...tainted, [62, 'Unknown', [noExecute, out]], [150, 'True', [out], 'b2']];
    assert.deepEqual(find({ fenced }, stays), ['fenced-in-time']);
  });

  test('need not be out of service if it is back before, or never proven', () => {
    assert.deepEqual(find({ fenced }, [...tainted, [63, 'True', [], 'b2']]), []);
    assert.deepEqual(find({ fenced: { ...fenced, provenMs: Infinity } }, tainted), []);
  });
});

describe('a node that is kept for 45 s from 50 s', () => {
  const silent: readonly State[] = [
    [0, 'True', []],
    [50, 'Unknown', []],
  ];
  const detected = (keeps: 'node' | 'ready-pods' | 'asking-pods'): Pick<Drill, 'detected'> => {
    return { detected: { node: 'n1', keeps, evictAfterMs: 45_000 } };
  };
  const marked = (seconds: number): Partial<PodRecord> => {
    return { readiness: [{ atMs: seconds * 1_000, isReady: false, byController: true }] };
  };

  test('gets its NoExecute taint afterwards, and not before', () => {
    assert.deepEqual(find(detected('node'), [...silent, [95, 'Unknown', [noExecute]]]), []);
    assert.deepEqual(find(detected('node'), [...silent, [90, 'Unknown', [noExecute]]]), ['detect-is-held']);
  });

  test('its pods may be marked before, unless they are kept Ready', () => {
    assert.deepEqual(find(detected('node'), silent, marked(51)), []);
    assert.deepEqual(find(detected('ready-pods'), silent, marked(51)), ['detect-is-held']);
    assert.deepEqual(find(detected('ready-pods'), silent, marked(95)), []);
  });

  test('a pod that asked is deleted afterwards, within a minute, and not before', () => {
    const tainted: readonly State[] = [...silent, [51, 'Unknown', [noExecute]]];
    const deleted = (seconds: number): Partial<PodRecord> => ({
      deletion: { atMs: seconds * 1_000, byController: true },
    });
    assert.deepEqual(find(detected('asking-pods'), tainted, deleted(60)), ['detect-is-held']);
    assert.deepEqual(find(detected('asking-pods'), tainted, deleted(100)), []);
    assert.deepEqual(find(detected('asking-pods'), tainted), ['detect-ends']);
  });
});
