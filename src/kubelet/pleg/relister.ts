import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { Channel } from '../../queueing/channel.ts';
import { SparseMap } from '../../queueing/sparse-map.ts';
import { formatGoDuration } from '../../api/go-duration.ts';
import { RestingLoop, runAlone } from '../resting-loop.ts';
import { type PodRuntime, RuntimeFailure, type RuntimePod, type RuntimePodStatus } from '../runtime/pod-runtime.ts';
import { type CacheFiller, type PodCache } from './pod-cache.ts';
import { diffPodRecords, type RecordEvent } from './diff-pod-records.ts';
import type { PodLifecycleEvent } from './pod-lifecycle-event.ts';
import { RelistGrid } from './relist-grid.ts';

/** From the end of one relist to the next (kubelet `genericPlegRelistPeriod`). */
export const relistPeriodMs = 1_000;
/** A kubelet whose last relist is older than this is not ready (kubelet `genericPlegRelistThreshold`). */
export const relistThresholdMs = 180_000;
/** Events that nobody has read yet (kubelet `plegChannelCapacity`). */
export const eventsMax = 1_000;
/** Pods somebody wants to be looked at between two relists. */
const requestsMax = 200;

export interface RelisterOptions {
  readonly runtime: PodRuntime;
  readonly cache: PodCache;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * `dirty`, the default: relists that would find nothing are not carried out, and nothing of that shows. `generic`: one
   * a second, come what may.
   */
  readonly mode?: 'dirty' | 'generic';
  /** How long after its start it looks for the first time. */
  readonly phaseMs?: number;
}

interface RelistRequest {
  readonly uid: string;
  readonly atMs: number;
}

/**
 * Looks at everything the runtime has once a second, and tells what happened since the last look (kubelet
 * `GenericPLEG`). What it tells can be lost when nobody reads; what it writes into the cache cannot.
 */
export class Relister extends RestingLoop implements CacheFiller {
  /** What happened, as it was found. Full: what comes then is dropped and counted. */
  readonly events = new Channel<PodLifecycleEvent>(eventsMax);
  readonly #options: RelisterOptions;
  readonly #grid = new RelistGrid(relistPeriodMs);
  /** Each pod as it was when it was last told of. */
  readonly #records = new SparseMap<string, RuntimePod>();
  /** Pods to be inspected though nothing may have happened to them. */
  #reinspect: Set<string> | undefined;
  readonly #requests: RelistRequest[] = [];
  /** Since when a look may find something that the last did not; undefined: it would not. */
  #dirtySinceMs: number | undefined;
  /** What the runtime will do by itself next, as of the last look. */
  #changeAtMs: number | undefined;
  #relistedAtMs: number | undefined;
  #busy = false;
  #discarded = 0;
  #leave: (() => void) | undefined;

  constructor(options: RelisterOptions) {
    super(options.clock);
    this.#options = options;
    this.#dirtySinceMs = options.clock.monotonicMs();
    options.cache.fillFrom(this);
  }

  /** Events that were dropped because nobody read. */
  get discarded(): number {
    return this.#discarded;
  }

  /** Relists until the signal aborts. Nothing that the runtime fails with ends it. */
  run(signal: AbortSignal): Promise<void> {
    return runAlone(this, signal);
  }

  /** What is wrong with it, as in the node's Ready condition after `PLEG is not healthy: `; `nowMs` is monotonic. */
  problem(nowMs: number): string | undefined {
    const relistedAtMs = this.#relistTimeMs(nowMs);
    if (relistedAtMs === undefined) return 'pleg has yet to be successful';
    const silentMs = nowMs - relistedAtMs;
    if (silentMs <= relistThresholdMs) return undefined;
    const threshold = formatGoDuration(relistThresholdMs);
    return `pleg was last seen active ${formatGoDuration(silentMs)} ago; threshold is ${threshold}`;
  }

