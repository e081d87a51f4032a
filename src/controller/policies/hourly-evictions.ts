// The pods of the nodes of each policy that were evicted for the health of their node within the last hour, for its maximum of them.
// Each replica counts what its watch of pods shows, so that a new leader goes on counting; the leader counts its own requests by
// their answers.
import { evictedByTaint } from '../../machinery/api/conditions.ts';
import type { EventDraft } from '../../machinery/api/event.ts';
import { nodeLostReason, type PodView } from '../../machinery/api/pod.ts';
import { formatTime, parseTimestamp } from '../../machinery/api/timestamps.ts';
import { isForHealth, noExecuteTaints, type Taint } from '../../machinery/api/taints.ts';
import { type Toleration, tolerationFinder } from '../../machinery/api/tolerations.ts';
import type { Change } from '../../machinery/informer/informer.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { NodeSource } from '../model/commands.ts';
import type { EvictionCount } from '../model/holds.ts';
import type { HourlyLimit, NodePolicy } from '../model/policy.ts';
import { aboutNodeLeases } from '../model/subjects.ts';

/** The place of a pod (uid) that is to be evicted, besides pods that were, or besides all that have one. */
export interface Place {
  readonly pod: string;
  readonly besides: 'evicted' | 'all';
}

interface HourlyEvictionsOptions {
  readonly claimsOf: (node: string) => readonly NodePolicy[];
  readonly nodes: NodeSource;
  readonly recorder: EventRecorder;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
}

/** Pods (uid), with monotonic times. */
interface PolicyCount {
  /** When each was evicted, ascending. */
  readonly evicted: Map<string, number>;
  /** When each was marked; Infinity: a request for it is in flight. */
  readonly reserved: Map<string, number>;
}

interface LimitedPolicy extends NodePolicy {
  readonly maxEvictionsPerHour: number;
}

const hourMs = 3_600_000;
/** A pod that was marked is deleted soon after; one that is held in between gives its place back. */
const reservedMsMax = 30_000;
/** The greatest maximum of the schema: what more pods were evicted by others changes no answer. */
const remembersMax = 10_000;
/** Clocks of replicas differ by less. */
const skewMsMax = 10_000;
/** Reasons of the condition DisruptionTarget of pods that a controller evicts, itself or by the Eviction API. */
const evictionReasons: ReadonlySet<string> = new Set([evictedByTaint.reason, 'EvictionByEvictionAPI']);

export class HourlyEvictions implements EvictionCount {
  readonly #options: HourlyEvictionsOptions;
  readonly #counts = new Map<string, PolicyCount>();
  readonly #startedAtMs: number;
  /** Policies of which it was said that their evictions before this process are not known. */
  readonly #announced = new Set<string>();

  constructor(options: HourlyEvictionsOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.monotonicMs();
  }

  /**
   * The limit that is reached for the nodes of the policies of this node, of several the one that ends last. Counts what was evicted,
   * but not the pod that asks: it may have been, and is there.
   */
  reachedFor(node: string, place?: Place): HourlyLimit | undefined {
    const reached = this.#limitsOf(node).flatMap((policy) => this.#reached(policy, place) ?? []);
    return reached.sort((a, b) => b.untilMs - a.untilMs)[0];
  }

  /** See {@link EvictionCount.reserve}. */
  reserve(node: string, pod: string): void {
    for (const policy of this.#limitsOf(node)) {
      this.#announceUnknown(policy);
      this.#countOf(policy.name).reserved.set(pod, Infinity);
    }
  }

