import type { Clock } from '../../machinery/ports/clock.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { AppliedFlappingRule } from '../model/flapping.ts';
import type { NodePolicy } from '../model/policy.ts';
import { budgetOf } from './decide-level.ts';

/** The nodes of the same policies are counted at most this often: many nodes may recover at once. */
const recountMs = 1_000;

/** Number of kept nodes of a policy, and how many may be kept at once. */
export interface BudgetUsage {
  readonly kept: number;
  readonly limit: number;
}

interface FlappingBudgetOptions {
  readonly options: Live<{ readonly policies: readonly NodePolicy[] }>;
  /** The policy of each node; undefined: none. */
  readonly policyOf: (node: string) => string | undefined;
  /** Names of all nodes. */
  readonly names: () => Iterable<string>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Number of nodes of each policy, by name. */
interface Sizes {
  readonly policies: readonly NodePolicy[];
  readonly atMs: number;
  readonly byPolicy: ReadonlyMap<string, number>;
}

interface Place {
  readonly policy: string | undefined;
  /** False: it is about to get the taint. */
  readonly isTainted: boolean;
}

/**
 * Which nodes have the taint, as far as their last observation shows, and which are about to get it: so many of a policy use
 * up its budget. An update and a question cost the same for any number of them.
 */
export class FlappingBudget {
  readonly #options: FlappingBudgetOptions;
  readonly #places = new Map<string, Place>();
  /** Numbers of each policy: nodes that have a place, and those of them that have the taint. */
  readonly #counts = new Map<string | undefined, { places: number; kept: number }>();
  #sizes: Sizes | undefined;

  constructor(options: FlappingBudgetOptions) {
    this.#options = options;
  }

  /** The node was observed with or without the taint. A place is reserved only while it is due. */
  note(node: string, { isTainted, isDue }: { readonly isTainted: boolean; readonly isDue: boolean }): void {
    if (isTainted) this.#set(node, true);
    else if (isDue && this.#places.has(node)) this.#set(node, false);
    else this.forget(node);
  }

  /** Reserves a place for the node. False: the budget is used up by other nodes. */
  reserve(node: string, applied: AppliedFlappingRule): boolean {
    if (!this.allows(node, applied)) return false;
    if (!this.#places.has(node)) this.#set(node, false);
    return true;
  }

  /** Whether the node may be kept: it is already, or others leave a place. */
  allows(node: string, { policy, rule }: AppliedFlappingRule): boolean {
    const own = this.#places.get(node);
    if (own?.isTainted === true) return true;
    const others = this.#countOf(policy).places - (own?.policy === policy ? 1 : 0);
    return others < budgetOf(rule, this.#sizeOf(policy));
  }

  usage({ policy, rule }: AppliedFlappingRule): BudgetUsage {
    return { kept: this.#countOf(policy).kept, limit: budgetOf(rule, this.#sizeOf(policy)) };
  }

  forget(node: string): void {
    const place = this.#places.get(node);
    if (place === undefined) return;
    this.#places.delete(node);
    this.#add(place, -1);
  }

  /** Number of nodes that have a place. */
  get size(): number {
    return this.#places.size;
  }

  #set(node: string, isTainted: boolean): void {
    this.forget(node);
    const place = { policy: this.#options.policyOf(node), isTainted };
    this.#places.set(node, place);
    this.#add(place, 1);
  }

  #add({ policy, isTainted }: Place, nodes: 1 | -1): void {
    const count = this.#countOf(policy);
    count.places += nodes;
    count.kept += isTainted ? nodes : 0;
    if (count.places === 0) this.#counts.delete(policy);
    else this.#counts.set(policy, count);
  }

  #countOf(policy: string | undefined): { places: number; kept: number } {
    return this.#counts.get(policy) ?? { places: 0, kept: 0 };
  }

  #sizeOf(policy: string): number {
    const { options, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const isCurrent = this.#sizes?.policies === options.current().policies && nowMs - this.#sizes.atMs < recountMs;
    if (!isCurrent) this.#recount(nowMs);
    return this.#sizes?.byPolicy.get(policy) ?? 0;
  }

  #recount(atMs: number): void {
    const { policies } = this.#options.options.current();
    const byPolicy = new Map<string, number>();
    for (const node of this.#options.names()) {
      const policy = this.#options.policyOf(node);
      if (policy !== undefined) byPolicy.set(policy, (byPolicy.get(policy) ?? 0) + 1);
    }
    this.#sizes = { policies, atMs, byPolicy };
  }
}
