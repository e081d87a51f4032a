import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import { PodCache } from '../../../../src/kubelet/pleg/pod-cache.ts';
import { configAnnotations } from '../../../../src/kubelet/pod-config/classify-pod.ts';
import {
  type PodSteps,
  StepFailure,
  type SyncStepOutcome,
  type TerminatingStep,
} from '../../../../src/kubelet/pod-workers/pod-work.ts';
import { PodEnder } from '../../../../src/kubelet/pod-workers/pod-ender.ts';
import { PodWorkers } from '../../../../src/kubelet/pod-workers/pod-workers.ts';
import { PodWorkQueue } from '../../../../src/kubelet/pod-workers/work-queue.ts';
import { RuntimeFailure } from '../../../../src/kubelet/runtime/pod-runtime.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { KeepingRecorder } from '../../../support/quiet.ts';

const secondMs = 1_000;

/** Steps that keep what they were asked for, and take as long as a test wants. */
class ScriptedSteps implements PodSteps {
  readonly calls: string[] = [];
  readonly graces: number[] = [];
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
  let recorder: KeepingRecorder;
  let workers: PodWorkers;
  let chance: number;
  let life: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    clock = new ManualClock();
    cache = new PodCache();
    steps = new ScriptedSteps(clock);
    recorder = new KeepingRecorder();
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

  /** The cache hears of everything at once, as if there were a relist all the time. */
  async function relist(): Promise<void> {
    cache.advance(clock.monotonicMs() + 0.001);
    await clock.advance(0);
  }

  /** Time in which the runtime is looked at every second. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += secondMs) {
      await clock.advance(Math.min(secondMs, ms - passed));
      await relist();
    }
  }

  /** How long until the pod's next appointment, in seconds. */
  function dueInSeconds(): number {
    assert.deepEqual(queue.takeDue(), []);
    return ((queue.nextDueAtMs ?? Number.NaN) - clock.monotonicMs()) / secondMs;
  }

  it('looks at a pod again between 60 and 90 s after it went well [D8]', async () => {
    for (const [drawn, expected] of [
      [0, 60],
      [0.999, 89.97],
    ] as const) {
      chance = drawn;
      workers.update({ kind: 'sync', pod: aPod('a') });
      await relist();
      assert.ok(Math.abs(dueInSeconds() - expected) < 0.01, `${dueInSeconds()}`);
    }
    assert.deepEqual(queue.takeDue(), []);
    await clock.advance(90 * secondMs);
    assert.deepEqual(queue.takeDue(), ['a']);
  });

  it('tries again 10 to 15 s after it failed, and after a second where only the network is missing [D9]', async () => {
    steps.failure = 'no';
    for (const [drawn, expected] of [
      [0, 10],
      [0.999, 14.995],
    ] as const) {
      chance = drawn;
      workers.update({ kind: 'sync', pod: aPod('a') });
      await relist();
      assert.ok(Math.abs(dueInSeconds() - expected) < 0.01, `${dueInSeconds()}`);
    }
    steps.failure = 'network is not ready: it is not';
    chance = 0.5;
    workers.update({ kind: 'sync', pod: aPod('a') });
    await relist();
    assert.equal(dueInSeconds(), 1.25);
  });

  it('comes back when a back-off ends, or on the dot of the deadline', async () => {
    chance = 0.5;
    steps.outcome = { terminal: false, backoffEndsAtMs: clock.monotonicMs() + 20 * secondMs };
    workers.update({ kind: 'create', pod: aPod('a') });
    await relist();
    assert.ok(Math.abs(dueInSeconds() - 25) < 0.01);
    steps.outcome = { terminal: false, deadlineAtMs: clock.monotonicMs() + 20 * secondMs };
    workers.update({ kind: 'sync', pod: aPod('a') });
    await relist();
    assert.ok(Math.abs(dueInSeconds() - 20) < 0.01);
  });

  it('takes only the last of what comes while it works', async () => {
    steps.syncMs = 5 * secondMs;
    workers.update({ kind: 'create', pod: aPod('a') });
    await relist();
    for (let time = 0; time < 9; time += 1) workers.update({ kind: 'update', pod: aPod('a') });
    await pass(20 * secondMs);
    assert.deepEqual(steps.calls, ['sync a', 'sync a']);
  });

