import type { LeaseView } from '../../api/lease.ts';
import type { NodeView } from '../../api/node.ts';
import { KeyedHeap } from '../../queueing/keyed-heap.ts';
import { type Graces, type Now, type Verdict, assessNode, deriveRecord, readyOf, silentFromMs } from './assess-node.ts';
import type { HealthRecord } from './health-record.ts';

/** A verdict, or the suspicion of silence that nobody has confirmed yet. */
export type HealthVerdict =
  | Verdict
  | (Omit<Extract<Verdict, { kind: 'silent' }>, 'kind'> & { readonly kind: 'suspect' });

/**
 * What is remembered of each node, and when each will be silent. A heartbeat only updates its record; the deadline in
 * the heap is moved when it comes up, so a heartbeat costs the same however many nodes there are.
 */
export class HealthTable {
  readonly #graces: Graces;
  readonly #records = new Map<string, HealthRecord>();
  readonly #deadlines = new KeyedHeap();
  /** What each node's last heartbeat was when its silence was confirmed: a newer one makes the confirmation void. */
  readonly #confirmed = new Map<string, number>();

  /** The graces are read at each look: they may change between two, with a call of {@link gracesChanged}. */
  constructor(graces: Graces) {
    this.#graces = graces;
  }

  get(name: string): HealthRecord | undefined {
    return this.#records.get(name);
  }

  /** Takes notice of what the caches show of this node and returns what we now know. */
  observe(node: NodeView, lease: LeaseView | undefined, now: Now): HealthRecord {
    const record = deriveRecord(this.#records.get(node.name), { node, lease }, now);
    this.#records.set(node.name, record);
    return record;
  }

  /**
   * Observes and judges. A node that is not silent, and not Unknown, gets its deadline. One that looks silent is suspect
   * until somebody has confirmed it.
   */
  assess(node: NodeView, lease: LeaseView | undefined, now: Now): HealthVerdict {
    const record = this.observe(node, lease, now);
    const verdict = assessNode(node, record, now, this.#graces);
    if (verdict.kind === 'alive' && readyOf(node) !== 'Unknown') this.#deadlines.set(node.name, verdict.silentFromMs);
    else this.#deadlines.remove(node.name);
    if (verdict.kind !== 'silent' || verdict.conditions.length === 0) return verdict;
    return this.#confirmed.get(node.name) === record.heardAtMs ? verdict : { ...verdict, kind: 'suspect' };
  }

  /** The API server itself has nothing newer than what we last heard of this node. */
  confirmSilence(name: string): void {
    const record = this.#records.get(name);
    if (record !== undefined) this.#confirmed.set(name, record.heardAtMs);
  }

  /**
   * The grace periods are others now: every deadline is reckoned anew. What was confirmed is asked once more, for it was
   * asked when a silence was not yet, or no longer, one.
   */
  gracesChanged(): void {
    this.#confirmed.clear();
    for (const name of this.#deadlines.keysInOrder()) {
      const record = this.#records.get(name);
      if (record !== undefined) this.#deadlines.set(name, silentFromMs(record, this.#graces));
    }
  }

  /** We wrote Unknown: from here on the next sign of life is news. */
  becameUnknown(node: NodeView, monotonicMs: number): void {
    const record = this.#records.get(node.name);
    if (record === undefined) return;
    const ready = node.conditions.find((condition) => condition.type === 'Ready');
    this.#records.set(node.name, {
      ...record,
      readyChangedAtMs: monotonicMs,
      readyHeartbeat: ready?.lastHeartbeatTime,
      readyTransition: ready?.lastTransitionTime,
      hasReady: true,
      heardSinceUnknown: false,
    });
    this.#deadlines.remove(node.name);
  }

  /** Gives every node a full grace period from now: after an outage nobody is held to what we could not hear. */
  trustAll(monotonicMs: number): void {
    for (const [name, record] of this.#records) {
      this.#records.set(name, {
        ...record,
        heardAtMs: monotonicMs,
        channel: 'outage-end',
        readyChangedAtMs: monotonicMs,
      });
    }
  }

  forget(name: string): void {
    this.#records.delete(name);
    this.#confirmed.delete(name);
    this.#deadlines.remove(name);
  }

  /** Takes the names whose deadline has come. Whether they are silent is for `assess` to say. */
  takeDue(monotonicMs: number): readonly string[] {
    const due: string[] = [];
    for (
      let name = this.#deadlines.popDue(monotonicMs);
      name !== undefined;
      name = this.#deadlines.popDue(monotonicMs)
    ) {
      due.push(name);
    }
    return due;
  }

  nextDeadlineMs(): number | undefined {
    return this.#deadlines.peek()?.dueMs;
  }
}