  /** See {@link EvictionCount.settle}. Where it has its place: the node may be gone meanwhile, or in another policy. */
  settle(pod: string, how: Parameters<EvictionCount['settle']>[1]): void {
    for (const count of this.#counts.values()) {
      if (!count.reserved.delete(pod)) continue;
      if (how === 'marked') count.reserved.set(pod, this.#nowMs());
      if (how === 'evicted') this.#addEvicted(count, pod);
    }
  }

  /** Counts a pod that another replica evicted, or that this one may have. */
  observe(change: Change<PodView>): void {
    const { object: pod } = change;
    const begins = change.kind === 'modified' && pod.terminating && !change.previous.terminating;
    const isGone = change.kind === 'deleted' && !pod.terminating;
    if ((begins || isGone) && this.#isEvictedForHealth(pod)) this.#noteEvicted(pod.nodeName, pod.uid);
  }

  /** Number of pods of the largest collection. */
  get size(): number {
    return Math.max(0, ...[...this.#counts.values()].map(({ evicted, reserved }) => evicted.size + reserved.size));
  }

  #limitsOf(node: string): readonly LimitedPolicy[] {
    return this.#options.claimsOf(node).filter(isLimited);
  }

  #reached({ name, maxEvictionsPerHour: max }: LimitedPolicy, place: Place | undefined): HourlyLimit | undefined {
    const count = this.#counts.get(name);
    if (count === undefined) return undefined;
    this.#dropOld(count);
    const { evicted, reserved } = count;
    const isOther = (each: string): boolean => each !== place?.pod && !evicted.has(each);
    const others = place?.besides === 'all' ? [...reserved.keys()].filter(isOther).length : 0;
    const own = place !== undefined && evicted.has(place.pod) ? 1 : 0;
    const over = evicted.size - own + others - max;
    if (over < 0) return undefined;
    const nowMs = this.#nowMs();
    const endsAtMs = (valueAt(evicted, over) ?? nowMs) + hourMs;
    return { policy: name, max, untilMs: this.#options.clock.nowMs() + endsAtMs - nowMs };
  }

  #noteEvicted(node: string, pod: string): void {
    for (const { name } of this.#limitsOf(node)) this.#addEvicted(this.#countOf(name), pod);
  }

  #addEvicted({ evicted }: PolicyCount, pod: string): void {
    evicted.delete(pod); // to the end
    evicted.set(pod, this.#nowMs());
    for (const oldest of evicted.keys()) {
      if (evicted.size <= remembersMax) return;
      evicted.delete(oldest);
    }
  }

  /** The policies that are limited no longer are dropped with the first new one. */
  #countOf(policy: string): PolicyCount {
    const known = this.#counts.get(policy);
    if (known !== undefined) return known;
    for (const [name, count] of this.#counts) {
      this.#dropOld(count);
      if (count.evicted.size + count.reserved.size === 0) this.#counts.delete(name);
    }
    const count = { evicted: new Map<string, number>(), reserved: new Map<string, number>() };
    this.#counts.set(policy, count);
    return count;
  }

  #dropOld({ evicted, reserved }: PolicyCount): void {
    const nowMs = this.#nowMs();
    for (const [pod, atMs] of reserved) if (nowMs - atMs >= reservedMsMax) reserved.delete(pod);
    for (const [pod, atMs] of evicted) {
      if (nowMs - atMs < hourMs) return;
      evicted.delete(pod);
    }
  }

  #isEvictedForHealth({ nodeName, disruptionReason = '', reason, tolerations }: PodView): boolean {
    if (reason === nodeLostReason) return true;
    if (!evictionReasons.has(disruptionReason)) return false;
    const taints = noExecuteTaints(this.#options.nodes.get(nodeName)?.taints ?? []);
    const find = tolerationFinder(tolerations, taints.length);
    const due = taints.filter((taint) => this.#isDue(taint, find(taint)));
    if (due.length > 0 || disruptionReason !== evictedByTaint.reason) return due.some(isForHealth);
    // A taint that replaced the other health taint is younger than the countdown of the pods (decision 0042).
    return taints.some((taint) => isForHealth(taint) && find(taint)?.tolerationSeconds !== undefined);
  }

  /** By the time of the taint. Pods that still tolerate it leave for another one. */
  #isDue({ timeAdded }: Taint, toleration: Toleration | undefined): boolean {
    if (toleration === undefined) return true;
    const { tolerationSeconds = Infinity } = toleration;
    const sinceMs = (timeAdded && parseTimestamp(timeAdded)) || -Infinity;
    return (
      tolerationSeconds < Infinity && sinceMs + tolerationSeconds * 1_000 <= this.#options.clock.nowMs() + skewMsMax
    );
  }

  /** Once for each policy and process. */
  #announceUnknown({ name, maxEvictionsPerHour: max }: LimitedPolicy): void {
    const { clock, recorder } = this.#options;
    if (this.#nowMs() - this.#startedAtMs >= hourMs || this.#announced.has(name)) return;
    this.#announced.add(name);
    recorder.record(evictionsNotKnown(name, max, clock.nowMs() - this.#nowMs() + this.#startedAtMs));
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

function isLimited(policy: NodePolicy): policy is LimitedPolicy {
  return policy.maxEvictionsPerHour !== undefined;
}

/** Without a copy of all of them, as the place is one of the first where the maximum is not lowered. */
function valueAt(times: ReadonlyMap<string, number>, place: number): number | undefined {
  let left = place;
  for (const atMs of times.values()) {
    if (left === 0) return atMs;
    left -= 1;
  }
  return undefined;
}

/** What a pod left behind is in no object once it is gone. */
export function evictionsNotKnown(policy: string, max: number, sinceMs: number): EventDraft {
  return {
    about: aboutNodeLeases,
    type: 'Warning',
    reason: 'EvictionsNotKnown',
    message: `Policy ${policy}: evictions before ${formatTime(sinceMs)}, when this process started, do not count for maxEvictionsPerHour (${max})`,
  };
}
