// NoExecute taints evict pods, so they are added one at a time, at the zone's rate, and each node is evaluated again
// before its taint is written. Removing a taint, or replacing one by the other, evicts no pod and is not rate-limited.
import type { NodeEvictor } from '../model/node-evictor.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { sameTaint, type Taint, type TaintChange } from '../../machinery/api/taints.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import { zoneLevels } from '../../machinery/api/zone.ts';
import type { RateLimitedQueue } from '../../machinery/queueing/rate-limited-queue.ts';
import { backOffAtLeast, forget, type WorkOutcome } from '../../machinery/queueing/work-queue.ts';
import type { Alarm } from '../../machinery/supervision/alarm.ts';
import { mayHaveBeenDone, type WriteOutcome } from '../model/commands.ts';
import { nextAfterWrite } from '../model/decide-next-step.ts';
import { evaluationFailed, type TaintReason } from '../model/decisions.ts';
import type { Holds } from '../model/holds.ts';
import {
  decideNoExecuteNeed,
  decideNoScheduleChange,
  healthTaintsOf,
  isNoScheduleStillRequired,
  type NoExecuteNeed,
} from './decide-taints.ts';
import { evictionsTotal, taintLatency } from './metrics.ts';
import { endingOf, TaintAdditions } from '../model/taint-additions.ts';
import type { ZoneTaintQueues } from './zone-taint-queues.ts';
import type { StageDependencies } from '../model/dependencies.ts';

/** Taint writes of one zone in flight: a hanging write does not block its zone. */
const writesAtOnceMax = 4;
/** A taint that was not wanted when it was about to be sent is evaluated again after this time. */
const unwantedRetryMs = 100;
/** Interval of checks for the end of a pause. */
const heldRecheckMs = 100;
/** Interval of checks for the end of the hold of one node. */
const heldNodeRecheckMs = 1_000;

interface NoExecuteTainterOptions extends StageDependencies {
  readonly queues: ZoneTaintQueues;
  /** Woken after each response: the next token of the zone may be due. */
  readonly serving: Pick<Alarm, 'wakeUp'>;
  /** Status of the node's Ready condition, or `missing`. */
  readonly readyOf: (node: NodeView) => string;
  /** How long ago the node was assessed so; undefined if not by this process, or returned before. */
  readonly takeTransitionAgeMs: (node: string) => number | undefined;
  /** Queued nodes keep their places while they are held, and others are served before them. */
  readonly holds: Holds;
  /** All zones are fully disrupted. */
  readonly fullDisruption: () => boolean;
}

/** Purpose of a change: a need of the node, or the removal of all health taints in a full disruption. */
type Intent = 'none' | 'swap' | 'add' | 'revoke';

interface Write {
  readonly zone: string;
  readonly done: Promise<void>;
}

/** A token that was taken for a node. */
interface Slot {
  readonly queue: RateLimitedQueue;
  readonly takenAtMs: number;
  /** The NoSchedule taints that are due are written too. */
  readonly together: boolean;
}

export class NoExecuteTainter implements NodeEvictor {
  readonly #options: NoExecuteTainterOptions;
  /** Taint writes in flight, by node. */
  readonly #underway = new Map<string, Write>();
  readonly #additions: TaintAdditions;

  constructor(options: NoExecuteTainterOptions) {
    this.#options = options;
    this.#additions = new TaintAdditions(options.clock);
  }

  /** Nodes to which a NoExecute taint is being added, or may have been. */
  beingTainted(): ReadonlyMap<string, unknown> {
    return this.#additions.current();
  }

  /**
   * Reconciles the NoExecute taint of this node from its current state: removes taints, replaces one, queues the node,
   * or dequeues it. May be called at any time. The outcome says whether the write has to be retried.
   */
  async reconcile(node: NodeView, zone: string): Promise<WorkOutcome> {
    const need = this.#need(node);
    switch (need.need) {
      case 'settled':
        this.#dequeue(node);
        return forget;
      case 'none':
        this.#withdraw(node.name, 'node-ready');
        return this.#change(node, { add: [], remove: need.remove }, 'node-ready', 'none');
      case 'swap':
        this.#options.queues.remove(node.name);
        return this.#change(node, this.#stampedSwap(need), 'other-key-wanted', 'swap');
      case 'add':
        this.#queue(node.name, zone, need.key);
        return forget;
    }
  }

