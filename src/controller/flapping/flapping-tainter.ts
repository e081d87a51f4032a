// Keeps nodes that recover often from new pods for a while: a NoSchedule taint takes the place of the health taints. No pod is
// evicted, and NoExecute taints are removed as from any other node.
import { flappingAnnotation, type NodeView } from '../../machinery/api/node.ts';
import { flappingTaintKey, isHealthTaint, type Taint } from '../../machinery/api/taints.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import { backOffAtLeast, forget, type WorkOutcome } from '../../machinery/queueing/work-queue.ts';
import { type Command, mayHaveBeenDone, type WriteOutcome } from '../model/commands.ts';
import { nextAfterWrite } from '../model/decide-next-step.ts';
import {
  type AppliedFlappingRule,
  describeFlappingEnd,
  type DueKeeping,
  type FlappingEnd,
  type FlappingState,
} from '../model/flapping.ts';
import { isTaintedFlapping } from './assess-flapping.ts';
import { keptFlapping, malformedFlapping, releasedFlapping } from './events.ts';
import type { FlappingWatch } from './flapping-watch.ts';
import { flappingNodes, flappingRecoveries } from './metrics.ts';
import { formatRecord } from './parse-flapping-record.ts';
import { isReady } from './recovery-history.ts';
import type { BudgetUsage } from './flapping-budget.ts';
import type { StageDependencies } from '../model/dependencies.ts';

/** The removal of the health taints waits for this taint at most so long after the recovery. */
const togetherMsMax = 5_000;
const repeatMsMin = 100;

interface FlappingTainterOptions extends StageDependencies {
  readonly watch: FlappingWatch;
  readonly recorder: EventRecorder;
}

interface FlappingOutcome {
  /** Whether the node is to be evaluated again. */
  readonly work: WorkOutcome;
  /** The write that removes the health taints and adds this one is about to be repeated: they are not to be removed before. */
  readonly isReplacing: boolean;
}

type TaintCommand = Extract<Command, { readonly kind: 'change-taints' }>;
type Due = Extract<FlappingState, { readonly kind: 'due' }>;

interface TaintedRecovery extends AppliedFlappingRule {
  readonly due: DueKeeping;
  /** Wall time. */
  readonly untilMs: number;
}

/** A write for which no response was received. */
interface Unanswered {
  readonly text: string;
  readonly onWritten: () => void;
}

const settled: FlappingOutcome = { work: forget, isReplacing: false };

export class FlappingTainter {
  readonly #options: FlappingTainterOptions;
  readonly #unanswered = new Map<string, Unanswered>();

  constructor(options: FlappingTainterOptions) {
    this.#options = options;
    showFlappingNodes(options.meter, () => options.watch.usages());
  }

  /** What the current state of this node requires; undefined: nothing is to be written. */
  reconcile(name: string): Promise<FlappingOutcome> | undefined {
    const { nodes, watch } = this.#options;
    const node = nodes.get(name);
    if (node === undefined) return undefined;
    const state = watch.observe(node);
    this.#settleUnanswered(node, state);
    if (state.kind === 'none' || state.kind === 'kept') return undefined;
    return state.kind === 'due' ? this.#addTaint(node, state) : this.#release(node, state.kind);
  }

  /** The node no longer exists. */
  forget(name: string): void {
    this.#options.watch.forget(name);
    this.#unanswered.delete(name);
  }

  /** Number of nodes that it remembers. */
  get size(): number {
    return Math.max(this.#options.watch.size, this.#unanswered.size);
  }

  async #addTaint(node: NodeView, state: Due): Promise<FlappingOutcome> {
    const { watch } = this.#options;
    const { policy, rule, due } = state;
    if (!watch.budget.reserve(node.name, state)) {
      this.#noteOverBudget(node.name, state);
      return settled;
    }
    const untilMs = this.#wallMsOf(due.untilMs);
    const text = formatRecord(due.level, untilMs);
    const command = this.#addition(node, text);
    const onWritten = (): void => this.#noteKept(command, { policy, rule, due, untilMs });
    const outcome = await this.#options.writer.carryOut(command, () => this.#isStillDue(node, due));
    if (outcome.result === 'written') this.#settle(node.name, onWritten);
    // It reserves a place again when the hold ends.
    if (outcome.result === 'held') watch.budget.note(node.name, { isTainted: isTaintedFlapping(node), isDue: false });
    if (mayHaveBeenDone(outcome) && this.#exists(node)) this.#unanswered.set(node.name, { text, onWritten });
    const afterMs = this.#repeatsInMs(outcome, due);
    if (afterMs !== undefined) return { work: { next: 'requeue', afterMs }, isReplacing: true };
    return { work: nextAfterWrite(outcome, backOffAtLeast(undefined)), isReplacing: false };
  }

  /** Always with the taint, also where the node has it: to be kept for longer is held as an addition is. */
  #addition(node: NodeView, text: string): TaintCommand {
    const timeAdded = formatTime(this.#options.clock.nowMs());
    const taint: Taint = { key: flappingTaintKey, effect: 'NoSchedule', timeAdded };
    const remove = node.taints.filter(isHealthTaint);
    const annotations = { [flappingAnnotation]: text };
    return { kind: 'change-taints', node, add: [taint], remove, annotations, lane: 'recovery' };
  }

  /**
   * Whether the taint is still due, from current state, immediately before the request: the same node, Ready, after the
   * same recovery.
   */
  #isStillDue({ name, uid }: NodeView, { level, recoveredAtMs }: DueKeeping): boolean {
    const { nodes, watch } = this.#options;
    const node = nodes.get(name);
    if (node?.uid !== uid || !isReady(node)) return false;
    const state = watch.assess(node);
    if (state.kind !== 'due' || state.due.level !== level || state.due.recoveredAtMs !== recoveredAtMs) return false;
    return watch.budget.allows(name, state);
  }

