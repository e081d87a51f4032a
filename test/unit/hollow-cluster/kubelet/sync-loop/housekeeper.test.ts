import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { PodCache } from '../../../../../src/hollow-cluster/kubelet/pleg/pod-cache.ts';
import { configAnnotations } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { PodManager } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-manager.ts';
import type { PodStatus } from '../../../../../src/hollow-cluster/kubelet/pod-status/build-api-status.ts';
import { PodWorkers } from '../../../../../src/hollow-cluster/kubelet/pod-workers/pod-workers.ts';
import { PodWorkQueue } from '../../../../../src/hollow-cluster/kubelet/pod-workers/work-queue.ts';
import { RuntimeFailure, type RuntimePod } from '../../../../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';
import { Housekeeper } from '../../../../../src/hollow-cluster/kubelet/sync-loop/housekeeper.ts';
import { TickInput } from '../../../../../src/hollow-cluster/kubelet/sync-loop/loop-input.ts';
import { SyncLoop } from '../../../../../src/hollow-cluster/kubelet/sync-loop/sync-loop.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { aPod } from '../../../../support/builders.ts';
import { RecordingLogger, RecordingRecorder } from '../../../../support/fakes.ts';

const secondMs = 1_000;

describe('housekeeping', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let pods: PodManager;
  let workers: PodWorkers;
  let cache: PodCache;
  let steps: string[];
  let statuses: Map<string, PodStatus>;
  let running: RuntimePod[];
  let ready: boolean;
  let listMs: number;
  let lists: number;
  let listedAt: number[];
  let startedAtMs: number;
  /** Reports a change continuously. */
  let busy: boolean;
  let listFails: boolean;
  let deletedMirrors: string[];
  let mirrorsDelete: boolean;
  let housekeeper: Housekeeper;
  let life: AbortController;

  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    pods = new PodManager();
    cache = new PodCache();
    steps = [];
    statuses = new Map();
    running = [];
    ready = true;
    listMs = 0;
    lists = 0;
    listedAt = [];
    startedAtMs = clock.monotonicMs();
    busy = false;
    listFails = false;
    deletedMirrors = [];
    mirrorsDelete = true;
    life = new AbortController();
    const note = (step: string, uid = ''): void => void steps.push(`${step} ${uid}`);
    workers = new PodWorkers({
      steps: {
        sync: async ({ pod }) => {
          note('sync', pod.metadata.uid);
          return { terminal: false };
        },
        terminating: async ({ pod }) => note('terminating', pod.metadata.uid),
        terminated: async ({ pod }) => note('terminated', pod.metadata.uid),
        orphan: async ({ uid }) => note('orphan', uid),
      },
      cache,
      queue: new PodWorkQueue(clock, () => {}),
      clock,
      random: { next: () => 0 },
      recorder: new RecordingRecorder(),
      syncFrequencyMs: 60 * secondMs,
      onFinished: () => housekeeper.note(),
    });
    housekeeper = new Housekeeper({
      pods,
      workers,
      statuses: {
        status: (uid) => statuses.get(uid),
        removeOrphans: (known) => {
          for (const uid of statuses.keys()) if (!known.has(uid)) statuses.delete(uid);
        },
        noteChange: () => {},
      },
      mirrors: {
        delete: async ({ metadata }) => {
          deletedMirrors.push(metadata.uid ?? '');
          return mirrorsDelete;
        },
      },
      runtime: {
        listPods: async (signal) => {
          lists += 1;
          listedAt.push((clock.monotonicMs() - startedAtMs) / secondMs);
          if (busy) housekeeper.note();
          await clock.sleep(listMs, signal);
          if (listFails) throw new RuntimeFailure('no');
          return running;
        },
        pruneContainers: (uid) => void steps.push(`prune ${uid}`),
      },
      sources: { allReady: () => ready },
      clock,
      logger,
    });
  });

  /** The runtime was listed, and the workers do their steps. */
  async function settle(): Promise<void> {
    for (let time = 0; time < 3; time += 1) {
      await clock.advance(secondMs);
      cache.advance(clock.monotonicMs() + 0.001);
      await clock.advance(0);
    }
  }

  async function loop(ms: number): Promise<void> {
    const tick = new TickInput({
      name: 'housekeeping',
      clock,
      periodMs: 2 * secondMs,
      dueAtMs: () => housekeeper.dirtySinceMs(),
      handle: (signal) => housekeeper.tick(signal),
    });
    housekeeper.onDirty = tick.noteDue;
    const running = new SyncLoop({
      inputs: [tick],
      runtimeErrors: () => [],
      syncFrequencyMs: 60 * secondMs,
      clock,
      random: { next: () => 0 },
      logger,
    }).run(life.signal);
    await clock.advance(ms);
    life.abort();
    await running;
  }

  it('does nothing before all sources are ready, however often it is called [D4]', async () => {
    ready = false;
    for (let time = 0; time < 10; time += 1) {
      housekeeper.note();
      await housekeeper.tick(life.signal);
    }
    assert.equal(lists, 0);
    ready = true;
    housekeeper.note();
    await housekeeper.tick(life.signal);
    assert.equal(lists, 1);
  });

  for (const { takesMs, expected } of [
    { takesMs: 1_500, expected: [2, 4, 6, 8, 10, 12] },
    { takesMs: 4_500, expected: [2, 6.5, 11] },
  ]) {
    it(`${takesMs} ms: logs a slow run, and does not repeat missed ticks [D5]`, async () => {
      listMs = takesMs;
      busy = true;
      await loop(13 * secondMs);
      assert.deepEqual(listedAt, expected);
      const warnings = logger.at('warn');
      assert.equal(warnings[0]?.fields['tookMs'], takesMs);
    });
  }

  it('sleeps until something changes', async () => {
    await loop(3_600 * secondMs);
    assert.equal(lists, 1);
  });

  it('terminates workers whose pods no source has, and forgets them after that', async () => {
    workers.update({ kind: 'create', pod: aPod('a') });
    await settle();
    await housekeeper.clean(life.signal);
    await settle();
    assert.deepEqual(steps, ['sync a', 'terminating a', 'terminated a']);
    await housekeeper.clean(life.signal);
    assert.equal(workers.isKnown('a'), false);
  });

  it('starts workers for pods without one, but not for rejected pods', async () => {
    for (const uid of ['a', 'b', 'c']) pods.add(aPod(uid));
    pods.add({
      ...aPod('c'),
      metadata: { ...aPod('c').metadata, deletionTimestamp: 't' },
      status: { phase: 'Failed' },
    });
    statuses.set('b', { phase: 'Failed' });
    await housekeeper.clean(life.signal);
    await settle();
    assert.deepEqual(steps, ['sync a', 'terminated c']);
    assert.ok(statuses.has('b'));
  });

  it('kills running pods that no source has, and removes exited containers', async () => {
    const container = { id: 'x', name: 'c', kind: 'container' } as const;
    const pod = (uid: string, state: 'running' | 'exited'): RuntimePod => ({
      uid,
      namespace: 'default',
      name: uid,
      containers: [{ ...container, state }],
    });
    pods.add(aPod('mine'));
    workers.update({ kind: 'create', pod: aPod('mine') });
    running = [pod('mine', 'running'), pod('stray', 'running'), pod('dead', 'exited')];
    await housekeeper.clean(life.signal);
    await settle();
    assert.deepEqual(steps.toSorted(), ['orphan stray', 'prune dead', 'sync mine']);
  });

  it('runs again when the runtime failed, or a mirror could not be deleted', async () => {
    listFails = true;
    await housekeeper.tick(life.signal);
    assert.ok(housekeeper.dirtySinceMs() !== undefined);
    listFails = false;
    await housekeeper.tick(life.signal);
    assert.equal(housekeeper.dirtySinceMs(), undefined);
    pods.add(aPod('m', { metadata: { annotations: { [configAnnotations.mirror]: 'h' } } }));
    mirrorsDelete = false;
    await housekeeper.tick(life.signal);
    assert.ok(housekeeper.dirtySinceMs() !== undefined);
  });

  it('deletes the mirror of a removed static pod, but not before that has terminated', async () => {
    const pod = aPod('s', { metadata: { name: 'web', annotations: { [configAnnotations.source]: 'file' } } });
    pods.add(aPod('m', { metadata: { name: 'web', annotations: { [configAnnotations.mirror]: 'h' } } }));
    workers.update({ kind: 'create', pod });
    await settle();
    workers.update({ kind: 'kill', pod });
    await housekeeper.clean(life.signal);
    assert.deepEqual(deletedMirrors, []);
    await settle();
    await housekeeper.clean(life.signal);
    assert.deepEqual(deletedMirrors, ['m']);
  });

  it('keeps the status of a removed static pod until it has terminated, but not that of other pods', async () => {
    const both = [aPod('s', { metadata: { annotations: { [configAnnotations.source]: 'file' } } }), aPod('a')];
    for (const pod of both) workers.update({ kind: 'create', pod });
    await settle();
    for (const uid of ['s', 'a']) statuses.set(uid, { phase: 'Running' });
    for (const pod of both) workers.update({ kind: 'kill', pod });
    await housekeeper.clean(life.signal);
    assert.deepEqual([...statuses.keys()], ['s']);
    await settle();
    await housekeeper.clean(life.signal);
    assert.deepEqual([...statuses.keys()], []);
  });
});
