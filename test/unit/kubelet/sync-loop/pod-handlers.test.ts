import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import type { PodAdmission } from '../../../../src/kubelet/machine/decide-pressure-admission.ts';
import { configAnnotations } from '../../../../src/kubelet/pod-config/classify-pod.ts';
import { PodManager } from '../../../../src/kubelet/pod-config/pod-manager.ts';
import type { PodOperation } from '../../../../src/kubelet/pod-config/pod-update.ts';
import type { PodStatus } from '../../../../src/kubelet/pod-status/derive-api-status.ts';
import { podOf } from '../../../../src/kubelet/pod-workers/worker.ts';
import { PodHandlers } from '../../../../src/kubelet/sync-loop/pod-handlers.ts';
import { KeepingLogger, KeepingRecorder } from '../../../support/quiet.ts';

describe('the handlers of the sync loop', () => {
  const { signal } = new AbortController();
  let pods: PodManager;
  let heard: string[];
  let work: string[];
  let pruned: string[];
  let told: Map<string, PodStatus>;
  let ready: boolean;
  let terminating: Set<string>;
  let removable: boolean;
  let admission: (pod: Pod) => PodAdmission;
  let others: number[];
  let recorder: KeepingRecorder;
  let logger: KeepingLogger;
  let handlers: PodHandlers;

  beforeEach(() => {
    pods = new PodManager();
    heard = [];
    work = [];
    pruned = [];
    others = [];
    told = new Map();
    ready = true;
    removable = false;
    terminating = new Set();
    admission = () => ({ admitted: true });
    recorder = new KeepingRecorder();
    logger = new KeepingLogger();
    handlers = new PodHandlers({
      pods,
      workers: {
        update: (asked) => void work.push(`${asked.kind} ${podOf(asked)?.metadata.uid}`),
        isTerminated: () => false,
        isTerminationRequested: (uid) => terminating.has(uid),
        mayRemoveContent: () => removable,
      },
      statuses: {
        set: (pod, status) => void told.set(pod.metadata.uid ?? '', status),
        status: (uid) => told.get(uid),
        noteChange: () => {},
      },
      admitter: {
        admit: async (pod, active) => {
          others.push(active.length);
          return admission(pod);
        },
      },
      sources: { addSource: (source) => void heard.push(source), allReady: () => ready },
      runtime: { pruneContainers: (uid, keep) => void pruned.push(`${uid} ${keep}`) },
      recorder,
      logger,
      onChange: () => {},
    });
  });

  const send = (op: PodOperation, ...list: Pod[]): Promise<void> =>
    handlers.dispatch({ op, source: 'api', pods: list }, signal);

  it('each serve their own message, and the source counts as heard after each [D1]', async () => {
    await send('ADD', aPod('a'), aPod('b'));
    assert.deepEqual(work.splice(0), ['create a', 'create b']);
    assert.deepEqual(heard, ['api']);
    await send('REMOVE', aPod('a'));
    assert.deepEqual(work.splice(0), ['kill a']);
    assert.equal(pods.podByUid('a'), undefined);
    await send('RECONCILE', { ...aPod('b'), status: { phase: 'Running' } });
    assert.deepEqual(work.splice(0), [], 'a status calls for nothing');
    assert.equal(pods.podByUid('b')?.status?.phase, 'Running');
    await send('UPDATE', aPod('b'));
    await send('DELETE', aPod('b'));
    assert.deepEqual(work.splice(0), ['update b', 'update b']);
    assert.deepEqual(heard, ['api', 'api', 'api', 'api', 'api']);
  });

  it('take no snapshot, and still have heard its source [D2]', async () => {
    await send('SET', aPod('a'));
    assert.deepEqual(work, []);
    assert.equal(pods.size, 0);
    assert.deepEqual(heard, ['api']);
    assert.equal(logger.lines[0]?.level, 'error');
  });

  it('let the oldest in first [D11]', async () => {
    const born = (uid: string, second: number): Pod => aPod(uid, { creationTimestamp: `2026-01-02T03:04:0${second}Z` });
    await send('ADD', born('c', 3), born('a', 1), born('b', 2));
    assert.deepEqual(work, ['create a', 'create b', 'create c']);
    assert.deepEqual(others, [0, 1, 2], 'each is judged beside those before it');
  });

  it('reject a pod in words, and do not count it beside the next', async () => {
    admission = ({ metadata }) =>
      metadata.uid === 'a' ? { admitted: false, reason: 'OutOfcpu', message: 'm' } : { admitted: true };
    await send('ADD', { ...aPod('a', { generation: 2 }), status: { qosClass: 'Burstable' } }, aPod('b'));
    assert.deepEqual(work, ['create b']);
    assert.deepEqual(told.get('a'), {
      observedGeneration: 2,
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: 'Pod was rejected: m',
      qosClass: 'Burstable',
    });
    assert.deepEqual(others, [0, 0]);
    assert.deepEqual([recorder.drafts[0]?.type, recorder.drafts[0]?.reason], ['Warning', 'OutOfcpu']);
  });

  it('do not judge what has ended, or is on its way out', async () => {
    admission = () => ({ admitted: false, reason: 'r', message: 'm' });
    terminating.add('b');
    await send('ADD', { ...aPod('a'), status: { phase: 'Failed' } }, aPod('b'));
    assert.deepEqual(work, ['create a', 'create b']);
  });

  it('stop nothing while not every source has been heard', async () => {
    await send('ADD', aPod('a'));
    work.length = 0;
    ready = false;
    await send('REMOVE', aPod('a'));
    assert.deepEqual(work, []);
    assert.equal(pods.podByUid('a'), undefined, 'housekeeping will see to it');
  });

  it('turn what happens to a mirror into work for its static pod', async () => {
    const pod = aPod('s', { annotations: { [configAnnotations.source]: 'file' } });
    const mirror = aPod('m', { annotations: { [configAnnotations.mirror]: 'h' } });
    const named = (it: Pod): Pod => ({ ...it, metadata: { ...it.metadata, name: 'web' } });
    await send('ADD', named(mirror));
    assert.deepEqual(work, [], 'nobody has it yet');
    await send('ADD', named(pod));
    await send('DELETE', named(mirror));
    await send('REMOVE', named(mirror));
    assert.deepEqual(work, ['create s', 'update s', 'update s']);
  });

  it('look at a pod to which something happened, and clear away its dead', async () => {
    await send('ADD', aPod('a'));
    work.length = 0;
    await handlers.observe({ uid: 'a', type: 'ContainerStarted', containerId: 'x' });
    await handlers.observe({ uid: 'a', type: 'ContainerDied', containerId: 'x' });
    removable = true;
    await handlers.observe({ uid: 'a', type: 'ContainerDied', containerId: 'y' });
    assert.deepEqual(work, ['sync a', 'sync a', 'sync a']);
    assert.deepEqual(pruned, ['a 1', 'a 0']);
  });

  it('look at nothing when a container was removed [E9]', async () => {
    await send('ADD', aPod('a'));
    work.length = 0;
    await handlers.observe({ uid: 'a', type: 'ContainerRemoved', containerId: 'x' });
    assert.deepEqual(work, []);
  });

  it('see that a readiness gate has opened, and look again only then', async () => {
    const gated = (gate: string, ready: string, message?: string): Pod => ({
      ...aPod('a'),
      spec: { readinessGates: [{ conditionType: 'x' }] },
      status: {
        conditions: [
          { type: 'ContainersReady', status: 'True' },
          { type: 'x', status: gate },
          { type: 'Ready', status: ready, ...(message === undefined ? {} : { message }) },
        ],
      },
    });
    await send('ADD', gated('False', 'False'));
    work.length = 0;
    await send('RECONCILE', gated('True', 'False', 'm'));
    assert.deepEqual(work.splice(0), ['sync a']);
    await send('RECONCILE', gated('True', 'True'));
    const said = 'the status of pod readiness gate "x" is not "True", but False';
    await send('RECONCILE', gated('False', 'False', said));
    assert.deepEqual(work.splice(0), []);
    await send('RECONCILE', gated('False', 'True'));
    assert.deepEqual(work.splice(0), ['sync a']);
  });
});

function aPod(uid: string, metadata: Pod['metadata'] = {}): Pod {
  return { metadata: { name: uid, namespace: 'default', uid, ...metadata }, spec: { nodeName: 'n' } };
}
