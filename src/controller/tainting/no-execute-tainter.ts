// NoExecute taints send pods away, so they come one at a time, at the zone's rate, and each is looked at once more when
// its turn comes. Taking one back, or swapping one for the other, does no harm and is never rationed.
import type { ApiReason } from '../../api/api-error.ts';
import type { NodeView } from '../../api/node.ts';
import type { Taint, TaintChange } from '../../api/taints.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import type { RateLimitedQueue } from '../../queueing/rate-limited-queue.ts';
import type { CommandWriter, NodeSource, WriteOutcome } from '../commands.ts';
import type { DecisionSink, TaintReason } from '../decisions.ts';
import { deriveNoExecuteNeed, healthTaintsOf, type NoExecuteNeed } from './derive-taints.ts';
import { evictionsTotal, taintLatency } from './metrics.ts';
import type { ZoneTaintQueues } from './zone-taint-queues.ts';

const retryMsMin = 100;
const mayHaveHappened: ReadonlySet<ApiReason> = new Set(['timeout', 'unavailable', 'internal', 'aborted']);

export interface NoExecuteTainterOptions {
  readonly nodes: NodeSource;
  readonly queues: ZoneTaintQueues;
  readonly writer: CommandWriter;
  readonly decisions: DecisionSink;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Status of the node's Ready condition, or `missing`. */
  readonly readyOf: (node: NodeView) => string;
  /** How long ago the node was judged so; undefined if that was not us, or was told before. */
  readonly takeVerdictAgeMs: (node: string) => number | undefined;
  /** While this is true nobody gets a taint. Those in line keep their places. */
  readonly isHeld: () => boolean;
}

/** `unsettled`: a write is still wanted and must be tried again. */
export type Settlement = 'settled' | 'unsettled';

export class NoExecuteTainter {
  readonly #options: NoExecuteTainterOptions;

  constructor(options: NoExecuteTainterOptions) {
    this.#options = options;
  }

