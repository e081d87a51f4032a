import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { PodCache } from '../../../../../src/hollow-cluster/kubelet/pleg/pod-cache.ts';
import { configAnnotations } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import {
  type PodEnd,
  type PodSteps,
  StepFailure,
  type SyncStepOutcome,
  type TerminatingStep,
  type WorkKind,
} from '../../../../../src/hollow-cluster/kubelet/pod-workers/pod-work.ts';
import { terminatePod } from '../../../../../src/hollow-cluster/kubelet/pod-workers/terminate-pod.ts';
import { PodWorkers } from '../../../../../src/hollow-cluster/kubelet/pod-workers/pod-workers.ts';
import { PodWorkQueue } from '../../../../../src/hollow-cluster/kubelet/pod-workers/work-queue.ts';
import { RuntimeFailure } from '../../../../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';
import { aPod as aPodOf } from '../../../../support/builders.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { RecordingRecorder } from '../../../../support/fakes.ts';

const secondMs = 1_000;

/** Steps that record their calls, and take as long as a test sets. */
class ScriptedSteps implements PodSteps {
  readonly calls: string[] = [];
  readonly graces: number[] = [];
  ends: readonly PodEnd[] = [];
  outcome: SyncStepOutcome = { terminal: false };
  failure: string | undefined;
  syncMs = 0;
  killMs = 0;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async sync({ pod }: { readonly pod: Pod }, signal: AbortSignal): Promise<SyncStepOutcome> {
    this.#note('sync', pod.metadata.uid);
    await this.#clock.sleep(this.syncMs, signal);
    if (this.failure !== undefined) throw new StepFailure(this.failure);
    return this.outcome;
  }

  async terminating({ pod, graceMs, ends }: TerminatingStep, signal: AbortSignal): Promise<void> {
    this.#note(`terminating${ends.map(({ reason }) => `:${reason}`).join('')}`, pod.metadata.uid);
    this.graces.push(graceMs);
    this.ends = ends;
    await this.#clock.sleep(this.killMs, signal);
    if (signal.aborted) throw new StepFailure('context canceled');
    if (this.failure !== undefined) throw new StepFailure(this.failure);
  }

  async terminated({ pod }: { readonly pod: Pod }): Promise<void> {
    this.#note('terminated', pod.metadata.uid);
  }

  async orphan({ uid }: { readonly uid: string }, graceMs: number): Promise<void> {
    this.#note('orphan', uid);
    this.graces.push(graceMs);
  }

  #note(step: string, uid = ''): void {
    this.calls.push(`${step} ${uid}`);
  }
}

