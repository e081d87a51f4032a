import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Random } from '../../ports/random.ts';
import { SparseMap } from '../../queueing/sparse-map.ts';
import type { PodCache } from '../pleg/pod-cache.ts';
import { hasEnded, isStaticPod, podFullName } from '../pod-config/classify-pod.ts';
import { RuntimeFailure, type RuntimePodStatus } from '../runtime/pod-runtime.ts';
import { failedSync } from './events.ts';
import { type PodSteps, type PodWork, StepFailure, type SyncStepOutcome, type WorkerState } from './pod-work.ts';
import { deriveGraceSeconds } from './derive-grace.ts';
import { deriveRetryDelay, deriveStartDelay } from './derive-retry-delay.ts';
import { StaticStarts } from './static-starts.ts';
import { orphanOf, podOf, Worker } from './worker.ts';
import type { PodWorkQueue } from './work-queue.ts';

export interface PodWorkersOptions {
  readonly steps: PodSteps;
  readonly cache: Pick<PodCache, 'get' | 'newerThan'>;
  readonly queue: PodWorkQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly recorder: EventRecorder;
  /** How often a pod is looked at again though nothing called for it. */
  readonly syncFrequencyMs: number;
  /** Called after a pod was brought up, as far as it could be: whoever watches the runtime had better look at it. */
  readonly onSynced?: (uid: string) => void;
  /** Called when a worker has come to an end, so that there is something to clean up. */
  readonly onFinished: () => void;
}

/** Why a pod is to be looked at again. */
interface Appointment extends Omit<SyncStepOutcome, 'terminal'> {
  readonly failure?: string;
}

/** What housekeeping learns of a worker. */
export interface KnownWorker {
  readonly state: WorkerState;
  /** No source knows its pod any more. */
  readonly orphaned: boolean;
  /** Undefined when it only ends what the runtime had. */
  readonly pod: Pod | undefined;
}

/**
 * One worker a pod, by uid: starts it, keeps it, ends it, and never goes back. What comes while a worker works is done
 * after that, and only the last of it; a worker that has nothing to do is a record and nothing else (kubelet `podWorkers`).
 */
export class PodWorkers {
  readonly #options: PodWorkersOptions;
  readonly #workers = new SparseMap<string, Worker>();
  readonly #statics = new StaticStarts();
  #running: Set<Promise<void>> | undefined;
  /** Aborts when nothing is to work any more; nobody asks for it before there is work. */
  #life: AbortController | undefined;
  #isOver = false;
  #failure: { readonly cause: unknown } | undefined;
  /** Ends the run. */
  #stop: (() => void) | undefined;
  /** Housekeeping has been through: a pod without a worker has nothing running. */
  #settled = false;

  constructor(options: PodWorkersOptions) {
    this.#options = options;
  }

