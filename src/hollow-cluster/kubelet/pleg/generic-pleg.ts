import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { Channel } from '../queues/channel.ts';
import { SparseMap } from '../queues/sparse-map.ts';
import { formatGoDuration } from '../../../machinery/api/go-duration.ts';
import { RestingLoop } from '../loops/resting-loop.ts';
import { type PodRuntime, RuntimeFailure, type RuntimePod, type RuntimePodStatus } from '../runtime/pod-runtime.ts';
import { type CacheFiller, type PodCache } from './pod-cache.ts';
import { diffPodRecords, type PodLifecycleEvent, type RecordEvent } from './diff-pod-records.ts';
import { RelistGrid } from './relist-grid.ts';

/** From the end of one relist to the next (kubelet `genericPlegRelistPeriod`). */
const relistPeriodMs = 1_000;
/** A kubelet whose last relist is older than this is not ready (kubelet `genericPlegRelistThreshold`). */
const relistThresholdMs = 180_000;
/** Capacity of the event channel (kubelet `plegChannelCapacity`). */
const eventsMax = 1_000;
/** Maximum number of queued relist requests for single pods. */
const requestsMax = 200;

interface GenericPlegOptions {
  readonly runtime: PodRuntime;
  readonly cache: PodCache;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * `dirty`, the default: relists that would find nothing are skipped, with identical results. `generic`: a relist
   * every second in any case.
   */
  readonly mode?: 'dirty' | 'generic';
  /** Delay of the first relist. */
  readonly phaseMs?: number;
}

interface RelistRequest {
  readonly uid: string;
  readonly atMs: number;
}

/**
 * Lists everything that the runtime has once a second, and sends an event for each change since the last relist
 * (kubelet `GenericPLEG`). Events can be dropped when the channel is full; cache entries cannot.
 */
export class GenericPleg extends RestingLoop implements CacheFiller {
  /** The events that were found. When the channel is full, further events are dropped and counted. */
  readonly events = new Channel<PodLifecycleEvent>(eventsMax);
  readonly #options: GenericPlegOptions;
  readonly #grid = new RelistGrid(relistPeriodMs);
  /** Each pod as of the last events that were sent for it. */
  readonly #records = new SparseMap<string, RuntimePod>();
  /** Pods to be inspected even if nothing changed. */
  #reinspect: Set<string> | undefined;
  readonly #requests: RelistRequest[] = [];
  /** Time since which a relist may find a change; undefined: it would find none. */
  #dirtySinceMs: number | undefined;
  /** Time of the next change that the runtime makes by itself, as of the last relist. */
  #changeAtMs: number | undefined;
  #relistedAtMs: number | undefined;
  #busy = false;
  #discarded = 0;
  #unsubscribe: (() => void) | undefined;

  constructor(options: GenericPlegOptions) {
    super(options.clock);
    this.#options = options;
    this.#dirtySinceMs = options.clock.monotonicMs();
    options.cache.fillFrom(this);
  }

  /** Number of events that were dropped because the channel was full. */
  get discarded(): number {
    return this.#discarded;
  }

  /**
   * The PLEG's health problem, as in the node's Ready condition after `PLEG is not healthy: `; `nowMs` is monotonic.
   */
  problem(nowMs: number): string | undefined {
    const relistedAtMs = this.relistedAtMs(nowMs);
    if (relistedAtMs === undefined) return 'pleg has yet to be successful';
    const silentMs = nowMs - relistedAtMs;
    if (silentMs <= relistThresholdMs) return undefined;
    const threshold = formatGoDuration(relistThresholdMs);
    return `pleg was last seen active ${formatGoDuration(silentMs)} ago; threshold is ${threshold}`;
  }

