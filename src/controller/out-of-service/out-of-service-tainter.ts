import { ApiError } from '../../machinery/api/api-error.ts';
import { type NodeView, outOfServiceAnnotation } from '../../machinery/api/node.ts';
import { outOfServiceTaintKey, ownOutOfServiceValue, type Taint } from '../../machinery/api/taints.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { LeaseRead, LiveLeases } from '../../machinery/ports/leases.ts';
import { backOffAtLeast, forget, type WorkOutcome } from '../../machinery/queueing/work-queue.ts';
import { callWithin } from '../../machinery/supervision/call-within.ts';
import type { Command, WriteOutcome } from '../model/commands.ts';
import { nextAfterWrite } from '../model/decide-next-step.ts';
import type { FencingDoubt, OutOfServiceRecord, OutOfServiceState } from '../model/out-of-service.ts';
import type { OutOfServiceRule } from '../model/policy.ts';
import type { Holds } from '../model/holds.ts';
import { endingOf, TaintAdditions } from '../model/taint-additions.ts';
import { assessOutOfService } from './assess-out-of-service.ts';
import { decideOrder } from './decide-order.ts';
import { addedOutOfService, backInService, fencingNotProven, neverFenced } from './events.ts';
import type { EvidenceWatch } from './evidence-watch.ts';
import { outOfServiceTaints } from './metrics.ts';
import type { StageDependencies } from '../model/dependencies.ts';

/** A node that is held is evaluated again after this time at the latest. */
const heldRecheckMs = 10_000;
/** A lease without a response after this time counts as unreadable, whatever happens to the request. */
const answerMsMax = 10_000;
/** Maximum age of the live read of a lease when the taint is written. */
const confirmedMsMax = 5_000;

interface OutOfServiceTainterOptions extends StageDependencies {
  /** Rule of the policy of a node; undefined: the taint is not added. */
  readonly ruleOf: (node: string) => OutOfServiceRule | undefined;
  /** No heartbeat within the grace period, as of now. */
  readonly isSilent: (node: NodeView) => boolean;
  /** When evidence appeared. */
  readonly evidence: EvidenceWatch;
  /** `renewTime` of the lease of this node. */
  readonly renewedAt: (node: string) => string | undefined;
  readonly live: Pick<LiveLeases, 'readOne'>;
  /** Aborts reads in flight. */
  readonly signal: AbortSignal;
  readonly holds: Holds;
  readonly recorder: EventRecorder;
}

type TaintCommand = Extract<Command, { readonly kind: 'change-taints' }>;
type NotProven = Extract<OutOfServiceState, { readonly kind: FencingDoubt }>;

interface GuardedCommand {
  readonly command: TaintCommand;
  /** Whether what was read live for it is recent. */
  readonly isConfirmed: () => boolean;
}

/** Adds the taint out-of-service to nodes that are proven to be fenced, and removes it from those that are back. */
export class OutOfServiceTainter {
  readonly #options: OutOfServiceTainterOptions;
  readonly #additions: TaintAdditions;
  /** Nodes that would get the taint, and were held when they were evaluated last. */
  readonly #held = new Set<string>();
  /** The last report about each node whose evidence is wrong, proves nothing or cannot be confirmed: it is not repeated. */
  readonly #reported = new Map<string, string>();

  constructor(options: OutOfServiceTainterOptions) {
    this.#options = options;
    this.#additions = new TaintAdditions(options.clock);
  }

  /** Nodes to which the taint is being added, or may have been. */
  beingTainted(): ReadonlyMap<string, unknown> {
    return this.#additions.current();
  }

  heldNodes(): Iterable<string> {
    return this.#held;
  }

  /** What the current state of this node requires. The outcome says whether it is to be evaluated again. */
  async reconcile(name: string): Promise<WorkOutcome> {
    this.#held.delete(name);
    const node = this.#options.nodes.get(name);
    if (node === undefined) return forget;
    const state = this.assess(node);
    if (state.kind === 'due') return this.#add(node, state.evidence);
    if (state.kind === 'same-boot') return this.#reportNeverFenced(node, state.record);
    if ((state.kind === 'unordered' || state.kind === 'disproved') && state.isEvicted)
      return this.#reportNotProven(node, state);
    this.#reported.delete(name);
    return state.kind === 'back' ? this.#remove(node, state.record) : forget;
  }

  assess(node: NodeView): OutOfServiceState {
    const { ruleOf, isSilent, evidence: watch, renewedAt } = this.#options;
    return assessOutOfService(node, {
      rule: ruleOf(node.name),
      isSilent: isSilent(node),
      orderOf: (evidence) =>
        decideOrder(watch.isTimeRewritten(node, evidence) ? { ...evidence, atMs: undefined } : evidence, {
          observed: watch.orderOf(node, evidence),
          node,
          renewedAt: renewedAt(node.name),
        }),
    });
  }

  /** The node no longer exists. */
  forget(name: string): void {
    this.#reported.delete(name);
    this.#held.delete(name);
    this.#options.evidence.forget(name);
  }

  /** Number of nodes that it remembers. */
  get size(): number {
    return Math.max(this.#reported.size, this.#held.size, this.#options.evidence.size);
  }

  /** The node has its place from the question on, so that no other gets it during the read. */
  async #add(node: NodeView, evidence: string): Promise<WorkOutcome> {
    const heldMs = this.#options.holds.heldForMs(node.name, 'add-out-of-service');
    if (heldMs > 0) {
      this.#held.add(node.name);
      return { next: 'requeue', afterMs: Math.min(heldMs, heldRecheckMs) };
    }
    this.#additions.begin(node.name);
    try {
      return await this.#addConfirmed(node, evidence);
    } finally {
      this.#additions.end(node.name, 'not-done');
    }
  }

