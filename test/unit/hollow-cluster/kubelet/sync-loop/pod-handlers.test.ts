import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import type { PodAdmission } from '../../../../../src/hollow-cluster/kubelet/machine/decide-pressure-admission.ts';
import { configAnnotations } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { PodManager } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-manager.ts';
import type { PodOperation } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-update.ts';
import type { PodStatus } from '../../../../../src/hollow-cluster/kubelet/pod-status/build-api-status.ts';
import { podOf } from '../../../../../src/hollow-cluster/kubelet/pod-workers/worker.ts';
import { PodHandlers } from '../../../../../src/hollow-cluster/kubelet/sync-loop/pod-handlers.ts';
import { aPod } from '../../../../support/builders.ts';
import { RecordingLogger, RecordingRecorder } from '../../../../support/fakes.ts';

describe('the handlers of the sync loop', () => {
  const { signal } = new AbortController();
  let pods: PodManager;
  let received: string[];
  let work: string[];
  let pruned: string[];
  let statusByUid: Map<string, PodStatus>;
  let ready: boolean;
  let terminating: Set<string>;
  let known: Set<string | undefined>;
  let removable: boolean;
  let admission: (pod: Pod) => PodAdmission;
  let others: number[];
  let recorder: RecordingRecorder;
  let logger: RecordingLogger;
  let handlers: PodHandlers;

  beforeEach(() => {
    pods = new PodManager();
    received = [];
    work = [];
    pruned = [];
    others = [];
    statusByUid = new Map();
    ready = true;
    removable = false;
    terminating = new Set();
    known = new Set();
    admission = () => ({ admitted: true });
    recorder = new RecordingRecorder();
    logger = new RecordingLogger();
    handlers = new PodHandlers({
      pods,
      workers: {
        update: (asked) => {
          const { uid } = podOf(asked)?.metadata ?? {};
          known.add(uid);
          work.push(`${asked.kind} ${uid}`);
        },
        isKnown: (uid) => known.has(uid),
        isTerminated: () => false,
        isTerminationRequested: (uid) => terminating.has(uid),
        mayRemoveContent: () => removable,
      },
      statuses: {
        set: (pod, status) => void statusByUid.set(pod.metadata.uid ?? '', status),
        status: (uid) => statusByUid.get(uid),
        noteChange: () => {},
      },
      admitter: {
        admit: async (pod, active) => {
          others.push(active.length);
          return admission(pod);
        },
      },
      sources: { addSource: (source) => void received.push(source), allReady: () => ready },
      runtime: { pruneContainers: (uid, keep) => void pruned.push(`${uid} ${keep}`) },
      recorder,
      logger,
      onChange: () => {},
    });
  });

  const send = (op: PodOperation, ...list: Pod[]): Promise<void> =>
    handlers.dispatch({ op, source: 'api', pods: list }, signal);

  it('each handle their update, after which its source is ready [D1]', async () => {
    await send('ADD', aPod('a'), aPod('b'));
    assert.deepEqual(work.splice(0), ['create a', 'create b']);
    assert.deepEqual(received, ['api']);
    await send('REMOVE', aPod('a'));
    assert.deepEqual(work.splice(0), ['kill a']);
    assert.equal(pods.podByUid('a'), undefined);
    await send('RECONCILE', { ...aPod('b'), status: { phase: 'Running' } });
    assert.deepEqual(work.splice(0), [], 'a status causes no work');
    assert.equal(pods.podByUid('b')?.status?.phase, 'Running');
    await send('UPDATE', aPod('b'));
    await send('DELETE', aPod('b'));
    assert.deepEqual(work.splice(0), ['update b', 'update b']);
    assert.deepEqual(received, ['api', 'api', 'api', 'api', 'api']);
  });

  it('admit the oldest pod first [D11]', async () => {
    const born = (uid: string, second: number): Pod =>
      aPod(uid, { metadata: { creationTimestamp: `2026-01-02T03:04:0${second}Z` } });
    await send('ADD', born('c', 3), born('a', 1), born('b', 2));
    assert.deepEqual(work, ['create a', 'create b', 'create c']);
    assert.deepEqual(others, [0, 1, 2], 'each is admitted beside those before it');
  });

  it('set the status of a rejected pod, and do not count it for the next admission', async () => {
    admission = ({ metadata }) =>
      metadata.uid === 'a' ? { admitted: false, reason: 'OutOfcpu', message: 'm' } : { admitted: true };
    await send('ADD', { ...aPod('a', { metadata: { generation: 2 } }), status: { qosClass: 'Burstable' } }, aPod('b'));
    assert.deepEqual(work, ['create b']);
    assert.deepEqual(statusByUid.get('a'), {
      observedGeneration: 2,
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: 'Pod was rejected: m',
      qosClass: 'Burstable',
    });
    assert.deepEqual(others, [0, 0]);
    assert.deepEqual([recorder.drafts[0]?.type, recorder.drafts[0]?.reason], ['Warning', 'OutOfcpu']);
  });

  it('do not start a rejected pod when it changes before its status is written [1.37]', async () => {
    admission = () => ({ admitted: false, reason: 'OutOfcpu', message: 'm' });
    await send('ADD', aPod('a'));
    await send('UPDATE', aPod('a', { metadata: { labels: { app: 'b' } } }));
    await send('DELETE', aPod('a', { metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } }));
    assert.deepEqual(work, []);
  });

  it('do not admit pods that have ended or are terminating', async () => {
    admission = () => ({ admitted: false, reason: 'r', message: 'm' });
    terminating.add('b');
    await send('ADD', { ...aPod('a'), status: { phase: 'Failed' } }, aPod('b'));
    assert.deepEqual(work, ['create a', 'create b']);
  });

  it('do not stop pods before all sources are ready', async () => {
    await send('ADD', aPod('a'));
    work.length = 0;
    ready = false;
    await send('REMOVE', aPod('a'));
    assert.deepEqual(work, []);
    assert.equal(pods.podByUid('a'), undefined, 'housekeeping stops it later');
  });

  it('turn changes of a mirror into work for its static pod', async () => {
    const pod = aPod('s', { metadata: { annotations: { [configAnnotations.source]: 'file' } } });
    const mirror = aPod('m', { metadata: { annotations: { [configAnnotations.mirror]: 'h' } } });
    const named = (it: Pod): Pod => ({ ...it, metadata: { ...it.metadata, name: 'web' } });
    await send('ADD', named(mirror));
    assert.deepEqual(work, [], 'its static pod is not known yet');
    await send('ADD', named(pod));
    await send('DELETE', named(mirror));
    await send('REMOVE', named(mirror));
    assert.deepEqual(work, ['create s', 'update s', 'update s']);
  });

  it('sync a pod with a container event, and remove its exited containers', async () => {
    await send('ADD', aPod('a'));
    work.length = 0;
    await handlers.observe({ uid: 'a', type: 'ContainerStarted', containerId: 'x' });
    await handlers.observe({ uid: 'a', type: 'ContainerDied', containerId: 'x' });
    removable = true;
    await handlers.observe({ uid: 'a', type: 'ContainerDied', containerId: 'y' });
    assert.deepEqual(work, ['sync a', 'sync a', 'sync a']);
    assert.deepEqual(pruned, ['a 1', 'a 0']);
  });

  it('do not sync a pod when a container was removed [E9]', async () => {
    await send('ADD', aPod('a'));
    work.length = 0;
    await handlers.observe({ uid: 'a', type: 'ContainerRemoved', containerId: 'x' });
    assert.deepEqual(work, []);
  });

  it('sync a pod when a readiness gate has changed, and only then', async () => {
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
