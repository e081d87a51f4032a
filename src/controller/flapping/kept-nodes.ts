import type { Clock } from '../../ports/clock.ts';
import type { AppliedFlappingRule } from '../model/flapping.ts';
import { budgetOf } from './decide-level.ts';

/** The nodes of a policy are counted at most this often: many nodes may recover at once. */
const recountMs = 1_000;

/** Number of kept nodes of a policy, and how many may be kept at once. */
export interface BudgetUsage {
  readonly kept: number;
  readonly limit: number;
}

interface KeptNodesOptions {
  /** The policy of each node; undefined: none. */
  readonly policyOf: (node: string) => string | undefined;
  /** Names of all nodes. */
  readonly names: () => Iterable<string>;
  /** The node is to be kept, and is not yet. */
  readonly isDue: (node: string) => boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * Which nodes have the taint, as far as their last observation shows, and which are about to get it: so many of a policy use
 * up its budget.
 */
export class KeptNodes {
  readonly #options: KeptNodesOptions;
  readonly #kept = new Set<string>();
  /** Each has a place in the budget until it is kept or no longer due. */
  readonly #reserved = new Set<string>();
  #sizes: { readonly atMs: number; readonly byPolicy: ReadonlyMap<string, number> } | undefined;

  constructor(options: KeptNodesOptions) {
    this.#options = options;
  }

  /** The node was observed with or without the taint. */
  note(node: string, isKept: boolean): void {
    if (isKept) this.#kept.add(node);
    else this.#kept.delete(node);
    if (isKept || !this.#options.isDue(node)) this.#reserved.delete(node);
  }

  /** Reserves a place for the node. False: the budget is used up by other nodes. */
  reserve(node: string, applied: AppliedFlappingRule): boolean {
    if (!this.allows(node, applied)) return false;
    this.#reserved.add(node);
    return true;
  }

  /** Whether the node may be kept: it is already, or others leave a place. */
  allows(node: string, { policy, rule }: AppliedFlappingRule): boolean {
    if (this.#kept.has(node)) return true;
    this.#dropSettled();
    const others = new Set([...this.#kept, ...this.#reserved]);
    others.delete(node);
    return this.#count(others, policy) < budgetOf(rule, this.#sizeOf(policy));
  }

  usage({ policy, rule }: AppliedFlappingRule): BudgetUsage {
    return { kept: this.#count(this.#kept, policy), limit: budgetOf(rule, this.#sizeOf(policy)) };
  }

  forget(node: string): void {
    this.#kept.delete(node);
    this.#reserved.delete(node);
  }

  get size(): number {
    return Math.max(this.#kept.size, this.#reserved.size);
  }

  #dropSettled(): void {
    for (const node of this.#reserved) if (!this.#options.isDue(node)) this.#reserved.delete(node);
  }

  #count(nodes: Iterable<string>, policy: string): number {
    let count = 0;
    for (const node of nodes) if (this.#options.policyOf(node) === policy) count += 1;
    return count;
  }

  #sizeOf(policy: string): number {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#sizes === undefined || nowMs - this.#sizes.atMs >= recountMs) this.#recount(nowMs);
    return this.#sizes?.byPolicy.get(policy) ?? 0;
  }

  #recount(atMs: number): void {
    const byPolicy = new Map<string, number>();
    for (const node of this.#options.names()) {
      const policy = this.#options.policyOf(node);
      if (policy !== undefined) byPolicy.set(policy, (byPolicy.get(policy) ?? 0) + 1);
    }
    this.#sizes = { atMs, byPolicy };
  }
}
