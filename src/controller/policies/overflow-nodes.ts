import type { OverflowRule } from '../model/policy.ts';

const hourMs = 3_600_000;

/** An unhealthy node of a policy whose breaker is open. */
export interface WaitingNode {
  readonly name: string;
  /** Its Ready condition is Unknown or missing: its pods certainly serve no client. */
  readonly isSilent: boolean;
  /** Wall time since which it is unhealthy. */
  readonly sinceMs: number;
}

interface Overflow {
  /** Nodes that may be emptied although the breaker is open. */
  readonly admitted: Set<string>;
  /** Time at which the next one may be, on the health clock. */
  nextAtMs: number;
}

/**
 * Nodes that are emptied one by one while the breaker of their policy is open. The first one waits for an interval after the
 * opening, or after a change of the leader: that no node is admitted too early is worth more than the time.
 */
export class OverflowNodes {
  readonly #overflows = new Map<string, Overflow>();

  /**
   * The breaker of this policy is open, and these are its unhealthy nodes. Admits one if its time has come, which does not add up while
   * none waits. Returns its name. `nowMs`: health clock.
   */
  observe(
    policy: string,
    { ratePerHour, order = 'severity' }: OverflowRule,
    nodes: readonly WaitingNode[],
    nowMs: number,
  ): string | undefined {
    const intervalMs = hourMs / ratePerHour;
    const overflow = this.#ensure(policy, nowMs + intervalMs);
    const names = new Set(nodes.map(({ name }) => name));
    for (const name of overflow.admitted) if (!names.has(name)) overflow.admitted.delete(name);
    overflow.nextAtMs = Math.min(overflow.nextAtMs, nowMs + intervalMs); // the rate may be higher now
    const [first] = nodes.filter(({ name }) => !overflow.admitted.has(name)).toSorted(compare[order]);
    if (first === undefined || nowMs < overflow.nextAtMs) return undefined;
    overflow.admitted.add(first.name);
    overflow.nextAtMs = nowMs + intervalMs;
    return first.name;
  }

  #ensure(policy: string, firstAtMs: number): Overflow {
    const known = this.#overflows.get(policy);
    if (known !== undefined) return known;
    const begun = { admitted: new Set<string>(), nextAtMs: firstAtMs };
    this.#overflows.set(policy, begun);
    return begun;
  }

  /** The breaker is closed, or the policy has no such rule. */
  forget(policy: string): void {
    this.#overflows.delete(policy);
  }

  isAdmitted(policy: string, node: string): boolean {
    return this.#overflows.get(policy)?.admitted.has(node) === true;
  }

  /** Number of nodes that were admitted and are still unhealthy. */
  countOf(policy: string): number {
    return this.#overflows.get(policy)?.admitted.size ?? 0;
  }

  /** When the next node may be admitted, on the health clock; Infinity: the breaker was not observed open. */
  nextAtMs(policy: string): number {
    return this.#overflows.get(policy)?.nextAtMs ?? Infinity;
  }
}

function compareAge(a: WaitingNode, b: WaitingNode): number {
  return a.sinceMs - b.sinceMs || (a.name < b.name ? -1 : 1);
}

const compare = {
  age: compareAge,
  severity: (a: WaitingNode, b: WaitingNode): number => Number(b.isSilent) - Number(a.isSilent) || compareAge(a, b),
};