  /**
   * Queues the node if it needs the taint, and writes it if a token is at hand. The first attempt adds the NoSchedule taints
   * that are due, so the node gets both in one request. Resolves after the response; undefined if no write has begun.
   */
  start(node: NodeView, zone: string): Promise<void> | undefined {
    const need = this.#need(node);
    if (need.need !== 'add') return undefined;
    this.#queue(node.name, zone, need.key);
    this.#serveZone(zone, node.name);
    return this.#underway.get(node.name)?.done;
  }

  /**
   * All zones are fully disrupted, probably by a fault of the control plane or the network: removes all health taints.
   */
  async revokeNoExecute(node: NodeView): Promise<WorkOutcome> {
    const remove = healthTaintsOf(node.taints);
    this.#withdraw(node.name, 'full-disruption');
    return remove.length === 0 ? forget : this.#change(node, { add: [], remove }, 'full-disruption', 'revoke');
  }

  forget(name: string): void {
    this.#withdraw(name, 'node-gone');
  }

  /** Nodes with remembered state. Each is to be checked periodically: see {@link check}. */
  queuedNodes(): Iterable<string> {
    return this.#options.queues.keys();
  }

  /**
   * Dequeues this node if it no longer exists or no longer needs the taint, whatever events were missed. A node that
   * needs one and is not queued is queued by {@link reconcile}. Writes nothing.
   */
  check(name: string): void {
    const node = this.#options.nodes.get(name);
    if (node === undefined) this.forget(name);
    else if (this.#need(node).need !== 'add') this.#dequeue(node);
  }

  /**
   * Starts writing the taint for every node that is due, still needs it and gets a token. Does not wait for responses:
   * zones are independent, and a response serves its own zone again. Returns the milliseconds until the next useful
   * call, Infinity where no node waits.
   */
  serve(): number {
    const { queues, holds } = this.#options;
    if (holds.isHeldForAll('add-no-execute')) return queues.size === 0 ? Infinity : heldRecheckMs;
    const nowMs = this.#nowMs();
    let nextMs = Infinity;
    for (const zone of queues.inServingOrder()) {
      this.#serveZone(zone);
      if (!this.#isBusy(zone)) nextMs = Math.min(nextMs, queues.get(zone)?.nextDueMs(nowMs) ?? Infinity);
    }
    return Math.max(0, nextMs - nowMs);
  }

  /** Serves the queues once, and waits for the responses. */
  pass(): Promise<void> {
    this.serve();
    return this.settled();
  }

  /** Resolves when no taint write is in flight. */
  async settled(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all([...this.#underway.values()].map(({ done }) => done));
  }

  /** `together`: the node whose NoSchedule taints are written too. */
  #serveZone(zone: string, together?: string): void {
    const queue = this.#options.queues.get(zone);
    if (queue === undefined || this.#options.holds.isHeldForAll('add-no-execute')) return;
    const nowMs = this.#nowMs();
    for (let name = queue.peekDue(nowMs); name !== undefined; name = queue.peekDue(nowMs)) {
      const node = this.#options.nodes.get(name);
      // Queued again, or moved to another zone, while its write is in flight: it is due again after the response.
      if (this.#underway.has(name)) queue.begin(name);
      else if (node === undefined || this.#need(node).need !== 'add') this.check(name);
      else if (this.#isHeld(name, queue)) continue;
      else if (this.#isBusy(zone) || !queue.tryTakeToken(nowMs)) return;
      else this.#begin(node, zone, { queue, takenAtMs: nowMs, together: name === together });
    }
  }

  /** Whether a node is held, which then keeps its place; the hold may end earlier than known now, so it is checked often. */
  #isHeld(name: string, queue: RateLimitedQueue): boolean {
    const { holds } = this.#options;
    const heldMs = holds.heldForMs(name, 'add-no-execute');
    if (heldMs <= 0) return false;
    queue.postpone(name, this.#nowMs() + Math.min(heldMs, heldNodeRecheckMs));
    if (holds.isIntended(name, 'add-no-execute')) queue.waitsFrom(name, this.#nowMs());
    return true;
  }

  #isBusy(zone: string): boolean {
    let writes = 0;
    for (const write of this.#underway.values()) writes += write.zone === zone ? 1 : 0;
    return writes >= writesAtOnceMax;
  }

  #begin(node: NodeView, zone: string, { queue, takenAtMs, together }: Slot): void {
    queue.begin(node.name);
    const done = this.#taint(node, zone, together && queue.failures(node.name) === 0).then((outcome) => {
      this.#underway.delete(node.name);
      this.#conclude(node.name, { queue, takenAtMs }, outcome);
      if (outcome.result === 'not-leader') return;
      for (const waiting of this.#options.queues.competing(zone)) this.#serveZone(waiting);
      this.#options.serving.wakeUp();
    });
    this.#underway.set(node.name, { zone, done });
  }

  /** An exception concerns this node only: it is retried, and blocks no other. */
  async #taint(node: NodeView, zone: string, together: boolean): Promise<WriteOutcome> {
    const need = this.#need(node);
    if (need.need !== 'add') return { result: 'unwanted' };
    const why = this.#options.readyOf(node) === 'Unknown' ? 'node-silent' : 'node-not-ready';
    try {
      const outcome = await this.#write(node, this.#addition(node, need.key, together), why, 'add');
      if (outcome.result === 'written') this.#count(node.name, zone);
      return outcome;
    } catch (error) {
      this.#options.decisions.note(evaluationFailed('NoExecute taint', node.name, error));
      return { result: 'failed', reason: 'internal', retryAfterMs: undefined };
    }
  }

  /**
   * Concludes a write: only one that may have been applied spends its token. A node without the taint keeps its place.
   */
  #conclude(name: string, { queue, takenAtMs }: Omit<Slot, 'together'>, outcome: WriteOutcome): void {
    const { queues } = this.#options;
    const nowMs = this.#nowMs();
    if (outcome.result === 'written') return void queues.remove(name);
    if (!mayHaveBeenDone(outcome)) queue.returnToken(nowMs, takenAtMs);
    const current = queues.queueOf(name);
    if (outcome.result === 'unwanted' || outcome.result === 'held') current?.postpone(name, nowMs + unwantedRetryMs);
    else current?.retry(name, nowMs, outcome.result === 'failed' ? outcome.retryAfterMs : undefined);
  }

  #count(node: string, zone: string): void {
    const { meter, takeTransitionAgeMs } = this.#options;
    for (const level of zoneLevels(zone)) meter.add(evictionsTotal, 1, { zone: level });
    const ageMs = takeTransitionAgeMs(node);
    if (ageMs !== undefined) meter.observe(taintLatency, ageMs / 1_000);
  }

  async #change(node: NodeView, change: TaintChange, why: TaintReason, intent: Intent): Promise<WorkOutcome> {
    const outcome = await this.#write(node, change, why, intent);
    // Unwanted: the node changed, or its taints are held; the next evaluation decides.
    return nextAfterWrite(outcome, backOffAtLeast(undefined));
  }

  /** A request that failed is repeated without the NoSchedule taints, which may be what was denied. */
  #addition(node: NodeView, key: string, together: boolean): TaintChange {
    const stamped = this.#stamped(key);
    const due = together
      ? decideNoScheduleChange(node, formatTime(this.#options.clock.nowMs()))
      : { add: [], remove: [] };
    return { add: [stamped, ...due.add], remove: due.remove };
  }

  async #write(node: NodeView, change: TaintChange, why: TaintReason, intent: Intent): Promise<WriteOutcome> {
    // All additions have a lane of their own, so that they are sent in the order and at the rate of their tokens.
    const lane = change.add.length === 0 ? 'recovery' : 'tainting';
    const command = { kind: 'change-taints', node, ...change, lane } as const;
    const stillWanted = (): boolean => this.#isStillWanted(node, change, intent);
    const adds = change.add.length > 0;
    if (adds) this.#additions.begin(node.name);
    let outcome: WriteOutcome | undefined;
    try {
      outcome = await this.#options.writer.carryOut(command, stillWanted);
    } finally {
      if (adds) this.#additions.end(node.name, endingOf(outcome));
    }
    if (outcome.result === 'written') this.#note(node.name, change, why);
    return outcome;
  }

  /** A webhook may have taken NoSchedule taints out of the change: only what the answer showed is noted. */
  #note(node: string, change: TaintChange, why: TaintReason): void {
    const carried = this.#options.nodes.get(node)?.taints;
    for (const effect of ['NoExecute', 'NoSchedule']) {
      const { add, remove } = shownIn(carried, onlyWith(effect, change));
      if (add.length + remove.length === 0) continue;
      const added = add.map(({ key }) => `${key}:${effect}`);
      const removed = remove.map(({ key }) => `${key}:${effect}`);
      const reason = effect === 'NoSchedule' ? 'conditions' : why;
      this.#options.decisions.note({ kind: 'taints-changed', node, added, removed, why: reason });
    }
  }

  /**
   * Whether the change is still wanted, from current state: this node needs the same change, and where that adds a
   * taint no hold applies.
   */
  #isStillWanted({ name, uid }: NodeView, change: TaintChange, intent: Intent): boolean {
    const { nodes, fullDisruption } = this.#options;
    if (intent === 'revoke') return fullDisruption();
    const node = nodes.get(name);
    if (node?.uid !== uid || !isNoScheduleStillRequired(onlyWith('NoSchedule', change), node)) return false;
    const need = this.#need(node);
    const [added] = onlyWith('NoExecute', change).add;
    if (need.need !== intent) return false;
    return added === undefined || (keyOf(need) === added.key && this.#mayAdd(name, intent));
  }

  /**
   * Whether the taint may still be added. Also ends a write that waits to be sent when the zone was stopped or the node
   * left the queue.
   */
  #mayAdd(name: string, intent: Intent): boolean {
    const { queues, holds } = this.#options;
    if (holds.heldForMs(name, 'add-no-execute') > 0) return false;
    return intent === 'swap' || (queues.queueOf(name)?.ratePerSecond ?? 0) > 0;
  }

  #queue(node: string, zone: string, key: string): void {
    const ahead = this.#options.queues.add(node, zone, this.#nowMs());
    if (ahead !== undefined) this.#options.decisions.note({ kind: 'taint-queued', node, zone, key, ahead });
  }

