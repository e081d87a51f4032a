import type { LeaseView } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { KeyedHeap } from '../../machinery/queueing/keyed-heap.ts';
import { type Graces, graceOf, type NodeAssessment, assessNode, buildRecord, silentFromMs } from './assess-node.ts';
import type { HealthRecord } from './health-record.ts';
import type { Now } from '../model/node-state.ts';

type Silent = Extract<NodeAssessment, { readonly kind: 'silent' }>;

/** An assessment, or `suspect`: silent, but not confirmed by a live read of the lease. */
export type HealthAssessment = NodeAssessment | (Omit<Silent, 'kind'> & { readonly kind: 'suspect' });

/** The grace periods in force for each node. */
interface NodeGraces {
  current(node: string): Graces;
}

/**
 * A node that looks silent, or is silent and not yet Unknown in the API, is evaluated again after this time at the
 * latest, whatever the result of the read or write that it waits for.
 */
const recheckMs = 5_000;

/**
 * The record of each node, and when each is to be evaluated next. A heartbeat only updates its record; the deadline in
 * the heap is moved when it comes up, so the cost of a heartbeat does not depend on the number of nodes. Only informer
 * handlers (`observe`) and the monitor pass change the table; evaluating a node changes nothing.
 */
export class HealthTable {
  readonly #graces: NodeGraces;
  readonly #records = new Map<string, HealthRecord>();
  readonly #deadlines = new KeyedHeap();
  /** Nodes whose deadline is a recheck: a heartbeat does not move it. */
  readonly #rechecks = new Set<string>();
  /** The last heartbeat of each node when its silence was confirmed: a newer one invalidates the confirmation. */
  readonly #confirmed = new Map<string, number>();
  /** Nodes that are silent by probes, each with the last heartbeat before them, and the grace period that it got. */
  readonly #proven = new Map<string, { readonly heartbeatAtMs: number; readonly graceMs: number }>();

  /**
   * The grace periods are read at each evaluation: they may change, with a call of {@link gracesChanged}, or of
   * {@link graceChanged} for one node.
   */
  constructor(graces: NodeGraces) {
    this.#graces = graces;
  }

  get(name: string): HealthRecord | undefined {
    return this.#records.get(name);
  }

  /** Number of entries of the largest collection. */
  get size(): number {
    return Math.max(
      this.#records.size,
      this.#deadlines.size,
      this.#rechecks.size,
      this.#confirmed.size,
      this.#proven.size,
    );
  }

