import type { PodView } from '../../machinery/api/pod.ts';
import { areComparable, isOlder } from '../../machinery/api/resource-version.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import { type RateLimit, RateLimitedQueues } from '../../machinery/queueing/rate-limited-queues.ts';
import type { RateLimitedQueue } from '../../machinery/queueing/rate-limited-queue.ts';
import { markingQueueLength, markingQueueOldest } from './metrics.ts';
import type { ControllerOptions } from '../model/options.ts';
import type { Holds } from '../model/holds.ts';

/** Interval of checks for the end of the hold of one node. */
const heldNodeRecheckMs = 1_000;

/** A mark of which the pod shows nothing after this time is made again. */
const lostMarkMs = 60_000;

/** The current silence of a node. */
interface Silence {
  readonly since: string | undefined;
  hasSlot: boolean;
  /** The pods that were marked in it, by uid. */
  readonly marked: Map<string, Mark>;
}

interface Mark {
  /** Version of the pod that was marked. */
  readonly before: string;
  readonly atMs: number;
}

type MarkedPod = Pick<PodView, 'nodeName' | 'uid' | 'resourceVersion'>;

interface PodMarkingQueuesOptions {
  readonly optionsOf: (zone: string) => Pick<ControllerOptions, 'podMarkingRate'>;
  readonly zoneOf: (node: string) => string;
  /** The node's last heartbeat, or since when it is NotReady: slots and marks are of the silence since then, and of no later one. */
  readonly silenceOf: (node: string) => string | undefined;
  /** A node that sends heartbeats, and whose pods are marked because it reports NotReady for long. */
  readonly isNotReadyForLong: (node: string) => boolean;
  /** No slot is granted to a node that is held, and others are served before it. */
  readonly holds: Holds;
  readonly clock: Clock;
  readonly meter: Meter;
}

/**
 * Marking the pods of a silent node removes them from every Service, and many markings at once could take down a
 * healthy Service. So nodes wait for a slot, by zone; a granted slot is kept until the next heartbeat of the node, and so is
 * which of its pods were marked: a kubelet whose heartbeats do not arrive may go on posting the status of its pods.
 */
export class PodMarkingQueues {
  readonly #options: PodMarkingQueuesOptions;
  readonly #queues: RateLimitedQueues;
  /** Silences of nodes with a granted slot or a marked pod. */
  readonly #silences = new Map<string, Silence>();