  /** Monotonic time of the last listing that succeeded; undefined before the first. */
  relistedAtMs(nowMs = this.#options.clock.monotonicMs()): number | undefined {
    return (this.#busy ? undefined : this.#skippedAtMs(nowMs)) ?? this.#relistedAtMs;
  }

  /** For the cache: the time up to which all entries are up to date. */
  observedAtMs(): number | undefined {
    return this.#busy ? undefined : this.#skippedAtMs(this.#options.clock.monotonicMs());
  }

  /** For the cache: a caller waits for the next relist. */
  wanted(): void {
    this.ring();
  }

  /** Requests the inspection of a pod before the next relist (kubelet `RequestRelist`). False if the queue is full. */
  request(uid: string): boolean {
    if (this.#requests.length >= requestsMax) return false;
    this.#requests.push({ uid, atMs: this.#options.clock.monotonicMs() });
    this.ring();
    return true;
  }

  /**
   * Requests the inspection of a pod at the next relist even without a change, and a PodSync event
   * (`RequestReinspect`).
   */
  reinspect(uid: string): void {
    this.#inspectAgain(uid);
    this.#markDirty();
  }

  #inspectAgain(uid: string): void {
    this.#reinspect ??= new Set();
    this.#reinspect.add(uid);
  }

  #markDirty(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (!this.#busy) this.#recordSkipped(nowMs);
    this.#dirtySinceMs ??= nowMs;
    this.ring();
  }

  /** Time of the last relist that was skipped because it would have found nothing, if later than the last real one. */
  #skippedAtMs(nowMs: number): number | undefined {
    const limitMs = this.#findsAtMs();
    const isIdle = limitMs === undefined || limitMs > nowMs;
    const lastMs = isIdle ? this.#grid.lastUntil(nowMs) : this.#grid.lastBefore(limitMs);
    return lastMs !== undefined && lastMs > (this.#relistedAtMs ?? 0) ? lastMs : undefined;
  }

  /** Time from which a relist would find a change. */
  #findsAtMs(): number | undefined {
    const sinceMs = this.#options.mode === 'generic' ? Number.NEGATIVE_INFINITY : this.#dirtySinceMs;
    if (sinceMs === undefined) return this.#changeAtMs;
    return Math.min(sinceMs, this.#changeAtMs ?? sinceMs);
  }

  protected override begin(): void {
    const { clock, runtime, phaseMs = 0 } = this.#options;
    this.#grid.startAt(clock.monotonicMs() + phaseMs);
    this.#unsubscribe = runtime.onChange(() => this.#markDirty());
  }

  protected override end(): void {
    this.#unsubscribe?.();
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    const { clock, cache } = this.#options;
    const nowMs = clock.monotonicMs();
    if (cache.waiting > 0) this.#recordSkipped(nowMs);
    const dueAtMs = this.#dueAtMs(nowMs);
    // A node without activity has no timer.
    if (this.#requests.length === 0 && nowMs < dueAtMs) return dueAtMs - nowMs;
    // A due relist runs before requests for single pods.
    if (nowMs >= dueAtMs) await this.#onDue(signal);
    else await this.#serveRequest(signal);
    return 0;
  }

  /** The next relist that would find a change, or that a caller waits for. */
  #dueAtMs(nowMs: number): number {
    const awaitedMs = this.#options.cache.waiting > 0 ? this.#grid.dueAfter(nowMs) : Infinity;
    return Math.min(this.#usefulAtMs(), awaitedMs);
  }

  /** When a relist will find a change. A time whose relist was already skipped is not due again. */
  #usefulAtMs(): number {
    const findsAtMs = this.#findsAtMs();
    if (findsAtMs === undefined) return Infinity;
    const nextMs = this.#grid.dueAfter(this.#relistedAtMs ?? Number.NEGATIVE_INFINITY);
    return Math.max(nextMs, this.#grid.dueFrom(findsAtMs));
  }

  async #onDue(signal: AbortSignal): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    this.#recordSkipped(nowMs);
    if (this.#usefulAtMs() > nowMs) return;
    this.#busy = true;
    try {
      await this.#relist(nowMs, signal);
    } finally {
      this.#busy = false;
      this.#grid.startAt(this.#options.clock.monotonicMs() + relistPeriodMs);
    }
  }

  /** Records the skipped relists as done. */
  #recordSkipped(nowMs: number): void {
    const skippedAtMs = this.#skippedAtMs(nowMs);
    if (skippedAtMs === undefined) return;
    this.#relistedAtMs = skippedAtMs;
    this.#options.cache.advance(skippedAtMs);
  }

