// How and when a pod that is due is removed: by a deletion or by the Eviction API, at the rate of the policy of its node. State
// exists only of pods that wait; it only saves requests.
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import { HangingGroups } from '../../machinery/queueing/hanging-groups.ts';
import { TokenQueues } from '../../machinery/queueing/token-queues.ts';
import type { WriteOutcome } from '../model/commands.ts';
import type { DeletionRate, ReachableEviction } from '../model/policy.ts';
import { type RateWait, toRateWait, type WaitingPod, type WhyNotEvicted } from '../model/waiting-pods.ts';
import { type AskedTime, askedMs, countAsked, moveAsked, noteRequest } from './asked-time.ts';
import type { EvictAt } from './decide-eviction.ts';
import { decideRemovalMethod, type RemovalMethod, type RemovalStep } from './decide-removal-method.ts';
import { evictionsRefused, evictionsTimedOut } from './metrics.ts';
import { RequestSlots } from './request-slots.ts';
import type { WaitedResponder } from './select-responder.ts';
import type { RefusedEviction, TimedEviction } from './timed-eviction.ts';
import type { StageDependencies } from '../model/dependencies.ts';

/** Delays between two requests for a pod that the Eviction API does not evict. */
const retryDelaysMs = { min: 100, max: 30_000 } as const;
/** A pod that waits is evaluated again after this time: its node may not be reachable any more. */
const checkAgainMs = 1_000;
/** The same where it waits for a slot of its namespace, which wakes it when it is free: many pods may wait for long. */
const slotRecheckMs = 10_000;
/** What the policy and the state of a node say about deletions of its pods. */
export interface RemovalRules {
  /** Undefined: the Eviction API is not used for pods of this node. */
  readonly evictReachableOf: (node: string) => ReachableEviction | undefined;
  /** Whether the kubelet of the node reports, and sends heartbeats. */
  readonly isReachable: (node: string) => boolean;
  /** Undefined: no limit. */
  readonly deletionRateOf: (node: string) => DeletionRate | undefined;
  /** The policy of its node keeps the pod from evictions for the health of the node. */
  readonly isRetained: (pod: PodView) => boolean;
  /** The responder for which a pod (`namespace/name`) of a reachable node waits. Absent: pods wait for none. */
  readonly responderOf?: ((pod: string, uid: string, timeoutMs: number) => WaitedResponder | undefined) | undefined;
}

interface RemovalPaceOptions extends Pick<StageDependencies, 'decisions' | 'meter' | 'clock'> {
  readonly rules: RemovalRules;
  readonly timed: ReadonlyMap<string, TimedEviction>;
  /** The pod is to be evaluated again after this time. */
  readonly wake: (key: string, afterMs: number) => void;
  /** Maximum number of requests in flight, by deletions and the Eviction API together. */
  readonly requestsAtOnceMax: number;
  /** The pod will be evaluated again. */
  readonly isQueued: (key: string) => boolean;
}

/** How a pod is removed, and for which taint. */
export interface Removal {
  readonly by: RemovalMethod;
  readonly evictAt: EvictAt;
  /** Returns the token, if nothing was deleted. */
  readonly returnToken: () => void;
}

/** `go`: a request may be sent now. */
type RemovalAnswer = ({ readonly kind: 'go' } & Removal) | { readonly kind: 'wait'; readonly checkAgainMs: number };

/** The answer of the Eviction API, or the failure of its requests. */
interface NotEvicted extends Pick<RefusedEviction, 'message' | 'sinceMs'> {
  readonly why: WhyNotEvicted;
}

/** Why a due pod waits, on the monotonic clock. */
export interface RemovalWait {
  /** The Eviction API does not evict it now; it is deleted at `deletedAtMs`. */
  readonly refused?: NotEvicted & { readonly deletedAtMs: number };
  /** The wait for a token of the policy. */
  readonly rate?: RateWait;
  /** The wait for a responder of its Eviction; it is asked for and deleted at `deletedAtMs`. */
  readonly responder?: WaitedResponder & { readonly deletedAtMs: number };
}

type FailedRequest = Extract<WriteOutcome, { result: 'failed' }>;

/** Rules without policies: pods are deleted at once. */
export const deleteAtOnce: RemovalRules = {
  evictReachableOf: () => undefined,
  isReachable: () => false,
  deletionRateOf: () => undefined,
  isRetained: () => false,
};

export class RemovalPace {
  readonly #options: RemovalPaceOptions;
  readonly #tokens: TokenQueues;
  readonly #slots: RequestSlots;
  /** By namespace. */
  readonly #hanging = new HangingGroups();