  constructor(options: PodMarkingQueuesOptions) {
    this.#options = options;
    const { meter } = options;
    this.#queues = new RateLimitedQueues({
      limit: (zone) => limitOf(options.optionsOf(zone)),
      onLength: (zone, length) => {
        if (length === undefined || length === 0) {
          meter.forget(markingQueueLength, { zone });
          meter.forget(markingQueueOldest, { zone });
        } else meter.set(markingQueueLength, length, { zone });
      },
    });
    meter.onRead(() => this.#showOldest());
  }

  /** Nodes that wait for a slot. */
  waiting(): readonly string[] {
    return this.#queues.keys();
  }

  #showOldest(): void {
    const { clock, meter } = this.#options;
    for (const zone of this.#queues.zones()) {
      const sinceMs = this.#queues.get(zone)?.oldestSinceMs();
      if (sinceMs !== undefined) meter.set(markingQueueOldest, (clock.monotonicMs() - sinceMs) / 1_000, { zone });
    }
  }

  /** Whether a node has a slot for its current silence: a later heartbeat ends the slot. */
  admits(node: string): boolean {
    return this.#silenceOf(node)?.hasSlot === true;
  }

  /**
   * Whether a pod was marked in the current silence of its node: what its kubelet posted since then stays. A mark of which the pod
   * shows nothing, because a restore of etcd undid it, is made again, once a minute at most.
   */
  isMarked({ nodeName, uid, resourceVersion }: MarkedPod): boolean {
    const mark = this.#silenceOf(nodeName)?.marked.get(uid);
    if (mark === undefined) return false;
    if (isOlder(mark.before, resourceVersion) || !areComparable(mark.before, resourceVersion)) return true;
    return this.#options.clock.monotonicMs() - mark.atMs < lostMarkMs;
  }

  /** Notes that this version of a pod was marked now. */
  noteMarked({ nodeName, uid, resourceVersion }: MarkedPod): void {
    this.#ensureSilence(nodeName).marked.set(uid, { before: resourceVersion, atMs: this.#options.clock.monotonicMs() });
  }

  /** Whether it was marked, and this version of it is not later than the one that was. */
  isBeforeMark({ nodeName, uid, resourceVersion }: MarkedPod): boolean {
    const mark = this.#silences.get(nodeName)?.marked.get(uid);
    if (mark === undefined || !areComparable(mark.before, resourceVersion)) return false;
    return !isOlder(mark.before, resourceVersion);
  }

  /** Forgets a pod that no longer exists. */
  forgetPod({ nodeName, uid }: Pick<PodView, 'nodeName' | 'uid'>): void {
    this.#silences.get(nodeName)?.marked.delete(uid);
  }

  #silenceOf(node: string): Silence | undefined {
    const silence = this.#silences.get(node);
    return silence?.since === this.#options.silenceOf(node) ? silence : undefined;
  }

  #ensureSilence(node: string): Silence {
    const known = this.#silenceOf(node);
    if (known !== undefined) return known;
    const silence = {
      since: this.#options.silenceOf(node),
      hasSlot: false,
      marked: new Map<string, Mark>(),
    };
    this.#silences.set(node, silence);
    return silence;
  }

  /** While this is true no slot is granted and no pod is to be marked. */
  isPaused(): boolean {
    return this.#options.holds.isHeldForAll('mark-pods');
  }

  /** While this is true no pod of this node is to be marked. */
  isHeld(node: string): boolean {
    return this.#options.holds.heldForMs(node, 'mark-pods') > 0;
  }

  /** Whether a node waits for a slot, or has one for its current silence. */
  isKnown(node: string): boolean {
    return this.#queues.zoneOf(node) !== undefined || this.admits(node);
  }

  /** Nodes with remembered state: those that wait and those with a slot or a marked pod. */
  queuedNodes(): Iterable<string> {
    return new Set([...this.#queues.keys(), ...this.#silences.keys()]);
  }

  /** Adds the node to its zone's queue; one that waits keeps its place. */
  enqueue(node: string): void {
    this.#queues.add(node, this.#options.zoneOf(node), this.#options.clock.monotonicMs());
  }

  /** The node sent a heartbeat: that ends its silence, and not that it reports NotReady for long. */
  recover(node: string): void {
    if (!this.#options.isNotReadyForLong(node)) this.dequeue(node);
  }

  /** The node sent a heartbeat, or was deleted: its next silence needs a new slot. */
  dequeue(node: string): void {
    this.#silences.delete(node);
    this.#queues.remove(node);
  }

  /** The zone no longer exists: its queue is removed once it is empty, with its metrics. */
  forgetZone(zone: string): void {
    this.#queues.forget(zone, this.#options.clock.monotonicMs());
  }

  /** See {@link RateLimitedQueues.dropFullBuckets}. */
  dropFullBuckets(): void {
    this.#queues.dropFullBuckets(this.#options.clock.monotonicMs());
  }

  /** Zones with remembered state. */
  zones(): readonly string[] {
    return this.#queues.zones();
  }

  get zonesRemembered(): number {
    return this.#queues.zonesRemembered;
  }

  /** The earliest time of a slot, on the monotonic clock, holds disregarded; Infinity where no node waits. */
  nextDueMs(): number {
    return this.#queues.nextDueMs(this.#options.clock.monotonicMs());
  }

  /** Calls the listener when {@link nextDueMs} may have become earlier. */
  onEarlier(listener: () => void): void {
    this.#queues.onEarlier(listener);
  }

  /** Grants slots as far as the tokens allow. A node with nothing to mark is dequeued and spends no token. */
  serve(wants: (node: string) => boolean, takeSlot: (node: string) => void): void {
    if (this.isPaused()) return;
    for (const zone of this.#queues.zones()) {
      const queue = this.#queues.get(zone);
      if (queue === undefined) continue;
      this.#resize(zone, queue);
      this.#serveQueue(queue, wants, takeSlot);
    }
  }

  /** Sets the rate of a queue to the limit of now. */
  #resize(zone: string, queue: RateLimitedQueue): void {
    const { ratePerSecond, burst } = limitOf(this.#options.optionsOf(zone));
    queue.resize(ratePerSecond, burst, this.#options.clock.monotonicMs());
  }

  #serveQueue(queue: RateLimitedQueue, wants: (node: string) => boolean, takeSlot: (node: string) => void): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (let node = queue.peekDue(nowMs); node !== undefined; node = queue.peekDue(nowMs)) {
      const wanted = wants(node);
      const heldMs = wanted ? this.#options.holds.heldForMs(node, 'mark-pods') : 0;
      if (heldMs > 0) {
        queue.postpone(node, nowMs + Math.min(heldMs, heldNodeRecheckMs));
        if (this.#options.holds.isIntended(node, 'mark-pods')) queue.waitsFrom(node, nowMs);
        continue;
      }
      if (wanted && !queue.tryTakeToken(nowMs)) return;
      this.#queues.remove(node);
      if (!wanted) continue;
      this.#ensureSilence(node).hasSlot = true;
      takeSlot(node);
    }
  }
}

/** The burst is one second's worth. */
function limitOf({ podMarkingRate }: Pick<ControllerOptions, 'podMarkingRate'>): RateLimit {
  return { ratePerSecond: podMarkingRate, burst: Math.max(1, podMarkingRate) };
}
