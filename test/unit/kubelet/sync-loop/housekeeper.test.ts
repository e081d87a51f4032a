import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import { PodCache } from '../../../../src/kubelet/pleg/pod-cache.ts';
import { configAnnotations } from '../../../../src/kubelet/pod-config/classify-pod.ts';
import { PodManager } from '../../../../src/kubelet/pod-config/pod-manager.ts';
import type { PodStatus } from '../../../../src/kubelet/pod-status/derive-api-status.ts';
import { PodWorkers } from '../../../../src/kubelet/pod-workers/pod-workers.ts';
import { PodWorkQueue } from '../../../../src/kubelet/pod-workers/work-queue.ts';
import { RuntimeFailure, type RuntimePod } from '../../../../src/kubelet/runtime/pod-runtime.ts';
import { Housekeeper } from '../../../../src/kubelet/sync-loop/housekeeper.ts';
import { TickInput } from '../../../../src/kubelet/sync-loop/loop-input.ts';
import { SyncLoop } from '../../../../src/kubelet/sync-loop/sync-loop.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { KeepingLogger, KeepingRecorder } from '../../../support/quiet.ts';

const secondMs = 1_000;

describe('housekeeping', () => {
  let clock: ManualClock;
  let logger: KeepingLogger;
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
  /** Something changes all the time. */
  let busy: boolean;
  let listFails: boolean;
  let deletedMirrors: string[];
  let mirrorsDelete: boolean;
  let housekeeper: Housekeeper;
  let life: AbortController;

  beforeEach(() => {
    clock = new ManualClock();
    logger = new KeepingLogger();
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
      recorder: new KeepingRecorder(),
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

  /** The runtime has been looked at, and workers do what they have to. */
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
      classic: false,
      syncFrequencyMs: 60 * secondMs,
      clock,
      random: { next: () => 0 },
      logger,
    }).run(life.signal);
    await clock.advance(ms);
    life.abort();
    await running;
  }

  it('does nothing while not every source has been heard, however often it is called [D4]', async () => {
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
    it(`tells when it took ${takesMs} ms, and does not make up for the ticks it missed [D5]`, async () => {
      listMs = takesMs;
      busy = true;
      await loop(13 * secondMs);
      assert.deepEqual(listedAt, expected);
      const warnings = logger.lines.filter(({ level }) => level === 'warn');
      assert.equal(warnings[0]?.fields['tookMs'], takesMs);
    });
  }

  it('sleeps until something changes', async () => {
    await loop(3_600 * secondMs);
    assert.equal(lists, 1);
  });

  it('ends workers whose pods no source knows, and forgets them when they have ended', async () => {
    workers.update({ kind: 'create', pod: aPod('a') });
    await settle();
    await housekeeper.clean(life.signal);
    await settle();
    assert.deepEqual(steps, ['sync a', 'terminating a', 'terminated a']);
    await housekeeper.clean(life.signal);
    assert.equal(workers.isKnown('a'), false);
  });

  it('starts the workers of pods that have none, but not of rejected ones', async () => {
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

  it('ends what runs and belongs to nobody, and clears away what is dead', async () => {
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

  it('comes again when the runtime did not answer, or a mirror could not be deleted', async () => {
    listFails = true;
    await housekeeper.tick(life.signal);
    assert.ok(housekeeper.dirtySinceMs() !== undefined);
    listFails = false;
    await housekeeper.tick(life.signal);
    assert.equal(housekeeper.dirtySinceMs(), undefined);
    pods.add(aPod('m', { annotations: { [configAnnotations.mirror]: 'h' } }));
    mirrorsDelete = false;
    await housekeeper.tick(life.signal);
    assert.ok(housekeeper.dirtySinceMs() !== undefined);
  });

  it('deletes the mirror of a static pod that is gone, but not before that has ended', async () => {
    const pod = aPod('s', { name: 'web', annotations: { [configAnnotations.source]: 'file' } });
    pods.add(aPod('m', { name: 'web', annotations: { [configAnnotations.mirror]: 'h' } }));
    workers.update({ kind: 'create', pod });
    await settle();
    workers.update({ kind: 'kill', pod });
    await housekeeper.clean(life.signal);
    assert.deepEqual(deletedMirrors, []);
    await settle();
    await housekeeper.clean(life.signal);
    assert.deepEqual(deletedMirrors, ['m']);
  });

  it('keeps what was said of a static pod that is gone until that has ended, and of others not', async () => {
    const both = [aPod('s', { annotations: { [configAnnotations.source]: 'file' } }), aPod('a')];
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

function aPod(uid: string, metadata: Pod['metadata'] = {}): Pod {
  return { metadata: { name: uid, namespace: 'default', uid, ...metadata }, spec: { nodeName: 'n' } };
}