  /** Lives until the signal aborts and no step runs any more. Rejects when a step failed in a way that nobody foresaw. */
  run(signal: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      this.#stop = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted || this.#failure !== undefined) resolve();
    });
    return stopped.then(() => this.#end());
  }

  /** Calls a pod's worker. From the moment on at which the pod is to end, every call is a kill (kubelet `UpdatePod`). */
  update(work: PodWork): void {
    const known = this.#workers.get(uidOf(work));
    if (work.kind === 'create' && known?.isTerminationRequested === true) known.restartRequested = true;
    else this.#call(known ?? this.#hire(work), work);
  }

  isKnown(uid: string): boolean {
    return this.#workers.has(uid);
  }

  isTerminationRequested(uid: string): boolean {
    return this.#workers.get(uid)?.isTerminationRequested === true;
  }

  /** Is it on its way out, with something of it that may still run? */
  isTerminating(uid: string): boolean {
    return this.#workers.get(uid)?.state === 'terminating';
  }

  /** Nothing of it runs and nothing will; its last words may still have to be said (kubelet `IsPodKnownTerminated`). */
  isTerminated(uid: string): boolean {
    return this.#workers.get(uid)?.isTerminated === true;
  }

  isFinished(uid: string): boolean {
    return this.#workers.get(uid)?.state === 'finished';
  }

  /** A pod of this full name is being terminated (kubelet `IsPodForMirrorPodTerminatingByFullName`). */
  isTerminatingByName(fullName: string): boolean {
    return [...this.#workers.values()].some(
      (worker) => worker.fullName === fullName && worker.isTerminationRequested && !worker.isTerminated,
    );
  }

  /** May something of this pod run? Until the first housekeeping nobody knows (kubelet `CouldHaveRunningContainers`). */
  mayRun(uid: string): boolean {
    const worker = this.#workers.get(uid);
    return worker === undefined ? !this.#settled : !worker.isTerminated;
  }

  /** May the dead containers of this pod go? (kubelet `ShouldPodContentBeRemoved`) */
  mayRemoveContent(uid: string): boolean {
    const worker = this.#workers.get(uid);
    if (worker === undefined) return this.#settled;
    return worker.evicted || (worker.deleted && worker.isTerminated);
  }

  /** Uids of all pods with a worker, those that are on their way out included. */
  uids(): Iterable<string> {
    return this.#workers.keys();
  }

  /**
   * Forgets the workers that have come to their end, of pods that are wanted no longer or are to start anew. Returns the
   * others (kubelet `SyncKnownPods`).
   */
  syncKnown(wanted: { has(uid: string): boolean }): ReadonlyMap<string, KnownWorker> {
    this.#settled = true;
    const known = new Map<string, KnownWorker>();
    for (const [uid, worker] of this.#workers) {
      const orphaned = !wanted.has(uid);
      const neverStarted = orphaned && !worker.started && !worker.working;
      if ((orphaned || worker.restartRequested) && (worker.state === 'finished' || neverStarted)) this.#forget(worker);
      else known.set(uid, { state: worker.state, orphaned, pod: worker.pod });
    }
    return known;
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    this.#life?.abort();
    if (this.#running !== undefined) await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure.cause;
  }

  #call(worker: Worker, work: PodWork): void {
    const began = worker.beginTermination(work);
    const shortened = worker.takeKill(work);
    // What is over is over; what the runtime had of it is on its way out by now.
    if (worker.state === 'finished' || (worker.isTerminated && podOf(work) === undefined)) return;
    worker.pending = worker.named(work);
    if (began || shortened) worker.step?.abort();
    this.#wake(worker);
  }

  #hire(work: PodWork): Worker {
    const pod = podOf(work);
    const uid = uidOf(work);
    const worker = new Worker(uid, pod === undefined ? '' : podFullName(pod), orphanOf(work));
    this.#workers.set(uid, worker);
    if (pod === undefined) return worker;
    if (isStaticPod(pod)) this.#statics.queue(worker.fullName, uid);
    if (hasEnded(pod) && this.#nothingRuns(uid)) worker.state = 'terminated';
    return worker;
  }

  /** What has ended before this kubelet's life is not to be ended again. */
  #nothingRuns(uid: string): boolean {
    try {
      return !this.#options.cache.get(uid).containers.some(({ state }) => state === 'running');
    } catch (error) {
      if (error instanceof RuntimeFailure) return false;
      throw error;
    }
  }

  #wake(worker: Worker): void {
    if (worker.working || this.#isOver) return;
    worker.working = true;
    const running = this.#drive(worker)
      .catch((error: unknown) => {
        this.#failure ??= { cause: error };
        this.#stop?.();
      })
      .finally(() => this.#running?.delete(running));
    this.#running ??= new Set();
    this.#running.add(running);
  }

  /** Runs as long as there is something to do. */
  async #drive(worker: Worker): Promise<void> {
    // Whatever else this turn brings for the pod is part of the same work.
    await Promise.resolve();
    try {
      for (;;) {
        const work = this.#begin(worker);
        if (work === undefined) return;
        await this.#step(worker, work);
        if (this.#isOver) return;
      }
    } finally {
      worker.working = false;
    }
  }

  /** The next thing to do; undefined when there is none, or when the pod may not start yet. */
  #begin(worker: Worker): PodWork | undefined {
    const work = worker.pending;
    const pod = work === undefined ? undefined : podOf(work);
    if (work === undefined || worker.state === 'finished') return undefined;
    if (!worker.started && pod !== undefined && isStaticPod(pod) && !this.#mayStart(worker)) return undefined;
    worker.pending = undefined;
    worker.started = true;
    worker.take(work);
    return work;
  }

  #mayStart(worker: Worker): boolean {
    const { queue, random } = this.#options;
    if (worker.isTerminationRequested && !worker.isTerminated && !worker.mayHaveRun) {
      this.#finish(worker);
      return false;
    }
    const isOver = (uid: string): boolean => this.#workers.get(uid)?.isTerminationRequested ?? true;
    if (worker.isTerminated || this.#statics.mayStart(worker.fullName, worker.uid, isOver)) return true;
    queue.enqueue(worker.uid, deriveStartDelay(random.next()));
    return false;
  }

  async #step(worker: Worker, work: PodWork): Promise<void> {
    const step = new AbortController();
    const stop = (): void => {
      step.abort();
    };
    worker.step = step;
    const life = (this.#life ??= new AbortController());
    life.signal.addEventListener('abort', stop);
    try {
      this.#requeue(worker, await this.#act(worker, work, step.signal));
      if (worker.state === 'syncing') this.#options.onSynced?.(worker.uid);
    } catch (error) {
      if (!(error instanceof StepFailure || error instanceof RuntimeFailure)) throw error;
      // A step that was called off has its successor waiting.
      if (!step.signal.aborted || worker.pending === undefined) this.#requeue(worker, { failure: error.message });
    } finally {
      life.signal.removeEventListener('abort', stop);
      worker.step = undefined;
    }
  }

  async #act(worker: Worker, work: PodWork, signal: AbortSignal): Promise<Appointment> {
    const pod = podOf(work);
    if (pod === undefined) return await this.#endOrphan(worker, work, signal);
    const status = await this.#observe(worker, pod, signal);
    try {
      switch (worker.state) {
        case 'syncing':
          return await this.#sync(worker, work, { pod, status }, signal);
        case 'terminating':
          return await this.#terminate(worker, { pod, status }, signal);
        case 'terminated':
        case 'finished':
          await this.#options.steps.terminated({ pod, status }, signal);
          this.#finish(worker);
          return {};
      }
    } finally {
      worker.steppedAtMs = this.#options.clock.monotonicMs();
    }
  }

  /** The runtime as it is after the last step: acting on anything older could start a container twice. */
  async #observe(worker: Worker, pod: Pod, signal: AbortSignal): Promise<RuntimePodStatus> {
    const { cache, recorder } = this.#options;
    try {
      return await cache.newerThan(worker.uid, worker.steppedAtMs, signal);
    } catch (error) {
      if (error instanceof RuntimeFailure && !signal.aborted) recorder.record(failedSync(pod, error.message));
      throw error;
    }
  }

  async #sync(
    worker: Worker,
    work: PodWork,
    { pod, status }: { readonly pod: Pod; readonly status: RuntimePodStatus },
    signal: AbortSignal,
  ): Promise<Appointment> {
    const mirror = 'mirror' in work ? work.mirror : undefined;
    const { terminal, ...due } = await this.#options.steps.sync({ kind: work.kind, pod, mirror, status }, signal);
    if (!terminal) return due;
    // Meanwhile somebody else may have asked for its end: that stands.
    if (worker.state === 'syncing') worker.state = 'terminating';
    worker.pending ??= work;
    return {};
  }

  async #terminate(
    worker: Worker,
    { pod, status }: { readonly pod: Pod; readonly status: RuntimePodStatus },
    signal: AbortSignal,
  ): Promise<Appointment> {
    const graceSeconds = deriveGraceSeconds(pod, worker.graceSeconds, undefined);
    const step = { pod, status, graceMs: graceSeconds * 1_000, ends: [...worker.ends] };
    await this.#options.steps.terminating(step, signal);
    worker.end();
    worker.pending ??= { kind: 'kill', pod };
    return {};
  }

  async #endOrphan(worker: Worker, work: PodWork, signal: AbortSignal): Promise<Appointment> {
    const target = orphanOf(work) ?? worker.orphan;
    if (target === undefined) return {};
    await this.#options.steps.orphan(target, Math.max(1, worker.graceSeconds) * 1_000, signal);
    worker.end();
    this.#finish(worker);
    return {};
  }

  #requeue(worker: Worker, { failure, backoffEndsAtMs, deadlineAtMs }: Appointment): void {
    const { queue, clock, random, syncFrequencyMs } = this.#options;
    if (worker.state === 'finished') return;
    const nowMs = clock.monotonicMs();
    const delayMs = deriveRetryDelay({
      failure,
      ...(backoffEndsAtMs === undefined ? {} : { backoffMs: backoffEndsAtMs - nowMs }),
      ...(deadlineAtMs === undefined ? {} : { deadlineMs: deadlineAtMs - nowMs }),
      syncFrequencyMs,
      chance: random.next(),
    });
    queue.enqueue(worker.uid, delayMs);
  }

  #finish(worker: Worker): void {
    worker.end();
    worker.state = 'finished';
    worker.pending = undefined;
    this.#statics.release(worker.fullName, worker.uid);
    this.#options.queue.forget(worker.uid);
    this.#options.onFinished();
  }

  #forget(worker: Worker): void {
    this.#workers.delete(worker.uid);
    this.#statics.release(worker.fullName, worker.uid);
    this.#options.queue.forget(worker.uid);
  }
}

function uidOf(work: PodWork): string {
  return podOf(work)?.metadata.uid ?? orphanOf(work)?.uid ?? '';
}