  async #addConfirmed(node: NodeView, evidence: string): Promise<WorkOutcome> {
    const { clock, meter, decisions, recorder } = this.#options;
    const waitMs = await this.#confirm(node, evidence);
    if (waitMs !== undefined) return { next: 'requeue', afterMs: waitMs };
    const confirmedAtMs = clock.monotonicMs();
    const isConfirmed = (): boolean => clock.monotonicMs() - confirmedAtMs <= confirmedMsMax;
    const addedAt = formatTime(clock.nowMs());
    const record: OutOfServiceRecord = { bootID: node.bootID, evidence, addedAt };
    const taint: Taint = {
      key: outOfServiceTaintKey,
      value: ownOutOfServiceValue,
      effect: 'NoExecute',
      timeAdded: addedAt,
    };
    const annotations = { [outOfServiceAnnotation]: JSON.stringify(record) };
    const command = { kind: 'change-taints', node, add: [taint], remove: [], annotations, lane: 'tainting' } as const;
    return this.#write({ command, isConfirmed }, () => {
      meter.add(outOfServiceTaints, 1, { change: 'added' });
      decisions.note({ kind: 'out-of-service-added', node: node.name, evidence, bootID: node.bootID });
      recorder.record(addedOutOfService(node, evidence));
    });
  }

  /** Removes the taint and the record; only the record where an administrator replaced the taint. */
  async #remove(node: NodeView, record: OutOfServiceRecord): Promise<WorkOutcome> {
    const { meter, decisions, recorder } = this.#options;
    const remove = node.taints.filter(
      ({ key, value }) => key === outOfServiceTaintKey && value === ownOutOfServiceValue,
    );
    const annotations = { [outOfServiceAnnotation]: null };
    const command = { kind: 'change-taints', node, add: [], remove, annotations, lane: 'recovery' } as const;
    return this.#write({ command, isConfirmed: () => true }, () => {
      meter.add(outOfServiceTaints, 1, { change: 'removed' });
      decisions.note({ kind: 'out-of-service-removed', node: node.name, bootID: node.bootID, fenced: record.bootID });
      recorder.record(backInService(node));
    });
  }

  /**
   * Nodes and leases come by two watches, which are not of one moment: the lease is read live before the write. Undefined: no
   * heartbeat came after the evidence. Else when to evaluate the node again: no maximum ends this wait, because nothing else
   * shows that the machine is off.
   */
  async #confirm(node: NodeView, evidence: string): Promise<number | undefined> {
    const read = await this.#readLease(node.name);
    if (read.kind === 'unreadable') {
      const { name, bootID } = node;
      const { reason } = read.error;
      if (this.#isNews(name, `not-confirmed ${reason}`))
        this.#options.decisions.note({ kind: 'fencing-not-confirmed', node: name, evidence, bootID, reason });
      return heldRecheckMs;
    }
    const renewTime = read.kind === 'found' ? read.lease.renewTime : undefined;
    return this.#options.evidence.confirm(node.name, renewTime) ? undefined : heldRecheckMs;
  }

  async #readLease(node: string): Promise<LeaseRead> {
    const { live, clock, signal } = this.#options;
    try {
      return await callWithin({ clock, signal, ms: answerMsMax }, () => live.readOne(node));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { kind: 'unreadable', error };
    }
  }

  async #write({ command, isConfirmed }: GuardedCommand, onWritten: () => void): Promise<WorkOutcome> {
    const wanted = this.assess(command.node).kind;
    const isStill = (): boolean => isConfirmed() && this.#isStill(wanted, command);
    const { name } = command.node;
    const adds = command.add.length > 0;
    if (adds) this.#additions.begin(name);
    let outcome: WriteOutcome | undefined;
    try {
      outcome = await this.#options.writer.carryOut(command, isStill);
    } finally {
      if (adds) this.#additions.end(name, endingOf(outcome));
    }
    if (outcome.result === 'written') onWritten();
    return nextAfterWrite(outcome, backOffAtLeast(undefined));
  }

  /**
   * Whether the state still requires the write, immediately before the request: this boot of this node, and nothing
   * holds it.
   */
  #isStill(wanted: OutOfServiceState['kind'], { node, add }: TaintCommand): boolean {
    const { nodes, holds } = this.#options;
    const current = nodes.get(node.name);
    if (current?.uid !== node.uid || current.bootID !== node.bootID) return false;
    if (add.length > 0 && holds.heldForMs(node.name, 'add-out-of-service') > 0) return false;
    return this.assess(current).kind === wanted;
  }

  #reportNeverFenced(node: NodeView, { evidence }: OutOfServiceRecord): WorkOutcome {
    if (!this.#isNews(node.name, 'never-fenced')) return forget;
    const { decisions, recorder } = this.#options;
    decisions.note({ kind: 'never-fenced', node: node.name, evidence, bootID: node.bootID });
    recorder.record(neverFenced(node, evidence));
    return forget;
  }

  #reportNotProven(node: NodeView, { kind, evidence }: NotProven): WorkOutcome {
    if (!this.#isNews(node.name, `${kind} ${evidence}`)) return forget;
    const { decisions, recorder } = this.#options;
    decisions.note({ kind: 'fencing-not-proven', node: node.name, evidence, bootID: node.bootID, why: kind });
    recorder.record(fencingNotProven(node, evidence, kind));
    return forget;
  }

  #isNews(node: string, report: string): boolean {
    if (this.#reported.get(node) === report) return false;
    this.#reported.set(node, report);
    return true;
  }
}