  /** Updates the record from the caches and returns it. */
  observe(node: NodeView, lease: LeaseView | undefined, now: Now): HealthRecord {
    const record = buildRecord(this.#records.get(node.name), { node, lease }, now);
    this.#records.set(node.name, record);
    return record;
  }

  /**
   * Whether the node is silent, by its record and by what this state of it shows: that of a live read may not have been
   * observed yet. Changes nothing.
   */
  evaluate(node: NodeView, now: Now): HealthAssessment {
    const known = this.#records.get(node.name);
    const record = buildRecord(known, { node, lease: known?.uid === node.uid ? known.lease : undefined }, now);
    const assessment = assessNode(node, record, now, this.#gracesOf(node.name, record));
    if (assessment.kind !== 'silent') return assessment;
    // That it became Unknown was confirmed. If its lease was renewed since, the watch of nodes may be behind, and that of leases now.
    const wasConfirmed = assessment.conditions.length === 0 && !renewedSinceUnknown(record);
    if (wasConfirmed || this.#confirmed.get(node.name) === record.heartbeatAtMs) return assessment;
    return { ...assessment, kind: 'suspect' };
  }

  /** It sent a heartbeat since it became Unknown, and is not silent again. */
  hasRecovered(node: NodeView, now: Now): boolean {
    return this.#records.get(node.name)?.heartbeatSinceUnknown === true && this.evaluate(node, now).kind !== 'silent';
  }

  /**
   * Schedules the next evaluation from the assessment of the pass. A node that is silent and Unknown in the API has no
   * deadline:
   * it waits for a heartbeat, and for the resync. It does have one while only the response to a write or a read shows
   * it so
   * (`isStored` is false): no event reports when that response is dropped.
   */
  schedule(name: string, assessment: HealthAssessment, nowMs: number, isStored = true): void {
    this.#rechecks.delete(name);
    if (assessment.kind === 'alive') return this.#deadlines.set(name, assessment.silentFromMs);
    const isSettled = assessment.kind === 'silent' && assessment.conditions.length === 0;
    if (isSettled && isStored) return void this.#deadlines.remove(name);
    this.#rechecks.add(name);
    this.#deadlines.set(name, nowMs + recheckMs);
  }

  hasDeadline(name: string): boolean {
    return this.#deadlines.has(name);
  }

  /** A live read found nothing newer than this heartbeat. */
  confirmSilence(name: string, heartbeatAtMs: number): void {
    if (this.#records.get(name)?.heartbeatAtMs === heartbeatAtMs) this.#confirmed.set(name, heartbeatAtMs);
  }

  /** Probes have shown that a node is silent, after so long a time: it is due at once. False if this is not its last heartbeat. */
  proveSilence(name: string, heartbeatAtMs: number, graceMs: number): boolean {
    if (this.#records.get(name)?.heartbeatAtMs !== heartbeatAtMs) return false;
    this.#proven.set(name, { heartbeatAtMs, graceMs });
    this.#moveDeadline(name);
    return true;
  }

  /** The grace period in force for a node; undefined: it is not known. */
  graceOf(name: string): ReturnType<typeof graceOf> | undefined {
    const record = this.#records.get(name);
    return record && graceOf(record, this.#gracesOf(name, record));
  }

  #gracesOf(name: string, { heartbeatAtMs }: HealthRecord): Graces {
    const graces = this.#graces.current(name);
    const proven = this.#proven.get(name);
    return proven?.heartbeatAtMs === heartbeatAtMs ? { ...graces, provenGraceMs: proven.graceMs } : graces;
  }

  /**
   * The grace periods changed: every deadline is computed again. Confirmed silences are read again, because they were
   * read for another grace period.
   */
  gracesChanged(): void {
    this.#confirmed.clear();
    this.#rechecks.clear();
    for (const name of this.#deadlines.keysInOrder()) this.#moveDeadline(name);
  }

  /** The grace period of one node may have changed. */
  graceChanged(name: string): void {
    this.#confirmed.delete(name);
    this.#rechecks.delete(name);
    if (this.#deadlines.has(name)) this.#moveDeadline(name);
  }

  #moveDeadline(name: string): void {
    const record = this.#records.get(name);
    if (record !== undefined) this.#deadlines.set(name, silentFromMs(record, this.#gracesOf(name, record)));
  }

  /** Gives every node a full grace period from now: missed heartbeats of a full disruption do not count. */
  restartGracePeriods(monotonicMs: number): void {
    for (const [name, record] of this.#records) {
      this.#records.set(name, {
        ...record,
        heartbeatAtMs: monotonicMs,
        channel: 'full-disruption-end',
        readyChangedAtMs: monotonicMs,
      });
    }
  }

  forget(name: string): void {
    this.#records.delete(name);
    this.#confirmed.delete(name);
    this.#proven.delete(name);
    this.#rechecks.delete(name);
    this.#deadlines.remove(name);
  }

  /**
   * Removes and returns nodes whose deadline has come. One with a heartbeat meanwhile gets its next deadline instead.
   */
  takeDue(monotonicMs: number): readonly string[] {
    const due: string[] = [];
    for (
      let name = this.#deadlines.popDue(monotonicMs);
      name !== undefined;
      name = this.#deadlines.popDue(monotonicMs)
    ) {
      const movedToMs = this.#movedTo(name);
      if (movedToMs !== undefined && movedToMs > monotonicMs) this.#deadlines.set(name, movedToMs);
      else due.push(name);
    }
    return due;
  }

  #movedTo(name: string): number | undefined {
    const record = this.#rechecks.has(name) ? undefined : this.#records.get(name);
    return record === undefined ? undefined : silentFromMs(record, this.#gracesOf(name, record));
  }

  /** Whether a deadline has come. Up to this time the deadlines must be settled. */
  hasDue(monotonicMs: number): boolean {
    return (this.nextDeadlineMs() ?? Infinity) <= monotonicMs;
  }

  /** The earliest deadline; undefined: there is none. One that is not settled is a lower bound. */
  nextDeadlineMs(): number | undefined {
    return this.#deadlines.peek()?.dueMs;
  }

  /** Moves deadlines up to this time of nodes that sent a heartbeat meanwhile, until the first one is of a node that did not. */
  settleDeadlines(untilMs: number): void {
    for (
      let next = this.#deadlines.peek();
      next !== undefined && next.dueMs <= untilMs;
      next = this.#deadlines.peek()
    ) {
      const movedToMs = this.#movedTo(next.key);
      if (movedToMs === undefined || movedToMs <= next.dueMs) return;
      this.#deadlines.set(next.key, movedToMs);
    }
  }
}

function renewedSinceUnknown({ channel, heartbeatSinceUnknown }: HealthRecord): boolean {
  return channel === 'lease' && heartbeatSinceUnknown;
}