  /** Removes a node that need not wait: it is Ready, or got the taint, or the other one, meanwhile. */
  #dequeue(node: NodeView): void {
    if (this.#options.readyOf(node) === 'True') this.#withdraw(node.name, 'node-ready');
    else this.#options.queues.remove(node.name);
  }

  #withdraw(node: string, why: 'node-ready' | 'node-gone' | 'full-disruption'): void {
    if (this.#options.queues.remove(node)) this.#options.decisions.note({ kind: 'taint-withdrawn', node, why });
  }

  #stampedSwap(need: Extract<NoExecuteNeed, { need: 'swap' }>): TaintChange {
    const add = need.add.timeAdded === undefined ? this.#stamped(need.add.key) : need.add;
    return { add: [add], remove: need.remove };
  }

  #need(node: NodeView): NoExecuteNeed {
    return decideNoExecuteNeed(this.#options.readyOf(node), node.taints);
  }

  #stamped(key: string): Taint {
    return { key, effect: 'NoExecute', timeAdded: formatTime(this.#options.clock.nowMs()) };
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

/** The part of the change that a node with these taints shows; all of it if they are not known. */
function shownIn(carried: readonly Taint[] | undefined, { add, remove }: TaintChange): TaintChange {
  if (carried === undefined) return { add, remove };
  const has = (taint: Taint): boolean => carried.some((own) => sameTaint(own, taint));
  return { add: add.filter(has), remove: remove.filter((taint) => !has(taint)) };
}

function onlyWith(effect: string, { add, remove }: TaintChange): TaintChange {
  const has = (taint: Taint): boolean => taint.effect === effect;
  return { add: add.filter(has), remove: remove.filter(has) };
}

/** The key of the taint that this need adds. */
function keyOf(need: NoExecuteNeed): string | undefined {
  if (need.need === 'add') return need.key;
  return need.need === 'swap' ? need.add.key : undefined;
}
