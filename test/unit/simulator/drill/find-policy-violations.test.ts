import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import type { Drill } from '../../../simulator/drill/drill-plan.ts';
import type { DrillRecord, NodeState } from '../../../simulator/drill/drill-record.ts';
import { findPolicyViolations } from '../../../simulator/drill/find-policy-violations.ts';

const noExecute: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const out: Taint = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'node-lifecycle-controller',
  effect: 'NoExecute',
};

type State = readonly [seconds: number, ready: string, taints: readonly Taint[], boot?: string];

/** In a drill of 200 s, with a slack of 7 s. */
function find(drill: Pick<Drill, 'maintenance' | 'fenced'>, given: readonly State[]): readonly string[] {
  const states = given.map(([seconds, ready, taints, bootID = 'b1']): NodeState => {
    const base = { atMs: seconds * 1_000, byController: true, ready, zone: 'a', taints, bootID };
    return { ...base, os: undefined, oldOs: undefined };
  });
  const nodes = new Map([['n1', { states, heartbeats: [], events: 0, writes: { sent: 0, committed: 0 } }]]);
  const record = { nodes } as unknown as DrillRecord;
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