  constructor(options: RemovalPaceOptions) {
    this.#options = options;
    this.#tokens = new TokenQueues({
      nowMs: () => options.clock.monotonicMs(),
      onFirst: options.wake,
      willTry: (key) => options.timed.has(key) && options.isQueued(key),
    });
    // Half of all, so that deletions go on if all requests to the Eviction API, or about a namespace, hang; a single slot serves both in turn.
    const hangingAtOnceMax = Math.max(1, Math.floor(options.requestsAtOnceMax / 2));
    this.#slots = new RequestSlots(hangingAtOnceMax, (key) => options.wake(key, 0));
  }

  /** How the pod is to be removed now. Cheap: called before each request. */
  methodOf(key: string, eviction: TimedEviction, evictAt: EvictAt): RemovalStep {
    const { rules } = this.#options;
    const timeoutMs = rules.evictReachableOf(eviction.node)?.timeoutMs;
    if (timeoutMs === undefined) return 'delete';
    const isReachable = rules.isReachable(eviction.node);
    const hasResponder = isReachable && rules.responderOf?.(key, eviction.uid, timeoutMs) !== undefined;
    const { hasRequested } = eviction.asked;
    const askedMs = this.#askedMs(eviction);
    return decideRemovalMethod(evictAt, { timeoutMs, askedMs, hasRequested, isReachable, hasResponder });
  }

  /** Records whether the budget of a pod that is due can be asked now: to be called at each check. */
  noteAsking(eviction: TimedEviction, canAsk: boolean): void {
    eviction.asked = countAsked(eviction.asked, canAsk, this.#momentOf(eviction));
  }

  /** What remains of the time for which the budget could be asked when the deadline of the pod moves. */
  movedAsked(eviction: TimedEviction, isLater: boolean): AskedTime {
    return moveAsked(eviction.asked, isLater, this.#momentOf(eviction));
  }

  #askedMs(eviction: TimedEviction): number {
    return askedMs(eviction.asked, this.#momentOf(eviction));
  }

  #momentOf({ evictAt }: TimedEviction): Parameters<typeof askedMs>[1] {
    return { dueMs: evictAt.atMs, nowMs: this.#nowMs() };
  }

  /** Takes a request slot and a token, if both are free. To be called when nothing else holds the deletion, and again as the answer says. */
  tryEvict(pod: PodView, eviction: TimedEviction): RemovalAnswer {
    const key = podKey(pod);
    const by = this.methodOf(key, eviction, eviction.evictAt);
    if (by !== 'await-responder') return this.#tryBy(by, pod, eviction);
    this.#slots.remove(key);
    return this.#waitFor(key, checkAgainMs);
  }

  #tryBy(by: RemovalMethod, pod: PodView, eviction: TimedEviction): RemovalAnswer {
    const key = podKey(pod);
    const { node, evictAt } = eviction;
    const waitMs = by === 'evict' ? this.#retryInMs(eviction) : 0;
    if (waitMs > 0) return this.#waitFor(key, Math.min(waitMs, checkAgainMs));
    if (!this.#mayAsk(by, pod)) return this.#waitFor(key, by === 'evict' ? checkAgainMs : slotRecheckMs);
    const rate = evictAt.forHealth ? this.#options.rules.deletionRateOf(node) : undefined;
    if (rate === undefined) {
      this.#tokens.leave(key);
      return { kind: 'go', by, evictAt, returnToken: () => undefined };
    }
    const answer = this.#tokens.tryTake(key, { queue: rate.policy, ratePerSecond: rate.ratePerSecond });
    if (answer.kind === 'wait') {
      this.#slots.free(key);
      if (!eviction.asked.hasRequested) this.noteAsking(eviction, false);
      return { kind: 'wait', checkAgainMs: answer.ms };
    }
    return { kind: 'go', by, evictAt, returnToken: answer.returnToken };
  }

  /** The same for a deletion that is due for a taint of another client, which no policy delays. */
  tryOther(pod: PodView, evictAt: EvictAt): RemovalAnswer {
    this.#tokens.backOff(podKey(pod));
    if (!this.#mayAsk('delete', pod)) return { kind: 'wait', checkAgainMs: slotRecheckMs };
    return { kind: 'go', by: 'delete', evictAt, returnToken: () => undefined };
  }

  /** Takes a slot where the request may hang. */
  #mayAsk(by: RemovalMethod, pod: PodView): boolean {
    const mayHang = by === 'evict' || this.#hanging.has(pod.namespace, this.#nowMs());
    if (mayHang) return this.#slots.tryTake(podKey(pod));
    this.#slots.remove(podKey(pod));
    return true;
  }

  /** Not positive: the Eviction API may be asked now. */
  #retryInMs({ refused, failed }: TimedEviction): number {
    const retryAtMs = Math.max(refused?.retryAtMs ?? -Infinity, failed?.retryAtMs ?? -Infinity);
    return retryAtMs - this.#nowMs();
  }

  /** The pod is held by something else: others are served before it, and it keeps its place. */
  backOff(key: string): void {
    this.#tokens.backOff(key);
    this.#slots.remove(key);
  }

  /** The pod is no longer to be deleted, or is. */
  forget(key: string): void {
    this.#tokens.leave(key);
    this.#slots.remove(key);
  }

  /** What followed from `go` has ended, after so long. */
  answered(pod: PodView, tookMs: number): void {
    this.#slots.free(podKey(pod));
    this.#hanging.note(pod.namespace, tookMs, this.#nowMs());
  }

  /** The request was answered. */
  conclude(pod: PodView, eviction: TimedEviction, { by, evictAt }: Removal, outcome: WriteOutcome): void {
    if (by === 'evict') eviction.asked = noteRequest(eviction.asked, outcome);
    if (outcome.result === 'refused') this.#refuse(pod, eviction, outcome);
    if (by === 'evict' && outcome.result === 'failed') this.#noteFailure(pod, eviction, outcome);
    const isDeleted = by === 'delete' && outcome.result === 'written' && evictAt.forHealth;
    if (isDeleted && eviction.refused !== undefined) this.#noteDeletion(pod, eviction, eviction.refused);
  }

  /**
   * When to ask again after a failure. Until then the pod is looked at as often as any other that waits: its node may become unreachable, or
   * a hold begin, which the time for which its budget can be asked does not contain.
   */
  #noteFailure(pod: PodView, eviction: TimedEviction, { reason, retryAfterMs = 0 }: FailedRequest): void {
    if (reason === 'aborted') return;
    const nowMs = this.#nowMs();
    const { sinceMs = nowMs, requests = 0 } = eviction.failed ?? {};
    const delayMs = Math.min(retryDelaysMs.min * 2 ** requests, retryDelaysMs.max);
    const retryAtMs = nowMs + Math.max(delayMs, retryAfterMs);
    eviction.failed = { reason, sinceMs, retryAtMs, requests: requests + 1 };
    // The deadline may have moved meanwhile.
    const current = this.#options.timed.get(podKey(pod));
    if (current?.uid === eviction.uid) current.failed = eviction.failed;
  }

  /** The Eviction API did not evict the pod. */
  #refuse(pod: PodView, eviction: TimedEviction, outcome: Extract<WriteOutcome, { result: 'refused' }>): void {
    const { decisions, meter } = this.#options;
    const { why, message, retryAfterMs = 0 } = outcome;
    const nowMs = this.#nowMs();
    const { sinceMs = nowMs, requests = 0 } = eviction.refused ?? {};
    const delayMs = Math.max(retryDelaysMs.min * 2 ** requests, retryAfterMs);
    const retryAtMs = nowMs + Math.min(delayMs, retryDelaysMs.max);
    meter.add(evictionsRefused, 1, { reason: why });
    if (eviction.refused?.why !== why)
      decisions.note({ kind: 'eviction-refused', pod: podKey(pod), node: pod.nodeName, why, message }, pod.uid);
    eviction.failed = undefined;
    eviction.refused = { why, message, sinceMs, retryAtMs, requests: requests + 1 };
  }

  /** The pod was deleted although the Eviction API had not evicted it. */
  #noteDeletion(pod: PodView, { node }: TimedEviction, { sinceMs }: RefusedEviction): void {
    const { decisions, meter } = this.#options;
    const waitedMs = this.#nowMs() - sinceMs;
    const why = this.#whyDeleted(node);
    decisions.note({ kind: 'eviction-wait-ended', pod: podKey(pod), node, why, waitedMs }, pod.uid);
    if (why === 'timeout') meter.add(evictionsTimedOut, 1);
  }

  #whyDeleted(node: string): 'timeout' | 'unreachable' | 'not-asked' {
    const { rules } = this.#options;
    if (rules.evictReachableOf(node) === undefined) return 'not-asked';
    return rules.isReachable(node) ? 'timeout' : 'unreachable';
  }

  /** Reason why a pod that is due waits; undefined: it does not. */
  waitOf(key: string): RemovalWait | undefined {
    const eviction = this.#options.timed.get(key);
    if (eviction === undefined) return undefined;
    const refused = this.#refusalOf(key, eviction);
    const responder = this.#responderWaitOf(key, eviction);
    const rate = this.#rateWaitOf(key, eviction.node);
    const wait = { ...(refused && { refused }), ...(responder && { responder }), ...(rate && { rate }) };
    return Object.keys(wait).length === 0 ? undefined : wait;
  }

  /** Reason why a pod waits, in brief, at a cost that does not depend on how many pods wait. */
  waitingPod(key: string): WaitingPod | undefined {
    const eviction = this.#options.timed.get(key);
    const reason = eviction && this.#reasonOf(key, eviction);
    if (reason !== undefined)
      return { policy: this.#options.rules.evictReachableOf(eviction?.node ?? '')?.policy ?? '', reason };
    const policy = this.#tokens.queueOf(key);
    return policy === undefined ? undefined : { policy, reason: 'rate' };
  }

  /** Checks the queues against the timed evictions, one entry per step. */
  *sweep(): Generator<undefined, void> {
    for (const key of this.#tokens.keys()) {
      if (!this.#options.timed.has(key)) this.#tokens.leave(key);
      yield;
    }
    yield* this.#hanging.sweep(() => this.#nowMs());
  }

  /** The pods that wait for a token. */
  waitingForTokens(): Iterable<string> {
    return this.#tokens.waiting();
  }

  /** Every pod that waits, for a gauge. Costs time proportional to the timed evictions. */
  *waits(): Iterable<WaitingPod> {
    const { timed, rules } = this.#options;
    for (const [key, eviction] of timed) {
      const reason = this.#reasonOf(key, eviction);
      if (reason !== undefined) yield { policy: rules.evictReachableOf(eviction.node)?.policy ?? '', reason };
    }
    for (const key of this.waitingForTokens()) yield { policy: this.#tokens.queueOf(key) ?? '', reason: 'rate' };
  }

  get size(): number {
    return Math.max(this.#tokens.size, this.#slots.size, this.#hanging.size);
  }

  #waitFor(key: string, forMs: number): RemovalAnswer {
    this.#tokens.backOff(key);
    return { kind: 'wait', checkAgainMs: forMs };
  }

  /** Why the Eviction API is not to evict a pod now, or has not. */
  #reasonOf(key: string, eviction: TimedEviction): string | undefined {
    return this.#responderWaitOf(key, eviction) === undefined ? this.#refusalOf(key, eviction)?.why : 'responder';
  }

  #refusalOf(key: string, eviction: TimedEviction): RemovalWait['refused'] {
    const { node, evictAt } = eviction;
    const notEvicted = whyNotEvicted(eviction);
    const rule = this.#options.rules.evictReachableOf(node);
    if (notEvicted === undefined || rule === undefined || this.methodOf(key, eviction, evictAt) !== 'evict')
      return undefined;
    return { ...notEvicted, deletedAtMs: this.#deletedAtMs(eviction, rule) };
  }

  #responderWaitOf(key: string, eviction: TimedEviction): RemovalWait['responder'] {
    const { node, uid, evictAt } = eviction;
    const { rules } = this.#options;
    const rule = rules.responderOf === undefined ? undefined : rules.evictReachableOf(node);
    const isDue = evictAt.atMs <= this.#nowMs();
    if (rule === undefined || !isDue || this.methodOf(key, eviction, evictAt) !== 'await-responder') return undefined;
    const responder = rules.responderOf?.(key, uid, rule.timeoutMs);
    return responder && { ...responder, deletedAtMs: this.#deletedAtMs(eviction, rule) };
  }

  #deletedAtMs(eviction: TimedEviction, { timeoutMs }: ReachableEviction): number {
    return this.#nowMs() + Math.max(0, timeoutMs - this.#askedMs(eviction));
  }

  #rateWaitOf(key: string, node: string): RemovalWait['rate'] {
    const wait = this.#tokens.waitOf(key);
    const rate = this.#options.rules.deletionRateOf(node);
    return wait === undefined || rate === undefined ? undefined : toRateWait(rate, wait);
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

/** What the Eviction API last answered about the pod; a failure of its requests only where it has not answered yet. */
function whyNotEvicted({ refused, failed }: TimedEviction): NotEvicted | undefined {
  if (refused !== undefined) return { why: refused.why, message: refused.message, sinceMs: refused.sinceMs };
  return failed && { why: 'failing', message: failed.reason, sinceMs: failed.sinceMs };
}
