import { findCondition } from '../../machinery/api/conditions.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import type { EvictionHold, PolicyEvictionHold } from '../model/decisions.ts';
import type { Act, Hold, HoldKind, HoldReader } from '../model/holds.ts';
import { evidenceAbout, evidenceMs, type LiveNode, nodeWatchDelayMsMax } from '../model/live-node.ts';
import {
  decideHoldExpiry,
  type EvictionCause,
  type HoldExpiry,
  isSameKind,
  kindOf,
  lacksTaint,
  type TaintKind,
} from './decide-hold-expiry.ts';
import { extendHold, isAtMaximum, isUnbounded, renewHold } from './extend-hold.ts';
import { evictionHoldsExpired } from './metrics.ts';
import type { TimedEviction } from './timed-eviction.ts';
import type { StageDependencies } from '../model/dependencies.ts';

const checkAgainMs = 1_000;
/** The cache decides about a node that cannot be read for so long. */
const unreadableMsMax = 60_000;

export interface EvictionHoldsOptions extends Omit<StageDependencies, 'writer'> {
  /** `ask` records the question. */
  readonly holds: Pick<HoldReader, 'of' | 'ofPod'> & { ask(node: string, act: Act, pod: string): unknown };
  /** Whether the watch of nodes has not reached this version of a pod: what had happened before may not be in the cache. */
  readonly isNodeWatchBehind: (resourceVersion: string) => boolean;
  /** A recent live read of the node, sent since this time; undefined while there is none, and then one is started. */
  readonly liveNode: (node: string, sentSinceMs: number) => LiveNode | undefined;
}

interface HeldFor {
  readonly why: EvictionHold;
  readonly kind: TaintKind;
}

/**
 * Whether a due deletion may proceed; if not, when to check again. `untilChange`: what holds all pods of the node, so that nothing is to be
 * done for this one until {@link EvictionHolds.holdOfAll} changes.
 */
export type HoldAnswer = 'free' | { readonly checkAgainMs: number; readonly untilChange?: EvictionHold };

/**
 * Holds deletions, each reason for a bounded time; then a live read of the node decides. Deletions for the taints of other
 * clients are held by a late cache only, which means: until the node was read.
 */
export class EvictionHolds {
  readonly #options: EvictionHoldsOptions;

  constructor(options: EvictionHoldsOptions) {
    this.#options = options;
  }

  /** What holds this deletion if it is for this cause. Cheap: called before each request. */
  reasonFor(eviction: TimedEviction, due: EvictionCause): EvictionHold | undefined {
    const { node, uid } = eviction;
    const first = selectFirst(this.#options.holds.ofPod(node, uid, actOf(due)));
    const isLate = this.#isNewerThanNode(eviction) || this.#isTaintGone(node, due);
    const why = first ?? (isLate ? 'late-cache' : undefined);
    return why === undefined || this.#isReleased(eviction, why, due) ? undefined : why;
  }

  /** A live read has shown that this reason holds no longer. */
  #isReleased({ released }: TimedEviction, why: EvictionHold, due: EvictionCause): boolean {
    if (isUnbounded(why) || released?.why !== why || !isSameKind(kindOf(due), released.kind)) return false;
    return this.#nowMs() < released.untilMs;
  }

