import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/pod.ts';
import { decidePodWork, deriveGraceMs, type PodWork } from '../../../src/kubelet/decide-pod-work.ts';
import type { ContainerRecord } from '../../../src/kubelet/runtime/derive-container-record.ts';

const running: ContainerRecord = { name: 'a', image: 'i', state: 'running', startedAtMs: 1 };
const created: ContainerRecord = { name: 'b', image: 'i', state: 'created' };
const exited: ContainerRecord = {
  name: 'c',
  image: 'i',
  state: 'exited',
  startedAtMs: 1,
  finishedAtMs: 2,
  exitCode: 0,
};

const bound: Pod = { metadata: { name: 'web' } };
const terminating: Pod = { metadata: { name: 'web', deletionTimestamp: '2026-01-01T00:00:00Z' } };
const over: Pod = { metadata: { name: 'web' }, status: { phase: 'Failed' } };

const cases: readonly {
  readonly why: string;
  readonly pod: Pod;
  readonly gone?: boolean;
  readonly containers: readonly ContainerRecord[] | undefined;
  readonly work: PodWork;
}[] = [
  { why: 'a new pod starts', pod: bound, containers: undefined, work: 'start' },
  { why: 'a started one rests', pod: bound, containers: [created], work: 'rest' },
  { why: 'a running one rests', pod: bound, containers: [running], work: 'rest' },
  { why: 'nothing is started again', pod: bound, containers: [exited], work: 'rest' },
  { why: 'deletion stops what runs', pod: terminating, containers: [running, exited], work: 'stop' },
  { why: 'deletion stops what would run', pod: terminating, containers: [created], work: 'stop' },
  { why: 'deletion is finished once all has stopped', pod: terminating, containers: [exited], work: 'finish' },
  { why: 'deletion of one never started is finished at once', pod: terminating, containers: undefined, work: 'finish' },
  { why: 'a pod that somebody ended is stopped', pod: over, containers: [running], work: 'stop' },
  { why: 'and never started', pod: over, containers: undefined, work: 'finish' },
  { why: 'a pod that is gone is stopped', pod: bound, gone: true, containers: [running], work: 'stop' },
  { why: 'and then forgotten', pod: terminating, gone: true, containers: [exited], work: 'forget' },
];

describe('what a kubelet does about a pod', () => {
  for (const { why, pod, gone = false, containers, work } of cases) {
    it(why, () => assert.equal(decidePodWork({ pod, gone, containers }), work));
  }

  it('gives the containers the grace of the delete, of the pod, or thirty seconds', () => {
    const spec = { terminationGracePeriodSeconds: 5 };
    assert.equal(deriveGraceMs({ metadata: { deletionGracePeriodSeconds: 0 }, spec }), 0);
    assert.equal(deriveGraceMs({ metadata: {}, spec }), 5_000);
    assert.equal(deriveGraceMs({ metadata: {} }), 30_000);
  });
});