  /** Does what this node needs now: takes taints back, swaps, or puts it in its zone's line. */
  async attend(node: NodeView, zone: string): Promise<Settlement> {
    const need = deriveNoExecuteNeed(this.#options.readyOf(node), node.taints);
    switch (need.need) {
      case 'settled':
        this.#leaveLine(node);
        return 'settled';
      case 'none':
        this.#withdraw(node.name);
        return this.#change(node, { add: [], remove: need.remove }, 'node-ready');
      case 'swap':
        this.#withdraw(node.name);
        return this.#change(node, this.#stampedSwap(need), 'other-key-wanted');
      case 'add':
        this.#queue(node.name, zone, need.key);
        return 'settled';
    }
  }

  /** Every zone is dark: the fault is probably ours, so what we did on account of silence is taken back. */
  async pardon(node: NodeView): Promise<Settlement> {
    const remove = healthTaintsOf(node.taints);
    if (this.#options.queues.remove(node.name)) this.#noteWithdrawn(node.name, 'outage');
    return remove.length === 0 ? 'settled' : this.#change(node, { add: [], remove }, 'outage');
  }

  forget(name: string): void {
    if (this.#options.queues.remove(name)) this.#noteWithdrawn(name, 'node-gone');
  }

  /** One pass over all zones' lines: whoever is due, still needs the taint and finds a token, gets it. */
  async pass(): Promise<void> {
    const { queues, isHeld } = this.#options;
    if (isHeld()) return;
    await Promise.all(queues.zones().map((zone) => this.#serve(zone, queues.get(zone))));
  }

  async #serve(zone: string, queue: RateLimitedQueue | undefined): Promise<void> {
    for (let name = this.#nextDue(queue); name !== undefined; name = this.#nextDue(queue)) {
      const node = this.#stillNeeding(name);
      if (node === undefined) this.#withdraw(name);
      else if (queue?.tryTakeToken(this.#nowMs()) !== true) return;
      else await this.#taint(node, zone, queue);
    }
  }

  #nextDue(queue: RateLimitedQueue | undefined): string | undefined {
    return queue?.peekDue(this.#nowMs());
  }

  #stillNeeding(name: string): NodeView | undefined {
    const node = this.#options.nodes.get(name);
    return node !== undefined && this.#need(node).need === 'add' ? node : undefined;
  }

  async #taint(node: NodeView, zone: string, queue: RateLimitedQueue): Promise<void> {
    const need = this.#need(node);
    if (need.need !== 'add') return;
    const why = this.#options.readyOf(node) === 'Unknown' ? 'node-silent' : 'node-not-ready';
    const outcome = await this.#write(node, { add: [this.#stamped(need.key)], remove: [] }, why);
    if (outcome.result === 'written') this.#count(node.name, zone);
    if (outcome.result === 'failed') this.#retry(node.name, queue, outcome);
    else this.#options.queues.remove(node.name);
  }

  #count(node: string, zone: string): void {
    const { meter, takeVerdictAgeMs } = this.#options;
    meter.add(evictionsTotal, 1, { zone });
    const ageMs = takeVerdictAgeMs(node);
    if (ageMs !== undefined) meter.observe(taintLatency, ageMs / 1_000);
  }

  /** Waits in line for another try. Only a write that may have been carried out after all keeps its token. */
  #retry(name: string, queue: RateLimitedQueue, failure: Extract<WriteOutcome, { result: 'failed' }>): void {
    if (!mayHaveHappened.has(failure.reason)) queue.giveTokenBack(this.#nowMs());
    queue.postpone(name, this.#nowMs() + Math.max(failure.retryAfterMs ?? 0, retryMsMin));
  }

  async #change(node: NodeView, change: TaintChange, why: TaintReason): Promise<Settlement> {
    const outcome = await this.#write(node, change, why);
    return outcome.result === 'failed' ? 'unsettled' : 'settled';
  }

  async #write(node: NodeView, change: TaintChange, why: TaintReason): Promise<WriteOutcome> {
    const urgency = change.add.length === 0 ? 'untaint' : 'no-execute';
    const outcome = await this.#options.writer.carryOut({ kind: 'change-taints', node, ...change, urgency });
    if (outcome.result === 'written') {
      const added = change.add.map((taint) => `${taint.key}:NoExecute`);
      const removed = change.remove.map((taint) => `${taint.key}:NoExecute`);
      this.#options.decisions.note({ kind: 'taints-changed', node: node.name, added, removed, why });
    }
    return outcome;
  }

  #queue(node: string, zone: string, key: string): void {
    const ahead = this.#options.queues.add(node, zone, this.#nowMs());
    if (ahead !== undefined) this.#options.decisions.note({ kind: 'taint-queued', node, zone, key, ahead });
  }

  /** Nothing to wait for: it is Ready, or somebody put the taint there while it waited. */
  #leaveLine(node: NodeView): void {
    if (this.#options.readyOf(node) === 'True') this.#withdraw(node.name);
    else this.#options.queues.remove(node.name);
  }

  #withdraw(node: string): void {
    if (this.#options.queues.remove(node)) this.#noteWithdrawn(node, 'node-ready');
  }

  #noteWithdrawn(node: string, why: 'node-ready' | 'node-gone' | 'outage'): void {
    this.#options.decisions.note({ kind: 'taint-withdrawn', node, why });
  }

  #stampedSwap(need: Extract<NoExecuteNeed, { need: 'swap' }>): TaintChange {
    const add = need.add.timeAdded === undefined ? this.#stamped(need.add.key) : need.add;
    return { add: [add], remove: need.remove };
  }

  #need(node: NodeView): NoExecuteNeed {
    return deriveNoExecuteNeed(this.#options.readyOf(node), node.taints);
  }

  #stamped(key: string): Taint {
    return { key, effect: 'NoExecute', timeAdded: formatTime(this.#options.clock.nowMs()) };
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}