  /**
   * The scheduler may have bound the pod because the taint was removed: two watches are not of one moment. Versions of
   * pods and nodes are of one sequence where they are in one etcd.
   */
  #isNewerThanNode({ boundMs, resourceVersion }: TimedEviction): boolean {
    return this.#nowMs() - boundMs < nodeWatchDelayMsMax && this.#options.isNodeWatchBehind(resourceVersion);
  }

  /** The answer to a request has shown the node without the taint, before the watch. */
  #isTaintGone(name: string, due: EvictionCause): boolean {
    const node = this.#options.nodes.get(name);
    return node !== undefined && lacksTaint(node, kindOf(due));
  }

  /** Whether a deletion that is due may proceed. To be called again as the result says. */
  check(pod: PodView, eviction: TimedEviction): HoldAnswer {
    const asked = this.#options.holds.ask(eviction.node, actOf(eviction.evictAt), pod.uid);
    const why = this.reasonFor(eviction, eviction.evictAt);
    if (why === undefined) return this.#awaitPlace(eviction, asked === undefined);
    if (eviction.hold?.why !== why && why !== 'late-cache') this.#noteHeld(pod, why);
    const hold = extendHold(eviction.hold, why, this.#nowMs(), this.#readySince(eviction.node));
    eviction.hold = hold;
    if (!isAtMaximum(hold)) eviction.unreadableSinceMs = undefined;
    if (isUnbounded(why)) return { checkAgainMs, untilChange: why };
    return isAtMaximum(hold)
      ? this.#decideLive(pod, eviction, { why, kind: kindOf(eviction.evictAt) })
      : { checkAgainMs };
  }

  /** Pods that are being evicted may use up what the policy allows: then its hold goes on, and is no other one. */
  #awaitPlace(eviction: TimedEviction, isFree: boolean): HoldAnswer {
    const goesOn = !isFree && eviction.hold?.why === 'hourly-limit';
    if (!goesOn) eviction.hold = this.#holdWhileReleased(eviction);
    return isFree ? 'free' : { checkAgainMs };
  }

  /** A hold that a live read has ended for a moment stays at its maximum: what takes longer is not held as long again. */
  #holdWhileReleased({ node, hold, released }: TimedEviction): TimedEviction['hold'] {
    const nowMs = this.#nowMs();
    if (hold === undefined || released === undefined || nowMs >= released.untilMs) return undefined;
    return extendHold(hold, released.why, nowMs, this.#readySince(node));
  }

  /** What holds the deletions of all pods of this node for its health, and has no maximum here; undefined: nothing does. */
  holdOfAll(node: string): EvictionHold | undefined {
    const first = selectFirst(this.#options.holds.of(node, 'delete-for-health'));
    return first !== undefined && isUnbounded(first) ? first : undefined;
  }

  /** Whether a deletion may proceed for a taint of another client for which it is due too. */
  checkOther(pod: PodView, eviction: TimedEviction, due: EvictionCause): HoldAnswer {
    const why = this.reasonFor(eviction, due);
    if (why === undefined) return 'free';
    return isUnbounded(why) ? { checkAgainMs } : this.#decideLive(pod, eviction, { why, kind: kindOf(due) });
  }

  /** Whether a policy or a pause holds this deletion, as of its last check. */
  isHeldByPolicy({ hold }: TimedEviction): boolean {
    return hold !== undefined && isPolicyHold(hold.why);
  }

  #readySince(node: string): string | undefined {
    const ready = findCondition(this.#options.nodes.get(node)?.conditions ?? [], 'Ready');
    return ready?.status === 'True' ? ready.lastTransitionTime : undefined;
  }

  #decideLive(pod: PodView, eviction: TimedEviction, held: HeldFor): HoldAnswer {
    const { why, kind } = held;
    const live = this.#options.liveNode(eviction.node, eviction.boundMs);
    if (live === undefined) return { checkAgainMs };
    const known = this.#options.nodes.get(eviction.node);
    const evidence = this.#isUnreadableForLong(eviction, live, why) ? 'not-permitted' : evidenceAbout(known, live);
    const expiry = decideHoldExpiry(held, pod, evidence === 'not-permitted' ? (known ?? 'gone') : evidence);
    if (expiry === 'read-again') return { checkAgainMs: evidenceMs };
    if (why === 'late-cache') this.#noteUnconfirmed(pod, eviction, expiry);
    else if (eviction.released?.why !== why) this.#noteExpired(pod, why, expiry);
    if (expiry === 'hold') return this.#holdOn(eviction);
    eviction.released = { why, kind, untilMs: this.#nowMs() + evidenceMs };
    return 'free';
  }

  /** The API server may answer all but the reads of one node. A late cache ends by itself, and cannot decide. */
  #isUnreadableForLong(eviction: TimedEviction, live: LiveNode, why: EvictionHold): boolean {
    const nowMs = this.#nowMs();
    eviction.unreadableSinceMs = live === 'unreadable' ? (eviction.unreadableSinceMs ?? nowMs) : undefined;
    return why !== 'late-cache' && nowMs - (eviction.unreadableSinceMs ?? nowMs) >= unreadableMsMax;
  }

  #holdOn(eviction: TimedEviction): HoldAnswer {
    eviction.hold = eviction.hold && renewHold(eviction.hold, this.#nowMs());
    eviction.released = undefined;
    return { checkAgainMs };
  }

  /** A live read is routine for `late-cache`: only a deletion that it does not confirm is noted, once. */
  #noteUnconfirmed(pod: PodView, eviction: TimedEviction, next: Exclude<HoldExpiry, 'read-again'>): void {
    if (next === 'hold' && eviction.unconfirmed !== true) this.#noteHeld(pod, 'late-cache');
    eviction.unconfirmed = next === 'hold';
  }

  #noteHeld(pod: PodView, why: EvictionHold): void {
    this.#options.decisions.note({ kind: 'eviction-held', pod: podKey(pod), node: pod.nodeName, why }, pod.uid);
  }

  #noteExpired(pod: PodView, why: EvictionHold, next: Exclude<HoldExpiry, 'read-again'>): void {
    const { decisions, meter } = this.#options;
    meter.add(evictionHoldsExpired, 1, { reason: why });
    decisions.note({ kind: 'eviction-hold-expired', pod: podKey(pod), node: pod.nodeName, why, next }, pod.uid);
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

function actOf({ forHealth }: EvictionCause): Act {
  return forHealth ? 'delete-for-health' : 'delete-for-taint';
}

/** Those that cover deletions of pods. */
const evictionHolds: ReadonlySet<HoldKind> = new Set<EvictionHold>([
  'observed',
  'paused',
  'detect-only',
  'veto',
  'maintenance',
  'breaker',
  'hourly-limit',
  'stale',
  'stale-pods',
  'full-disruption',
  'node-is-ready',
  'lease-is-renewed',
  'late-cache',
]);

function selectFirst(holds: Iterable<Hold>): EvictionHold | undefined {
  for (const { kind } of holds) if (isEvictionHold(kind)) return kind;
  return undefined;
}

function isEvictionHold(kind: HoldKind): kind is EvictionHold {
  return evictionHolds.has(kind);
}

function isPolicyHold(why: EvictionHold): why is PolicyEvictionHold {
  return why === 'observed' || why === 'paused';
}
