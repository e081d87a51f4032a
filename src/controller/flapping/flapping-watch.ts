import type { NodeView } from '../../machinery/api/node.ts';
import { isHealthTaint } from '../../machinery/api/taints.ts';
import { KeyedHeap } from '../../machinery/queueing/keyed-heap.ts';
import { type Clock, instantOf } from '../../machinery/ports/clock.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { AppliedFlappingRule, FlappingReport, FlappingState } from '../model/flapping.ts';
import type { NodePolicy, PolicySelection } from '../model/policy.ts';
import { assessFlapping, isTaintedFlapping } from './assess-flapping.ts';
import { type BudgetUsage, FlappingBudget } from './flapping-budget.ts';
import { RecoveryHistory } from './recovery-history.ts';

interface FlappingWatchOptions {
  readonly options: Live<{ readonly policies: readonly NodePolicy[] }>;
  /** Names of all nodes. */
  readonly names: () => Iterable<string>;
  readonly selectionOf: (node: string) => PolicySelection;
  /** Whether a node is in planned maintenance: its recovery does not count. */
  readonly isMaintained: (node: string) => boolean;
  /** Whether a node is silent because of a ControlPlanePathFailure: its recovery does not count. */
  readonly isPathFailure: (node: string) => boolean;
  /** False: neither taint nor annotation has a meaning for this process. */
  readonly isEnabled: boolean;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
}

const none: FlappingState = { kind: 'none' };

/**
 * Which nodes flap, which of them are kept, and when that ends for each. On standbys too, so that a new leader goes on
 * counting. Nothing is remembered of nodes whose policy has no rule for it.
 */
export class FlappingWatch {
  readonly budget: FlappingBudget;
  readonly #options: FlappingWatchOptions;
  readonly #history = new RecoveryHistory();
  /** Ends in wall time; each is taken once, and set again while it is in the future. */
  readonly #ends = new KeyedHeap();

  constructor(options: FlappingWatchOptions) {
    this.#options = options;
    this.budget = new FlappingBudget({ ...options, policyOf: (node) => this.#policyOf(node)?.name });
  }

  /** Takes the current state of a node. Level-triggered: may be called at any time. */
  observe(node: NodeView): FlappingState {
    if (!this.#options.isEnabled) return none;
    const { name } = node;
    const applied = this.#appliedTo(name);
    if (applied === undefined) this.#history.forget(name);
    else {
      const isMaintained = this.#options.isMaintained(name);
      const isPathFailure = this.#options.isPathFailure(name);
      this.#history.observe(node, {
        rule: applied.rule,
        now: instantOf(this.#options.clock),
        isMaintained,
        isPathFailure,
      });
    }
    const state = this.assess(node);
    this.budget.note(name, { isTainted: isTaintedFlapping(node), isDue: state.kind === 'due' });
    // One that has come is handled now, and again by the resync.
    if (state.kind === 'kept') this.#ends.set(name, state.record.untilMs);
    else this.#ends.remove(name);
    return state;
  }

  /** What a state of a node requires. Changes nothing. */
  assess(node: NodeView): FlappingState {
    if (!this.#options.isEnabled) return none;
    const { monotonicMs, wallMs } = instantOf(this.#options.clock);
    const due = this.#history.dueOf(node.name, { monotonicMs });
    return assessFlapping(node, { applied: this.#appliedTo(node.name), due, wallMs });
  }

  /** Flapping of a node, for reports. */
  reportOf(node: NodeView): FlappingReport {
    const rule = this.#appliedTo(node.name)?.rule;
    const recoveries =
      rule === undefined ? 0 : this.#history.recoveriesOf(node.name, rule, instantOf(this.#options.clock));
    return { state: this.assess(node), recoveries, rule };
  }

  /** Usage of the budget of each policy with a rule, by name. */
  usages(): ReadonlyMap<string, BudgetUsage> {
    const ruled = this.#options.options.current().policies.flatMap(({ name, flapping: rule }) => {
      return rule === undefined ? [] : [{ policy: name, rule }];
    });
    return new Map(ruled.map((applied) => [applied.policy, this.budget.usage(applied)]));
  }

  /** The node is not kept after its last recovery. */
  settle(node: string): void {
    this.#history.settle(node);
  }

  /**
   * Begins leadership. A node without the health taints was handled by the leader before: it has pods, and is kept from
   * new ones only if it has the record.
   */
  takeOver(nodes: Iterable<NodeView>): void {
    for (const node of nodes) if (!node.taints.some(isHealthTaint)) this.settle(node.name);
  }

  /** Counting starts again. */
  reset(node: string): void {
    this.#history.reset(node);
  }

  /** Milliseconds until the first end; Infinity without one. */
  endsInMs(): number {
    return this.#ends.dueInMs(this.#options.clock.nowMs());
  }

  /** Nodes that are kept no longer: each is to be evaluated. */
  takeEnded(): readonly string[] {
    return this.#ends.takeDue(this.#options.clock.nowMs());
  }

  forget(node: string): void {
    this.#history.forget(node);
    this.budget.forget(node);
    this.#ends.remove(node);
  }

  /** Number of entries of the largest collection. */
  get size(): number {
    return Math.max(this.#history.size, this.budget.size, this.#ends.size);
  }

  #appliedTo(node: string): AppliedFlappingRule | undefined {
    const policy = this.#policyOf(node);
    return policy?.flapping === undefined ? undefined : { policy: policy.name, rule: policy.flapping };
  }

  #policyOf(node: string): NodePolicy | undefined {
    const selection = this.#options.selectionOf(node);
    return selection.kind === 'policy' ? selection.policy : undefined;
  }
}
