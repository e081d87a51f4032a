import { type NodeView, outOfServiceAnnotation } from '../../api/node.ts';
import { outOfServiceTaintKey, type Taint } from '../../api/taints.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Meter } from '../../ports/meter.ts';
import { backOffAtLeast, forget, type WorkOutcome } from '../../queueing/work-queue.ts';
import { type Command, type CommandWriter, nextAfterWrite, type NodeSource } from '../model/commands.ts';
import type { DecisionSink } from '../model/decisions.ts';
import type { OutOfServiceRecord, OutOfServiceState } from '../model/out-of-service.ts';
import type { OutOfServiceRule } from '../model/policy.ts';
import { assessOutOfService } from './assess-out-of-service.ts';
import { addedOutOfService, backInService, neverFenced } from './events.ts';
import { outOfServiceTaints } from './metrics.ts';

/** Of the taint, so that one of an administrator is never removed. */
const ownValue = 'node-lifecycle-controller';
/** A node that is held is evaluated again after this time at the latest. */
const heldRecheckMs = 10_000;

interface OutOfServiceTainterOptions {
  readonly nodes: NodeSource;
  readonly writer: CommandWriter;
  /** Of the policy of this node; undefined: the taint is not added. */
  readonly ruleOf: (node: string) => OutOfServiceRule | undefined;
  /** No heartbeat within the grace period, as of now. */
  readonly isSilent: (node: NodeView) => boolean;
  /** Milliseconds for which no NoExecute taint is added to this node; 0: not held. */
  readonly heldForMs: (node: string) => number;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
}

type TaintCommand = Extract<Command, { readonly kind: 'change-taints' }>;

/** Adds the taint out-of-service to nodes that are proven to be fenced, and removes it from those that are back. */
export class OutOfServiceTainter {
  readonly #options: OutOfServiceTainterOptions;
  /** Nodes that returned in the boot that was said to be fenced: reported once. */
  readonly #neverFenced = new Set<string>();

  constructor(options: OutOfServiceTainterOptions) {
    this.#options = options;
  }

  /** What the current state of this node requires. The outcome says whether it is to be evaluated again. */
  async reconcile(name: string): Promise<WorkOutcome> {
    const node = this.#options.nodes.get(name);
    if (node === undefined) return forget;
    const state = this.assess(node);
    if (state.kind !== 'same-boot') this.#neverFenced.delete(name);
    if (state.kind === 'due') return this.#add(node, state.evidence);
    if (state.kind === 'back') return this.#remove(node, state.record);
    if (state.kind === 'same-boot') this.#reportNeverFenced(node, state.record);
    return forget;
  }

  assess(node: NodeView): OutOfServiceState {
    const { ruleOf, isSilent } = this.#options;
    return assessOutOfService(node, { rule: ruleOf(node.name), isSilent: isSilent(node) });
  }

  /** The node no longer exists. */
  forget(name: string): void {
    this.#neverFenced.delete(name);
  }

  /** Number of nodes that it remembers. */
  get size(): number {
    return this.#neverFenced.size;
  }

  async #add(node: NodeView, evidence: string): Promise<WorkOutcome> {
    const { heldForMs, clock, meter, decisions, recorder } = this.#options;
    const heldMs = heldForMs(node.name);
    if (heldMs > 0) return { next: 'requeue', afterMs: Math.min(heldMs, heldRecheckMs) };
    const addedAt = formatTime(clock.nowMs());
    const record: OutOfServiceRecord = { bootID: node.bootID, evidence, addedAt };
    const taint: Taint = { key: outOfServiceTaintKey, value: ownValue, effect: 'NoExecute', timeAdded: addedAt };
    const annotations = { [outOfServiceAnnotation]: JSON.stringify(record) };
    return this.#write({ kind: 'change-taints', node, add: [taint], remove: [], annotations, lane: 'tainting' }, () => {
      meter.add(outOfServiceTaints, 1, { change: 'added' });
      decisions.note({ kind: 'out-of-service-added', node: node.name, evidence, bootID: node.bootID });
      recorder.record(addedOutOfService(node, evidence));
    });
  }

  /** Of an administrator who replaced the taint only the record is removed. */
  async #remove(node: NodeView, record: OutOfServiceRecord): Promise<WorkOutcome> {
    const { meter, decisions, recorder } = this.#options;
    const remove = node.taints.filter(({ key, value }) => key === outOfServiceTaintKey && value === ownValue);
    const annotations = { [outOfServiceAnnotation]: null };
    return this.#write({ kind: 'change-taints', node, add: [], remove, annotations, lane: 'recovery' }, () => {
      meter.add(outOfServiceTaints, 1, { change: 'removed' });
      decisions.note({ kind: 'out-of-service-removed', node: node.name, bootID: node.bootID, fenced: record.bootID });
      recorder.record(backInService(node));
    });
  }

  async #write(command: TaintCommand, onWritten: () => void): Promise<WorkOutcome> {
    const wanted = this.assess(command.node).kind;
    const outcome = await this.#options.writer.carryOut(command, () => this.#isStill(wanted, command));
    if (outcome.result === 'written') onWritten();
    return nextAfterWrite(outcome, backOffAtLeast(undefined));
  }

  /** From current state, immediately before the request: this boot of this node, and nothing holds it. */
  #isStill(wanted: OutOfServiceState['kind'], { node, add }: TaintCommand): boolean {
    const { nodes, heldForMs } = this.#options;
    const current = nodes.get(node.name);
    if (current?.uid !== node.uid || current.bootID !== node.bootID) return false;
    return this.assess(current).kind === wanted && (add.length === 0 || heldForMs(node.name) === 0);
  }

  #reportNeverFenced(node: NodeView, record: OutOfServiceRecord): void {
    if (this.#neverFenced.has(node.name)) return;
    this.#neverFenced.add(node.name);
    const { decisions, recorder } = this.#options;
    decisions.note({ kind: 'never-fenced', node: node.name, evidence: record.evidence, bootID: record.bootID });
    recorder.record(neverFenced(node, record.evidence));
  }
}
