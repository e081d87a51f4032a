import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '../../../../src/controller/decisions.ts';
import { deriveReason, type ToldDecision } from '../../../../src/controller/shadow/derive-reason.ts';
import { describeReport } from '../../../../src/controller/shadow/describe-report.ts';
import type { EpisodeReport, ShadowReport } from '../../../../src/controller/shadow/report.ts';

function told(atMs: number, decision: Decision, text: string): ToldDecision {
  return { atMs, decision, text };
}

const changed = (added: readonly string[], removed: readonly string[]): Decision => {
  return { kind: 'taints-changed', node: 'n', added, removed, why: 'conditions' };
};

const history: readonly ToldDecision[] = [
  told(
    1_000,
    { kind: 'node-silent', node: 'n', silentMs: 1, graceMs: 1, rule: 'monitor', outage: 'NodeFailure' },
    'old',
  ),
  told(
    9_000,
    { kind: 'node-silent', node: 'n', silentMs: 1, graceMs: 1, rule: 'monitor', outage: 'NodeFailure' },
    'silent',
  ),
  told(9_010, changed(['k:NoSchedule'], []), 'scheduling'),
  told(9_020, changed(['k:NoExecute'], []), 'sending'),
  told(20_000, changed([], ['k:NoSchedule']), 'open again'),
];

test('the reason of an act is the decision that was noted with it, not an older one nor another taint', () => {
  assert.equal(deriveReason('node-unknown', 9_000, history), 'silent');
  assert.equal(deriveReason('no-schedule-taint', 9_010, history), 'scheduling');
  assert.equal(deriveReason('no-execute-taint', 9_010, history), 'sending');
  assert.equal(deriveReason('no-schedule-untaint', 9_010, history), 'open again');
  assert.equal(deriveReason('no-execute-untaint', 9_010, history), undefined);
});

test('clocks that are read one after the other may be milliseconds apart', () => {
  assert.equal(deriveReason('node-unknown', 9_000.7, history), 'silent');
});

test('where we did not act the last thing that we decided is told', () => {
  assert.equal(deriveReason('pod-eviction', undefined, history), 'open again');
  assert.equal(deriveReason('pod-eviction', undefined, []), undefined);
});

const none = { agree: 0, earlier: 0, later: 0, only_us: 0, only_them: 0 };
const episode: EpisodeReport = {
  act: 'node-unknown',
  subject: 'node/n1',
  outcome: 'earlier',
  ending: 'followed',
  ours: '2026-01-02T03:04:05.000000Z',
  theirs: '2026-01-02T03:04:25.040000Z',
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
    'pod-eviction': { ...none, only_us: 1 },
  },
  open: 3,
  waiting: [{ act: 'no-execute-taint', subject: 'node/n2', by: 'them', since: 'lately' }],
  undecided: 2,
  episodes: [
    episode,
    { ...episode, outcome: 'agree' },
    {
      ...episode,
      act: 'pod-eviction',
      subject: 'pod/d/p',
      outcome: 'only_us',
      ending: 'time-out',
      theirs: null,
      differenceSeconds: null,
      why: null,
    },
  ],
};

test('the page for people has every count, and a line for each difference', () => {
  assert.deepEqual(describeReport(report).split('\n'), [
    'shadow: nothing is written; compared since then (now)',
    "  acts within 10 s of each other agree; the other's act is waited for 600 s",
    '  act                        agree   earlier     later   only_us only_them',
    '  node-unknown                  12         1         0         0         0',
    '  no-schedule-taint              0         0         0         0         0',
    '  no-schedule-untaint            0         0         0         0         0',
    '  no-execute-taint               0         0         0         0         0',
    '  no-execute-untaint             0         0         0         0         0',
    '  pod-not-ready                  0         0         0         0         0',
    '  pod-eviction                   0         0         0         1         0',
    '  open 3, undecided 2',
    '    node/n2 no-execute-taint: by them since lately',
    '  differences, newest first',
    '    node/n1 node-unknown: earlier by 20 s (2026-01-02T03:04:05.000000Z by us, 2026-01-02T03:04:25.040000Z by them); node n1 is silent',
    '    pod/d/p pod-eviction: only us, nobody followed in time (2026-01-02T03:04:05.000000Z by us, never by them); we decided nothing about it',
    '',
  ]);
});
