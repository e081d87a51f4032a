import type { Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import { SparseMap } from '../queues/sparse-map.ts';
import type { PodCache } from '../pleg/pod-cache.ts';
import { hasEnded, isStaticPod, podFullName } from '../pod-config/classify-pod.ts';
import { RuntimeFailure, type RuntimePodStatus } from '../runtime/pod-runtime.ts';
import { failedSync } from '../pod-config/events.ts';
import { type PodSteps, type PodWork, StepFailure, type SyncStepOutcome, type WorkerState } from './pod-work.ts';
import { StaticStarts } from './static-starts.ts';
import { decideGraceSeconds, orphanOf, podOf, Worker } from './worker.ts';
import { decideRetryDelay, decideStartDelay, type PodWorkQueue } from './work-queue.ts';

interface PodWorkersOptions {
  readonly steps: PodSteps;
  readonly cache: Pick<PodCache, 'get' | 'newerThan'>;
  readonly queue: PodWorkQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly recorder: EventRecorder;
  /** Resync period of a pod. */
  readonly syncFrequencyMs: number;
  /** Called after a pod was synced: its state in the runtime should be read again. */
  readonly onSynced?: (uid: string) => void;
  /** Called when a worker has finished, so that housekeeping can clean up. */
  readonly onFinished: () => void;
}

/** When and why a pod is to be synced again. */
interface NextSync extends Omit<SyncStepOutcome, 'terminal'> {
  readonly failure?: string;
}

/** A worker's state for housekeeping. */
export interface KnownWorker {
  readonly state: WorkerState;
  /** No source has its pod any more. */
  readonly orphaned: boolean;
  /** Undefined for a worker that only kills a pod of the runtime. */
  readonly pod: Pod | undefined;
}

/**
 * One worker per pod, by uid: it syncs, terminates and finishes the pod, and never moves back. Work that arrives while
 * a worker is busy is done after that, and only the last item; an idle worker is only a record (kubelet `podWorkers`).
 */
export class PodWorkers {
  readonly #options: PodWorkersOptions;
  readonly #workers = new SparseMap<string, Worker>();
  readonly #statics = new StaticStarts();
  #running: Set<Promise<void>> | undefined;
  /** Aborts when the run ends; created with the first work. */
  #runAbort: AbortController | undefined;
  #hasEnded = false;
  #failure: { readonly cause: unknown } | undefined;
  /** Ends the run. */
  #stop: (() => void) | undefined;
  /** Housekeeping has completed once: a pod without a worker has nothing running. */
  #settled = false;

  constructor(options: PodWorkersOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts and no step runs any more. Rejects when a step failed with an unexpected error. */
  run(signal: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      this.#stop = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted || this.#failure !== undefined) resolve();
    });
    return stopped.then(() => this.#end());
  }

  /** Adds work for a pod. Once termination was requested, all work is a kill (kubelet `UpdatePod`). */
  update(work: PodWork): void {
    const known = this.#workers.get(uidOf(work));
    if (work.kind === 'create' && known?.isTerminationRequested === true) known.restartRequested = true;
    else this.#addWork(known ?? this.#createWorker(work), work);
  }

  isKnown(uid: string): boolean {
    return this.#workers.has(uid);
  }

  isTerminationRequested(uid: string): boolean {
    return this.#workers.get(uid)?.isTerminationRequested === true;
  }

  /** Nothing of it runs or will run; its final status may not be written yet (kubelet `IsPodKnownTerminated`). */
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

  /**
   * True if something of this pod may run; true for all pods before the first housekeeping (kubelet
   * `CouldHaveRunningContainers`).
   */
  mayRun(uid: string): boolean {
    const worker = this.#workers.get(uid);
    return worker === undefined ? !this.#settled : !worker.isTerminated;
  }

  /** True if the exited containers of this pod may be removed (kubelet `ShouldPodContentBeRemoved`). */
  mayRemoveContent(uid: string): boolean {
    const worker = this.#workers.get(uid);
    if (worker === undefined) return this.#settled;
    return worker.evicted || (worker.deleted && worker.isTerminated);
  }

  /** Uids of all pods with a worker, including terminating ones. */
  uids(): Iterable<string> {
    return this.#workers.keys();
  }

  /**
   * Removes the finished workers of pods that are no longer wanted or are to be restarted. Returns the others (kubelet
   * `SyncKnownPods`).
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
    this.#hasEnded = true;
    this.#runAbort?.abort();
    if (this.#running !== undefined) await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure.cause;
  }

  #addWork(worker: Worker, work: PodWork): void {
    const began = worker.beginTermination(work);
    const shortened = worker.takeKill(work);
    // A finished or terminated pod takes no more work; what the runtime had of it is already being killed.
    if (worker.state === 'finished' || (worker.isTerminated && podOf(work) === undefined)) return;
    worker.pending = worker.withKnownPod(work);
    if (began || shortened) worker.step?.abort();
    this.#wake(worker);
  }

  #createWorker(work: PodWork): Worker {
    const pod = podOf(work);
    const uid = uidOf(work);
    const worker = new Worker(uid, pod === undefined ? '' : podFullName(pod), orphanOf(work));
    this.#workers.set(uid, worker);
    if (pod === undefined) return worker;
    if (isStaticPod(pod)) this.#statics.queue(worker.fullName, uid);
    if (hasEnded(pod) && this.#nothingRuns(uid)) worker.state = 'terminated';
    return worker;
  }

  /** A pod that ended before this kubelet run is not terminated again. */
  #nothingRuns(uid: string): boolean {
    try {
      return !this.#options.cache.get(uid).containers.some(({ state }) => state === 'running');
    } catch (error) {
      if (error instanceof RuntimeFailure) return false;
      throw error;
    }
  }

  #wake(worker: Worker): void {
    if (worker.working || this.#hasEnded) return;
    worker.working = true;
    const running = this.#process(worker)
      .catch((error: unknown) => {
        this.#failure ??= { cause: error };
        this.#stop?.();
      })
      .finally(() => this.#running?.delete(running));
    this.#running ??= new Set();
    this.#running.add(running);
  }

  /** Runs while there is work. */
  async #process(worker: Worker): Promise<void> {
    // Work that is added synchronously for the same pod is merged into this step.
    await Promise.resolve();
    try {
      for (;;) {
        const work = this.#nextWork(worker);
        if (work === undefined) return;
        await this.#step(worker, work);
        if (this.#hasEnded) return;
      }
    } finally {
      worker.working = false;
    }
  }

  /** The next work; undefined if there is none, or if the pod may not start yet. */
  #nextWork(worker: Worker): PodWork | undefined {
    const work = worker.pending;
    const pod = work === undefined ? undefined : podOf(work);
    if (work === undefined || worker.state === 'finished') return undefined;
    if (!worker.started && pod !== undefined && isStaticPod(pod) && !this.#mayStart(worker)) return undefined;
    worker.pending = undefined;
    worker.started = true;
    worker.pod = podOf(work) ?? worker.pod;
    return work;
  }

  #mayStart(worker: Worker): boolean {
    const { queue, random } = this.#options;
    const mayHaveRun = worker.started || worker.orphan !== undefined;
    if (worker.isTerminationRequested && !worker.isTerminated && !mayHaveRun) {
      this.#finish(worker);
      return false;
    }
    const isOver = (uid: string): boolean => this.#workers.get(uid)?.isTerminationRequested ?? true;
    if (worker.isTerminated || this.#statics.mayStart(worker.fullName, worker.uid, isOver)) return true;
    queue.enqueue(worker.uid, decideStartDelay(random.next()));
    return false;
  }

  async #step(worker: Worker, work: PodWork): Promise<void> {
    const step = new AbortController();
    const stop = (): void => {
      step.abort();
    };
    worker.step = step;
    const runAbort = (this.#runAbort ??= new AbortController());
    runAbort.signal.addEventListener('abort', stop);
    try {
      this.#requeue(worker, await this.#runStep(worker, work, step.signal));
      if (worker.state === 'syncing') this.#options.onSynced?.(worker.uid);
    } catch (error) {
      if (!(error instanceof StepFailure || error instanceof RuntimeFailure)) throw error;
      // An aborted step is followed by the work that aborted it.
      if (!step.signal.aborted || worker.pending === undefined) this.#requeue(worker, { failure: error.message });
    } finally {
      runAbort.signal.removeEventListener('abort', stop);
      worker.step = undefined;
    }
  }

  async #runStep(worker: Worker, work: PodWork, signal: AbortSignal): Promise<NextSync> {
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

  /** The runtime status after the last step: acting on an older one could start a container twice. */
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
  ): Promise<NextSync> {
    const mirror = 'mirror' in work ? work.mirror : undefined;
    const { terminal, ...due } = await this.#options.steps.sync({ kind: work.kind, pod, mirror, status }, signal);
    if (!terminal) return due;
    // Termination may have been requested during the step: then it stays requested.
    if (worker.state === 'syncing') worker.state = 'terminating';
    worker.pending ??= work;
    return {};
  }

  async #terminate(
    worker: Worker,
    { pod, status }: { readonly pod: Pod; readonly status: RuntimePodStatus },
    signal: AbortSignal,
  ): Promise<NextSync> {
    const graceSeconds = decideGraceSeconds(pod, worker.graceSeconds, undefined);
    const step = { pod, status, graceMs: graceSeconds * 1_000, ends: [...worker.ends] };
    await this.#options.steps.terminating(step, signal);
    worker.end();
    worker.pending ??= { kind: 'kill', pod };
    return {};
  }

  async #endOrphan(worker: Worker, work: PodWork, signal: AbortSignal): Promise<NextSync> {
    const target = orphanOf(work) ?? worker.orphan;
    if (target === undefined) return {};
    await this.#options.steps.orphan(target, Math.max(1, worker.graceSeconds) * 1_000, signal);
    worker.end();
    this.#finish(worker);
    return {};
  }

  #requeue(worker: Worker, { failure, backoffEndsAtMs, deadlineAtMs }: NextSync): void {
    const { queue, clock, random, syncFrequencyMs } = this.#options;
    if (worker.state === 'finished') return;
    const nowMs = clock.monotonicMs();
    const delayMs = decideRetryDelay({
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