  async #relist(nowMs: number, signal: AbortSignal): Promise<void> {
    const { runtime, cache } = this.#options;
    this.#dirtySinceMs = undefined;
    const listed = await failing(runtime.listPods(signal));
    if (listed instanceof RuntimeFailure) {
      this.#dirtySinceMs = nowMs;
      if (!signal.aborted) this.#warn(listed, 'failed to list pods of the runtime');
      return;
    }
    this.#relistedAtMs = nowMs;
    this.#changeAtMs = runtime.nextChangeAtMs(nowMs);
    const current = new Map(listed.map((pod) => [pod.uid, pod]));
    for (const uid of new Set([...this.#records.keys(), ...current.keys(), ...(this.#reinspect ?? [])])) {
      if (signal.aborted) return;
      await this.#reconcile(uid, current.get(uid), nowMs, signal);
    }
    if ((this.#reinspect?.size ?? 0) > 0) this.#dirtySinceMs ??= nowMs;
    cache.advance(nowMs);
  }

  /**
   * Inspects a changed pod before its events are sent: if the inspection fails, the change is found again next time.
   */
  async #reconcile(uid: string, current: RuntimePod | undefined, atMs: number, signal: AbortSignal): Promise<void> {
    const changes = diffPodRecords(this.#records.get(uid), current);
    const reinspected = this.#reinspect?.delete(uid) === true;
    if (changes.length === 0 && !reinspected) return;
    if (current === undefined) this.#options.cache.delete(uid);
    else if (!(await this.#inspect(uid, atMs, signal))) return;
    this.#promote(uid, current);
    this.#sendEvents(uid, changes);
  }

  async #inspect(uid: string, atMs: number, signal: AbortSignal): Promise<boolean> {
    const { runtime, cache } = this.#options;
    const found = await failing(runtime.inspectPod(uid, signal));
    if (!(found instanceof RuntimeFailure)) {
      cache.set(uid, this.#withAddress(uid, found), atMs);
      return true;
    }
    this.#inspectAgain(uid);
    cache.set(uid, found, atMs);
    if (!signal.aborted) this.#warn(found, 'failed to inspect a pod of the runtime');
    return false;
  }

  /** A terminated pod keeps its last addresses: the runtime no longer has them, but API clients expect them. */
  #withAddress(uid: string, found: RuntimePodStatus): RuntimePodStatus {
    if (found.ips.length > 0) return found;
    const up = found.containers.some(({ kind, state }) => kind === 'sandbox' && state === 'running');
    const known = this.#options.cache.addresses(uid);
    return up || known.length === 0 ? found : { ...found, ips: known };
  }

  #promote(uid: string, current: RuntimePod | undefined): void {
    if (current === undefined) this.#records.delete(uid);
    else this.#records.set(uid, current);
  }

  #sendEvents(uid: string, changes: readonly RecordEvent[]): void {
    const toSend: PodLifecycleEvent[] = [];
    for (const { type, containerId } of changes)
      if (type !== 'ContainerChanged') toSend.push({ uid, type, containerId });
    if (changes.length === 0) toSend.push({ uid, type: 'PodSync' });
    const lost = toSend.filter((event) => !this.events.offer(event)).length;
    this.#discarded += lost;
    if (lost > 0) this.#options.logger.warn({ pod: uid, lost }, 'PLEG event channel full; events dropped');
  }

  /** Skips a request for a pod that was listed since the request. */
  async #serveRequest(signal: AbortSignal): Promise<void> {
    const request = this.#requests.shift();
    if (request === undefined || request.atMs < (this.relistedAtMs() ?? 0)) return;
    const atMs = this.#options.clock.monotonicMs();
    const found = await failing(this.#options.runtime.inspectPod(request.uid, signal));
    // The next relist inspects it again.
    if (found instanceof RuntimeFailure) return;
    this.#applyInspection(found, atMs);
  }

  #applyInspection(found: RuntimePodStatus, atMs: number): void {
    const { cache } = this.#options;
    const { uid, containers } = found;
    const current = containers.length === 0 ? undefined : found;
    const changes = diffPodRecords(this.#records.get(uid), current);
    const reinspected = this.#reinspect?.delete(uid) === true;
    if (changes.length > 0 || reinspected) {
      if (current === undefined) cache.delete(uid);
      else cache.set(uid, this.#withAddress(uid, found), atMs);
      this.#promote(uid, current);
      this.#sendEvents(uid, changes);
    }
    cache.observe(uid, atMs);
  }

  #warn(failure: RuntimeFailure, message: string): void {
    this.#options.logger.warn({ error: failure.message }, message);
  }
}

/** The result, or the runtime failure with which it rejected. */
async function failing<T>(call: Promise<T>): Promise<T | RuntimeFailure> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RuntimeFailure) return error;
    throw error;
  }
}