  /**
   * When the write is repeated while the health taints wait for it; undefined: they wait no longer. Not the backoff of the
   * node, which may be longer than they wait: each time is as long as all before it.
   */
  #repeatsInMs(outcome: WriteOutcome, { recoveredAtMs }: DueKeeping): number | undefined {
    if (outcome.result !== 'failed' && outcome.result !== 'unwanted') return undefined;
    const sinceMs = this.#options.clock.monotonicMs() - recoveredAtMs;
    const leftMs = togetherMsMax - sinceMs;
    const requestedMs = outcome.result === 'failed' ? (outcome.retryAfterMs ?? 0) : 0;
    if (leftMs <= requestedMs) return undefined;
    return Math.min(leftMs, Math.max(repeatMsMin, requestedMs, sinceMs));
  }

  async #release(node: NodeView, why: FlappingEnd): Promise<FlappingOutcome> {
    const { writer, watch, nodes } = this.#options;
    const remove = node.taints.filter(({ key }) => key === flappingTaintKey);
    const annotations = { [flappingAnnotation]: null };
    const command = { kind: 'change-taints', node, add: [], remove, annotations, lane: 'recovery' } as const;
    const outcome = await writer.carryOut(command, () => {
      const current = nodes.get(node.name);
      return current?.uid === node.uid && watch.assess(current).kind === why;
    });
    if (outcome.result === 'written') this.#noteReleased(node, why);
    return { work: nextAfterWrite(outcome, backOffAtLeast(undefined)), isReplacing: false };
  }

  /** The response to a write was lost, and the node shows now that it was applied. */
  #settleUnanswered({ name, flapping }: NodeView, { kind }: FlappingState): void {
    const unanswered = this.#unanswered.get(name);
    if (unanswered !== undefined && flapping === unanswered.text) this.#settle(name, unanswered.onWritten);
    else if (kind !== 'due') this.#unanswered.delete(name);
  }

  #settle(name: string, onWritten: () => void): void {
    this.#unanswered.delete(name);
    onWritten();
  }

  #exists({ name, uid }: NodeView): boolean {
    return this.#options.nodes.get(name)?.uid === uid;
  }

  #wallMsOf(monotonicMs: number): number {
    const { clock } = this.#options;
    return clock.nowMs() + monotonicMs - clock.monotonicMs();
  }

  #noteKept({ node, remove }: TaintCommand, kept: TaintedRecovery): void {
    const { meter, decisions, recorder } = this.#options;
    const added = node.taints.some(({ key }) => key === flappingTaintKey) ? [] : [`${flappingTaintKey}:NoSchedule`];
    const removed = remove.map(({ key, effect }) => `${key}:${effect}`);
    if (added.length + removed.length > 0)
      decisions.note({ kind: 'taints-changed', node: node.name, added, removed, why: 'node-ready' });
    const { policy, rule, due, untilMs } = kept;
    const { level, recoveries } = due;
    meter.add(flappingRecoveries, 1, { policy, result: 'kept' });
    const { withinMs } = rule;
    decisions.note({ kind: 'flapping-kept', node: node.name, policy, level, recoveries, withinMs, untilMs });
    recorder.record(keptFlapping(node, { recoveries, rule, untilMs }));
  }

  #noteReleased(node: NodeView, why: FlappingEnd): void {
    const { decisions, recorder, watch } = this.#options;
    if (why === 'malformed') watch.reset(node.name);
    decisions.note({ kind: 'flapping-released', node: node.name, why });
    if (why === 'malformed') recorder.record(malformedFlapping(node));
    else recorder.record(releasedFlapping(node, describeFlappingEnd(why)));
  }

  /** Final for this recovery: the node has pods by the time at which another one is released. */
  #noteOverBudget(node: string, state: Due): void {
    const { meter, decisions, watch } = this.#options;
    const { policy, rule, due } = state;
    watch.settle(node);
    meter.add(flappingRecoveries, 1, { policy, result: 'over_budget' });
    const { recoveries } = due;
    const { withinMs } = rule;
    decisions.note({ kind: 'flapping-not-kept', node, policy, recoveries, withinMs, ...watch.budget.usage(state) });
  }
}

/** Sets the gauge of each policy at each scrape; nothing without such a policy. */
function showFlappingNodes(meter: Meter, usages: () => ReadonlyMap<string, BudgetUsage>): void {
  let shown: ReadonlyMap<string, BudgetUsage> = new Map();
  meter.onRead(() => {
    for (const policy of shown.keys()) meter.forget(flappingNodes, { policy });
    shown = usages();
    for (const [policy, { kept }] of shown) meter.set(flappingNodes, kept, { policy });
  });
}
