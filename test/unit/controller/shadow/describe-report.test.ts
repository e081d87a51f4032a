import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '../../../../src/controller/model/decisions.ts';
import { selectReason, type RecordedDecision } from '../../../../src/controller/shadow/comparison.ts';
import { describeReport } from '../../../../src/controller/shadow/describe-report.ts';
import type { EpisodeReport, ShadowReport } from '../../../../src/controller/shadow/report.ts';

function recorded(atMs: number, decision: Decision, text: string): RecordedDecision {
  return { atMs, decision, text };
}

const changed = (added: readonly string[], removed: readonly string[]): Decision => {
  return { kind: 'taints-changed', node: 'n', added, removed, why: 'conditions' };
};

const history: readonly RecordedDecision[] = [
  recorded(
    1_000,
    { kind: 'node-silent', node: 'n', silentMs: 1, graceMs: 1, rule: 'monitor', outage: 'NodeFailure' },
    'old',
  ),
  recorded(
    9_000,
    { kind: 'node-silent', node: 'n', silentMs: 1, graceMs: 1, rule: 'monitor', outage: 'NodeFailure' },
    'silent',
  ),
  recorded(9_010, changed(['k:NoSchedule'], []), 'scheduling'),
  recorded(9_020, changed(['k:NoExecute'], []), 'sending'),
  recorded(20_000, changed([], ['k:NoSchedule']), 'open again'),
];

test('the reason of an action is the decision recorded with it, not an older one nor that of another taint', () => {
  assert.equal(selectReason('node-unknown', 9_000, history), 'silent');
  assert.equal(selectReason('no-schedule-taint', 9_010, history), 'scheduling');
  assert.equal(selectReason('no-execute-taint', 9_010, history), 'sending');
  assert.equal(selectReason('no-schedule-untaint', 9_010, history), 'open again');
  assert.equal(selectReason('no-execute-untaint', 9_010, history), undefined);
});

test('clocks that are read one after the other may differ by milliseconds', () => {
  assert.equal(selectReason('node-unknown', 9_000.7, history), 'silent');
});

test('without an action of the shadow the last decision is the reason', () => {
  assert.equal(selectReason('pod-eviction', undefined, history), 'open again');
  assert.equal(selectReason('pod-eviction', undefined, []), undefined);
});

const none = { agree: 0, earlier: 0, later: 0, only_shadow: 0, only_cluster: 0 };
const episode: EpisodeReport = {
  act: 'node-unknown',
  subject: 'node/n1',
  outcome: 'earlier',
  ending: 'followed',
  shadowAt: '2026-01-02T03:04:05.000000Z',
  clusterAt: '2026-01-02T03:04:25.040000Z',
  differenceSeconds: 20.04,
  why: 'node n1 is silent',
};
const report: ShadowReport = {
  at: 'now',
  since: 'then',
  writes: 'nothing',
  toleranceSeconds: 10,
  waitSeconds: 600,
  totals: {
    'node-unknown': { ...none, earlier: 1, agree: 12 },
    'no-schedule-taint': none,
    'no-schedule-untaint': none,
    'no-execute-taint': none,
    'no-execute-untaint': none,
    'pod-not-ready': none,
    'pod-eviction': { ...none, only_shadow: 1 },
  },
  open: 3,
  waiting: [{ act: 'no-execute-taint', subject: 'node/n2', by: 'cluster', since: 'lately' }],
  undecided: 2,
  episodes: [
    episode,
    { ...episode, outcome: 'agree' },
    {
      ...episode,
      act: 'pod-eviction',
      subject: 'pod/d/p',
      outcome: 'only_shadow',
      ending: 'time-out',
      clusterAt: null,
      differenceSeconds: null,
      why: null,
    },
  ],
};

test('the text page has every count, and a line for each difference', () => {
  assert.deepEqual(describeReport(report).split('\n'), [
    'shadow mode: nothing is written; compared since then (now)',
    '  actions within 10s of each other agree; an action of one side waits 600s for the other',
    '  action                         agree       earlier         later   only_shadow  only_cluster',
    '  node-unknown                      12             1             0             0             0',
    '  no-schedule-taint                  0             0             0             0             0',
    '  no-schedule-untaint                0             0             0             0             0',
    '  no-execute-taint                   0             0             0             0             0',
    '  no-execute-untaint                 0             0             0             0             0',
    '  pod-not-ready                      0             0             0             0             0',
    '  pod-eviction                       0             0             0             1             0',
    '  open 3, undecided 2',
    '    node/n2 no-execute-taint: by cluster since lately',
    '  differences, newest first',
    '    node/n1 node-unknown: shadow earlier by 20s (shadow: 2026-01-02T03:04:05.000000Z, cluster: 2026-01-02T03:04:25.040000Z); node n1 is silent',
    '    pod/d/p pod-eviction: shadow only, the other did not follow in time (shadow: 2026-01-02T03:04:05.000000Z, cluster: never); no decision by the shadow',
    '',
  ]);
});