  /** Monotonic time of the last listing that succeeded; undefined before the first. */
  relistedAtMs(): number | undefined {
    return this.#relistTimeMs(this.#options.clock.monotonicMs());
  }

  /** For the cache: up to when nothing in it was out of date. */
  observedAtMs(): number | undefined {
    return this.#busy ? undefined : this.#thoughtOfAtMs(this.#options.clock.monotonicMs());
  }

  /** For the cache: somebody waits for the next look. */
  wanted(): void {
    this.ring();
  }

  /** Has a pod looked at before the next relist (kubelet `RequestRelist`). False: too many wait, the relist will do. */
  request(uid: string): boolean {
    if (this.#requests.length >= requestsMax) return false;
    this.#requests.push({ uid, atMs: this.#options.clock.monotonicMs() });
    this.ring();
    return true;
  }

  /** Has a pod inspected at the next relist though nothing may have happened to it, and told of (`RequestReinspect`). */
  reinspect(uid: string): void {
    this.#inspectAgain(uid);
    this.#soil();
  }

  #inspectAgain(uid: string): void {
    this.#reinspect ??= new Set();
    this.#reinspect.add(uid);
  }

  #soil(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (!this.#busy) this.#recall(nowMs);
    this.#dirtySinceMs ??= nowMs;
    this.ring();
  }

  #relistTimeMs(nowMs: number): number | undefined {
    return (this.#busy ? undefined : this.#thoughtOfAtMs(nowMs)) ?? this.#relistedAtMs;
  }

  /** The last relist since the last that counts, which was not carried out because it would have found nothing. */
  #thoughtOfAtMs(nowMs: number): number | undefined {
    const limitMs = this.#findsAtMs();
    const quiet = limitMs === undefined || limitMs > nowMs;
    const lastMs = quiet ? this.#grid.lastUntil(nowMs) : this.#grid.lastBefore(limitMs);
    return lastMs !== undefined && lastMs > (this.#relistedAtMs ?? 0) ? lastMs : undefined;
  }

  /** From when on a look would find something. */
  #findsAtMs(): number | undefined {
    const sinceMs = this.#options.mode === 'generic' ? Number.NEGATIVE_INFINITY : this.#dirtySinceMs;
    if (sinceMs === undefined) return this.#changeAtMs;
    return Math.min(sinceMs, this.#changeAtMs ?? sinceMs);
  }

  protected override begin(): void {
    const { clock, runtime, phaseMs = 0 } = this.#options;
    this.#grid.startAt(clock.monotonicMs() + phaseMs);
    this.#leave = runtime.onChange(() => this.#soil());
  }

  protected override end(): void {
    this.#leave?.();
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    const { clock, cache } = this.#options;
    const nowMs = clock.monotonicMs();
    if (cache.waiting > 0) this.#recall(nowMs);
    const dueAtMs = this.#dueAtMs(nowMs);
    // A node on which nothing ever happens has no timer.
    if (this.#requests.length === 0 && nowMs < dueAtMs) return dueAtMs - nowMs;
    // A relist that is due goes before what was asked for.
    if (nowMs >= dueAtMs) await this.#onDue(signal);
    else await this.#serveRequest(signal);
    return 0;
  }

  /** The next relist that is worth while, or that somebody waits for. */
  #dueAtMs(nowMs: number): number {
    const awaitedMs = this.#options.cache.waiting > 0 ? this.#grid.dueAfter(nowMs) : Infinity;
    return Math.min(this.#worthAtMs(), awaitedMs);
  }

  /** When a relist will find something. A moment at which one was thought of already is not due again. */
  #worthAtMs(): number {
    const findsAtMs = this.#findsAtMs();
    if (findsAtMs === undefined) return Infinity;
    const nextMs = this.#grid.dueAfter(this.#relistedAtMs ?? Number.NEGATIVE_INFINITY);
    return Math.max(nextMs, this.#grid.dueFrom(findsAtMs));
  }

  async #onDue(signal: AbortSignal): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    this.#recall(nowMs);
    if (this.#worthAtMs() > nowMs) return;
    this.#busy = true;
    try {
      await this.#relist(nowMs, signal);
    } finally {
      this.#busy = false;
      this.#grid.startAt(this.#options.clock.monotonicMs() + relistPeriodMs);
    }
  }

  /** Takes the relists that were only thought of for carried out. */
  #recall(nowMs: number): void {
    const thoughtOfAtMs = this.#thoughtOfAtMs(nowMs);
    if (thoughtOfAtMs === undefined) return;
    this.#relistedAtMs = thoughtOfAtMs;
    this.#options.cache.advance(thoughtOfAtMs);
  }

  async #relist(nowMs: number, signal: AbortSignal): Promise<void> {
    const { runtime, cache } = this.#options;
    this.#dirtySinceMs = undefined;
    const listed = await failing(runtime.listPods(signal));
    if (listed instanceof RuntimeFailure) {
      this.#dirtySinceMs = nowMs;
      if (!signal.aborted) this.#warn(listed, 'the pods of the runtime could not be listed');
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

  /** Inspects a pod to which something happened, and only then tells of it: what fails is found again next time. */
  async #reconcile(uid: string, current: RuntimePod | undefined, atMs: number, signal: AbortSignal): Promise<void> {
    const happened = diffPodRecords(this.#records.get(uid), current);
    const again = this.#reinspect?.delete(uid) === true;
    if (happened.length === 0 && !again) return;
    if (current === undefined) this.#options.cache.delete(uid);
    else if (!(await this.#inspect(uid, atMs, signal))) return;
    this.#promote(uid, current);
    this.#tell(uid, happened);
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
    if (!signal.aborted) this.#warn(found, 'a pod of the runtime could not be inspected');
    return false;
  }

  /** A pod that is over keeps its address: the runtime no longer knows it, and the API server's readers expect it. */
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

  #tell(uid: string, happened: readonly RecordEvent[]): void {
    const told: PodLifecycleEvent[] = [];
    for (const { type, containerId } of happened)
      if (type !== 'ContainerChanged') told.push({ uid, type, containerId });
    if (happened.length === 0) told.push({ uid, type: 'PodSync' });
    const lost = told.filter((event) => !this.events.offer(event)).length;
    this.#discarded += lost;
    if (lost > 0) this.#options.logger.warn({ pod: uid, lost }, 'nobody reads what happens to pods: it is dropped');
  }

  /** One that was listed since it was asked for has been served. */
  async #serveRequest(signal: AbortSignal): Promise<void> {
    const request = this.#requests.shift();
    if (request === undefined || request.atMs < (this.relistedAtMs() ?? 0)) return;
    const atMs = this.#options.clock.monotonicMs();
    const found = await failing(this.#options.runtime.inspectPod(request.uid, signal));
    // The next relist will find out.
    if (found instanceof RuntimeFailure) return;
    this.#take(found, atMs);
  }

  #take(found: RuntimePodStatus, atMs: number): void {
    const { cache } = this.#options;
    const { uid, containers } = found;
    const current = containers.length === 0 ? undefined : found;
    const happened = diffPodRecords(this.#records.get(uid), current);
    const again = this.#reinspect?.delete(uid) === true;
    if (happened.length > 0 || again) {
      if (current === undefined) cache.delete(uid);
      else cache.set(uid, this.#withAddress(uid, found), atMs);
      this.#promote(uid, current);
      this.#tell(uid, happened);
    }
    cache.observe(uid, atMs);
  }

  #warn(failure: RuntimeFailure, message: string): void {
    this.#options.logger.warn({ error: failure.message }, message);
  }
}

/** What it resolves with, or the failure of the runtime that it rejected with. */
async function failing<T>(call: Promise<T>): Promise<T | RuntimeFailure> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RuntimeFailure) return error;
    throw error;
  }
}