describe('the pod workers', () => {
  let clock: ManualClock;
  let cache: PodCache;
  let steps: ScriptedSteps;
  let queue: PodWorkQueue;
  let recorder: RecordingRecorder;
  let workers: PodWorkers;
  let chance: number;
  let life: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    clock = new ManualClock();
    cache = new PodCache();
    steps = new ScriptedSteps(clock);
    recorder = new RecordingRecorder();
    queue = new PodWorkQueue(clock, () => {});
    chance = 0;
    workers = new PodWorkers({
      steps,
      cache,
      queue,
      clock,
      random: { next: () => chance },
      recorder,
      syncFrequencyMs: 60 * secondMs,
      onFinished: () => {},
    });
    life = new AbortController();
    running = workers.run(life.signal);
  });

  afterEach(async () => {
    life.abort();
    await running;
    assert.equal(clock.sleeping, 0);
  });

  /** The cache is updated at once, as with continuous relists. */
  async function relist(): Promise<void> {
    cache.advance(clock.monotonicMs() + 0.001);
    await clock.advance(0);
  }

  async function work(kind: WorkKind, pod: Pod): Promise<void> {
    workers.update({ kind, pod });
    await relist();
  }

  /** Advances with a relist every second. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += secondMs) {
      await clock.advance(Math.min(secondMs, ms - passed));
      await relist();
    }
  }

  /** Time until the pod's next sync, in seconds. */
  function dueInSeconds(): number {
    assert.deepEqual(queue.takeDue(), []);
    return ((queue.nextDueAtMs ?? Number.NaN) - clock.monotonicMs()) / secondMs;
  }

  it('sync a pod again between 60 and 90 s after a success [D8]', async () => {
    for (const [drawn, expected] of [
      [0, 60],
      [0.999, 89.97],
    ] as const) {
      chance = drawn;
      await work('sync', aPod('a'));
      assert.ok(Math.abs(dueInSeconds() - expected) < 0.01, `${dueInSeconds()}`);
    }
    assert.deepEqual(queue.takeDue(), []);
    await clock.advance(90 * secondMs);
    assert.deepEqual(queue.takeDue(), ['a']);
  });

  it('retry 10 to 15 s after a failure, and after about a second if only the network is missing [D9]', async () => {
    steps.failure = 'no';
    for (const [drawn, expected] of [
      [0, 10],
      [0.999, 14.995],
    ] as const) {
      chance = drawn;
      await work('sync', aPod('a'));
      assert.ok(Math.abs(dueInSeconds() - expected) < 0.01, `${dueInSeconds()}`);
    }
    steps.failure = 'network is not ready: it is not';
    chance = 0.5;
    await work('sync', aPod('a'));
    assert.equal(dueInSeconds(), 1.25);
  });

  it('sync when a back-off ends, or exactly at the active deadline', async () => {
    chance = 0.5;
    steps.outcome = { terminal: false, backoffEndsAtMs: clock.monotonicMs() + 20 * secondMs };
    await work('create', aPod('a'));
    assert.ok(Math.abs(dueInSeconds() - 25) < 0.01);
    steps.outcome = { terminal: false, deadlineAtMs: clock.monotonicMs() + 20 * secondMs };
    await work('sync', aPod('a'));
    assert.ok(Math.abs(dueInSeconds() - 20) < 0.01);
  });

  it('keep only the last work item that arrives while they are busy', async () => {
    steps.syncMs = 5 * secondMs;
    await work('create', aPod('a'));
    for (let time = 0; time < 9; time += 1) workers.update({ kind: 'update', pod: aPod('a') });
    await pass(20 * secondMs);
    assert.deepEqual(steps.calls, ['sync a', 'sync a']);
  });

  it('wait for a runtime status that is newer than their last step', async () => {
    workers.update({ kind: 'create', pod: aPod('a') });
    await clock.advance(60 * secondMs);
    assert.deepEqual(steps.calls, [], 'not even the first');
    await relist();
    assert.deepEqual(steps.calls, ['sync a']);
    workers.update({ kind: 'sync', pod: aPod('a') });
    cache.advance(clock.monotonicMs() - secondMs);
    await clock.advance(0);
    assert.deepEqual(steps.calls, ['sync a']);
    await clock.advance(1);
    await relist();
    assert.deepEqual(steps.calls, ['sync a', 'sync a']);
  });

  it('record an event if the status of a pod cannot be read', async () => {
    cache.set('a', new RuntimeFailure('it is on fire'), clock.monotonicMs() + 1);
    workers.update({ kind: 'create', pod: aPod('a') });
    await clock.advance(0);
    const [event] = recorder.drafts;
    assert.deepEqual([event?.reason, event?.message], ['FailedSync', 'error determining status: it is on fire']);
    assert.deepEqual(steps.calls, []);
    assert.equal(dueInSeconds(), 10);
  });

  it('move from syncing to terminating to terminated to finished, and not back', async () => {
    await work('create', aPod('a'));
    assert.equal(workers.mayRun('a'), true);
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 30) });
    assert.deepEqual([workers.isTerminationRequested('a'), workers.isTerminated('a')], [true, false]);
    workers.update({ kind: 'update', pod: aPod('a') });
    await pass(5 * secondMs);
    assert.deepEqual(steps.calls, ['sync a', 'terminating a', 'terminated a']);
    assert.equal(workers.isFinished('a'), true);
    assert.equal(workers.mayRun('a'), false);
    workers.update({ kind: 'sync', pod: aPod('a') });
    await pass(5 * secondMs);
    assert.equal(steps.calls.length, 3);
  });

  it('terminate a pod whose containers have all ended', async () => {
    steps.outcome = { terminal: true };
    workers.update({ kind: 'create', pod: aPod('a') });
    await pass(5 * secondMs);
    assert.deepEqual(steps.calls, ['sync a', 'terminating a', 'terminated a']);
  });

  it('only write the final status of a pod that had ended before', async () => {
    workers.update({ kind: 'create', pod: { ...aPod('a'), status: { phase: 'Failed' } } });
    assert.equal(workers.mayRun('a'), false);
    await pass(2 * secondMs);
    assert.deepEqual(steps.calls, ['terminated a']);
  });

  it('shorten the grace period at a second deletion, and abort the running step [G7]', async () => {
    steps.killMs = 60 * secondMs;
    await work('create', aPod('a'));
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 30) });
    await pass(10 * secondMs);
    steps.killMs = 0;
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 5) });
    await pass(2 * secondMs);
    assert.deepEqual(steps.graces, [30 * secondMs, 5 * secondMs]);
    assert.equal(workers.isTerminated('a'), true);
  });

  it('never lengthen the grace period, with a minimum of one second', async () => {
    steps.failure = 'no';
    workers.update({ kind: 'kill', pod: aPod('a'), kill: { graceMs: 7 * secondMs } });
    await relist();
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 30) });
    await pass(secondMs);
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 0.5) });
    await pass(secondMs);
    assert.deepEqual(steps.graces, [7 * secondMs, 7 * secondMs, secondMs]);
  });

  it('terminate a removed pod with its own grace period [G8]', async () => {
    await work('create', aPod('a'));
    workers.update({ kind: 'kill', pod: aPod('a') });
    await pass(2 * secondMs);
    assert.deepEqual(steps.graces, [30 * secondMs]);
  });

  it('retry when a container still runs after the kill [G14]', async () => {
    steps.failure = 'detected running containers after a successful KillPod, CRI violation: [c]';
    chance = 0.999;
    await work('kill', aPod('a'));
    assert.ok(dueInSeconds() >= 10 && dueInSeconds() < 15);
    assert.equal(workers.isTerminated('a'), false);
    steps.failure = undefined;
    workers.update({ kind: 'sync', pod: aPod('a') });
    await pass(3 * secondMs);
    assert.equal(workers.isFinished('a'), true);
  });

  it('kill pods that no source has with a grace period of one second', async () => {
    const orphan = { uid: 'x', namespace: 'default', name: 'x', pod: undefined };
    workers.update({ kind: 'kill', orphan, kill: { graceMs: secondMs } });
    await clock.advance(0);
    assert.deepEqual([steps.calls, steps.graces], [['orphan x'], [secondMs]]);
    assert.equal(workers.syncKnown(new Set()).size, 0);
  });

  it('start a static pod only after the one with the same full name has terminated', async () => {
    const [first, second] = [staticPod('one'), staticPod('two')];
    steps.killMs = 20 * secondMs;
    await work('create', first);
    workers.update({ kind: 'kill', pod: first });
    await work('create', second);
    assert.deepEqual(steps.calls, ['sync one', 'terminating one']);
    await pass(15 * secondMs);
    assert.deepEqual(queue.takeDue(), ['two']);
    await work('sync', second);
    assert.equal(steps.calls.length, 2, 'not yet');
    await pass(10 * secondMs);
    await work('sync', second);
    assert.deepEqual(steps.calls.slice(2), ['terminated one', 'sync two']);
  });

  it('never start a static pod that was removed while it waited', async () => {
    const [first, second] = [staticPod('one'), staticPod('two')];
    await work('create', first);
    await work('create', second);
    await work('kill', second);
    assert.equal(workers.isFinished('two'), true);
    assert.deepEqual(steps.calls, ['sync one']);
  });

  it('restart a pod whose uid was reused, once the old one is forgotten', async () => {
    await work('create', aPod('a'));
    workers.update({ kind: 'kill', pod: aPod('a') });
    workers.update({ kind: 'create', pod: aPod('a') });
    await pass(3 * secondMs);
    assert.equal(workers.isFinished('a'), true);
    assert.equal(workers.syncKnown(new Set(['a'])).has('a'), false);
    await work('create', aPod('a'));
    assert.equal(steps.calls.at(-1), 'sync a');
  });

  it('forget finished workers whose pods are not wanted, and no others', async () => {
    for (const uid of ['a', 'b', 'c']) workers.update({ kind: 'create', pod: aPod(uid) });
    await relist();
    for (const uid of ['a', 'b']) workers.update({ kind: 'kill', pod: aPod(uid) });
    await pass(3 * secondMs);
    const known = workers.syncKnown(new Set(['b']));
    assert.deepEqual([...known.keys()], ['b', 'c']);
    assert.equal(known.get('c')?.orphaned, true);
    assert.equal(workers.mayRun('a'), false);
  });

  it('set the final status of a pod that the kubelet terminates, and notify when nothing of it runs any more', async () => {
    const termination = { reason: 'Evicted', message: 'm', graceMs: 20 * secondMs, evicted: true };
    steps.killMs = 15 * secondMs;
    await work('create', aPod('a'));
    let ended = false;
    const ending = terminatePod({ workers, clock, recorder }, aPod('a'), termination, life.signal).then(() => {
      ended = true;
    });
    await pass(14 * secondMs);
    assert.equal(ended, false);
    await pass(2 * secondMs);
    await ending;
    assert.equal(steps.calls[1], 'terminating:Evicted a');
    const condition = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message: 'm' };
    assert.deepEqual(steps.ends, [{ phase: 'Failed', reason: 'Evicted', message: 'm', condition }]);
    assert.equal(workers.mayRemoveContent('a'), true);
  });

  it('do not wait without limit for a pod to terminate', async () => {
    const termination = { reason: 'Evicted', message: 'm', graceMs: 20 * secondMs, evicted: true };
    steps.killMs = 1_000 * secondMs;
    const ending = assert.rejects(terminatePod({ workers, clock, recorder }, aPod('a'), termination, life.signal));
    await pass(29 * secondMs);
    assert.equal(recorder.drafts.length, 0);
    await pass(2 * secondMs);
    await ending;
    assert.equal(recorder.drafts[0]?.reason, 'ExceededGracePeriod');
  });

  it('stop their steps at the end, and fail when one fails with an unexpected error', async () => {
    steps.killMs = 1_000 * secondMs;
    await work('kill', aPod('a'));
    life.abort();
    await running;
    steps.sync = () => Promise.reject(new TypeError('a bug'));
    const broken = new PodWorkers({
      steps,
      cache,
      queue,
      clock,
      random: { next: () => 0 },
      recorder,
      syncFrequencyMs: secondMs,
      onFinished: () => {},
    });
    const failing = assert.rejects(broken.run(new AbortController().signal), /a bug/);
    broken.update({ kind: 'create', pod: aPod('b') });
    await clock.advance(0);
    await failing;
  });
});

const aPod = (uid: string): Pod => aPodOf(uid, { spec: { terminationGracePeriodSeconds: 30 } });

function deleted(pod: Pod, graceSeconds: number): Pod {
  const deletion = { deletionTimestamp: '2026-01-02T03:04:05Z', deletionGracePeriodSeconds: graceSeconds };
  return { ...pod, metadata: { ...pod.metadata, ...deletion } };
}

function staticPod(uid: string): Pod {
  const annotations = { [configAnnotations.source]: 'file' };
  return { ...aPod(uid), metadata: { name: 'web', namespace: 'default', uid, annotations } };
}