  it('does nothing before the runtime has been looked at since its last step', async () => {
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

  it('tells of a runtime that does not say how a pod is', async () => {
    cache.set('a', new RuntimeFailure('it is on fire'), clock.monotonicMs() + 1);
    workers.update({ kind: 'create', pod: aPod('a') });
    await clock.advance(0);
    const [event] = recorder.drafts;
    assert.deepEqual([event?.reason, event?.message], ['FailedSync', 'error determining status: it is on fire']);
    assert.deepEqual(steps.calls, []);
    assert.equal(dueInSeconds(), 10);
  });

  it('goes from syncing to terminating to terminated to finished, and not back', async () => {
    workers.update({ kind: 'create', pod: aPod('a') });
    await relist();
    assert.equal(workers.mayRun('a'), true);
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 30) });
    assert.equal(workers.isTerminating('a'), true);
    workers.update({ kind: 'update', pod: aPod('a') });
    await pass(5 * secondMs);
    assert.deepEqual(steps.calls, ['sync a', 'terminating a', 'terminated a']);
    assert.equal(workers.isFinished('a'), true);
    assert.equal(workers.mayRun('a'), false);
    workers.update({ kind: 'sync', pod: aPod('a') });
    await pass(5 * secondMs);
    assert.equal(steps.calls.length, 3);
  });

  it('ends a pod that has come to its end by itself', async () => {
    steps.outcome = { terminal: true };
    workers.update({ kind: 'create', pod: aPod('a') });
    await pass(5 * secondMs);
    assert.deepEqual(steps.calls, ['sync a', 'terminating a', 'terminated a']);
  });

  it('only buries a pod that had ended before, and runs nothing of it', async () => {
    workers.update({ kind: 'create', pod: { ...aPod('a'), status: { phase: 'Failed' } } });
    assert.equal(workers.mayRun('a'), false);
    await pass(2 * secondMs);
    assert.deepEqual(steps.calls, ['terminated a']);
  });

  it('lets a second deletion shorten the grace, and calls off the step that runs [G7]', async () => {
    steps.killMs = 60 * secondMs;
    workers.update({ kind: 'create', pod: aPod('a') });
    await relist();
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 30) });
    await pass(10 * secondMs);
    steps.killMs = 0;
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 5) });
    await pass(2 * secondMs);
    assert.deepEqual(steps.graces, [30 * secondMs, 5 * secondMs]);
    assert.equal(workers.isTerminated('a'), true);
  });

  it('never lengthens the grace, and gives at least a second', async () => {
    steps.failure = 'no';
    workers.update({ kind: 'kill', pod: aPod('a'), kill: { graceMs: 7 * secondMs } });
    await relist();
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 30) });
    await pass(secondMs);
    workers.update({ kind: 'update', pod: deleted(aPod('a'), 0.5) });
    await pass(secondMs);
    assert.deepEqual(steps.graces, [7 * secondMs, 7 * secondMs, secondMs]);
  });

  it('gives a pod that is gone its own grace [G8]', async () => {
    workers.update({ kind: 'create', pod: aPod('a') });
    await relist();
    workers.update({ kind: 'kill', pod: aPod('a') });
    await pass(2 * secondMs);
    assert.deepEqual(steps.graces, [30 * secondMs]);
  });

  it('tries again where something still runs though it was killed [G14]', async () => {
    steps.failure = 'detected running containers after a successful KillPod, CRI violation: [c]';
    chance = 0.999;
    workers.update({ kind: 'kill', pod: aPod('a') });
    await relist();
    assert.ok(dueInSeconds() >= 10 && dueInSeconds() < 15);
    assert.equal(workers.isTerminated('a'), false);
    steps.failure = undefined;
    workers.update({ kind: 'sync', pod: aPod('a') });
    await pass(3 * secondMs);
    assert.equal(workers.isFinished('a'), true);
  });

  it('ends with a second of grace what belongs to nobody', async () => {
    const orphan = { uid: 'x', namespace: 'default', name: 'x', pod: undefined };
    workers.update({ kind: 'kill', orphan, kill: { graceMs: secondMs } });
    await clock.advance(0);
    assert.deepEqual([steps.calls, steps.graces], [['orphan x'], [secondMs]]);
    assert.equal(workers.syncKnown(new Set()).size, 0);
  });

  it('starts a static pod only when the one of its name has ended', async () => {
    const [first, second] = [staticPod('one'), staticPod('two')];
    steps.killMs = 20 * secondMs;
    workers.update({ kind: 'create', pod: first });
    await relist();
    workers.update({ kind: 'kill', pod: first });
    workers.update({ kind: 'create', pod: second });
    await relist();
    assert.deepEqual(steps.calls, ['sync one', 'terminating one']);
    await pass(15 * secondMs);
    assert.deepEqual(queue.takeDue(), ['two']);
    workers.update({ kind: 'sync', pod: second });
    await relist();
    assert.equal(steps.calls.length, 2, 'not yet');
    await pass(10 * secondMs);
    workers.update({ kind: 'sync', pod: second });
    await relist();
    assert.deepEqual(steps.calls.slice(2), ['terminated one', 'sync two']);
  });

  it('never starts a static pod that was removed while it waited', async () => {
    const [first, second] = [staticPod('one'), staticPod('two')];
    workers.update({ kind: 'create', pod: first });
    await relist();
    workers.update({ kind: 'create', pod: second });
    await relist();
    workers.update({ kind: 'kill', pod: second });
    await relist();
    assert.equal(workers.isFinished('two'), true);
    assert.deepEqual(steps.calls, ['sync one']);
  });

  it('starts a pod anew whose uid came back, once the old one is forgotten', async () => {
    workers.update({ kind: 'create', pod: aPod('a') });
    await relist();
    workers.update({ kind: 'kill', pod: aPod('a') });
    workers.update({ kind: 'create', pod: aPod('a') });
    await pass(3 * secondMs);
    assert.equal(workers.isFinished('a'), true);
    assert.equal(workers.syncKnown(new Set(['a'])).has('a'), false);
    workers.update({ kind: 'create', pod: aPod('a') });
    await relist();
    assert.equal(steps.calls.at(-1), 'sync a');
  });

  it('forgets what has finished and is not wanted, and nothing else', async () => {
    for (const uid of ['a', 'b', 'c']) workers.update({ kind: 'create', pod: aPod(uid) });
    await relist();
    for (const uid of ['a', 'b']) workers.update({ kind: 'kill', pod: aPod(uid) });
    await pass(3 * secondMs);
    const known = workers.syncKnown(new Set(['b']));
    assert.deepEqual([...known.keys()], ['b', 'c']);
    assert.equal(known.get('c')?.orphaned, true);
    assert.equal(workers.mayRun('a'), false);
  });

  it('says how a pod ended that the kubelet itself ended, and when nothing of it runs any more', async () => {
    const condition = { type: 'DisruptionTarget', status: 'True' };
    const verdict = { reason: 'Evicted', message: 'm', condition, graceMs: 20 * secondMs, evicted: true };
    const ender = new PodEnder({ workers, clock, recorder });
    steps.killMs = 15 * secondMs;
    workers.update({ kind: 'create', pod: aPod('a') });
    await relist();
    let ended = false;
    const ending = ender.end(aPod('a'), verdict, life.signal).then(() => {
      ended = true;
    });
    await pass(14 * secondMs);
    assert.equal(ended, false);
    await pass(2 * secondMs);
    await ending;
    assert.equal(steps.calls[1], 'terminating:Evicted a');
    assert.equal(workers.mayRemoveContent('a'), true);
  });

  it('does not wait for a pod for ever', async () => {
    const condition = { type: 'DisruptionTarget', status: 'True' };
    const verdict = { reason: 'Evicted', message: 'm', condition, graceMs: 20 * secondMs, evicted: true };
    steps.killMs = 1_000 * secondMs;
    const ending = assert.rejects(new PodEnder({ workers, clock, recorder }).end(aPod('a'), verdict, life.signal));
    await pass(29 * secondMs);
    assert.equal(recorder.drafts.length, 0);
    await pass(2 * secondMs);
    await ending;
    assert.equal(recorder.drafts[0]?.reason, 'ExceededGracePeriod');
  });

  it('ends its steps when it is stopped, and fails when one fails in a way nobody foresaw', async () => {
    steps.killMs = 1_000 * secondMs;
    workers.update({ kind: 'kill', pod: aPod('a') });
    await relist();
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

function aPod(uid: string): Pod {
  return {
    metadata: { name: uid, namespace: 'default', uid },
    spec: { nodeName: 'n', terminationGracePeriodSeconds: 30, containers: [{ name: 'c' }] },
  };
}

function deleted(pod: Pod, graceSeconds: number): Pod {
  const deletion = { deletionTimestamp: '2026-01-02T03:04:05Z', deletionGracePeriodSeconds: graceSeconds };
  return { ...pod, metadata: { ...pod.metadata, ...deletion } };
}

function staticPod(uid: string): Pod {
  const annotations = { [configAnnotations.source]: 'file' };
  return { ...aPod(uid), metadata: { name: 'web', namespace: 'default', uid, annotations } };
}
