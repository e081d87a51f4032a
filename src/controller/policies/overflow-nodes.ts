import type { OverflowRule } from '../model/policy.ts';

const hourMs = 3_600_000;
/** The end of other holds is no event: a place that all of them keep free is offered again after this time. */
const lookAgainMs = 5_000;

/** An unhealthy node of a policy whose breaker is open. */
export interface WaitingNode {
  readonly name: string;
  /** Its Ready condition is Unknown or missing: its pods certainly serve no client. */
  readonly isSilent: boolean;
  /** Wall time since which it is unhealthy. */
  readonly sinceMs: number;
}

/** What a node that may be emptied has left: pods that are being evicted, pods that would be, or none. */
export type Drain = 'begun' | 'waiting' | 'nothing';

/** Asked only when a place is free, as it costs more than the rest. */
export interface OverflowQuestions {
  readonly drainOf: (node: string) => Drain;
  /** Something besides the breaker of this policy keeps the node from being emptied. */
  readonly isHeld: (node: string, drain: Drain) => boolean;
}

interface Overflow {
  /** Nodes that may be emptied although the breaker is open, each with the time since which it is unhealthy: no later failure has its place. */
  readonly admitted: Map<string, number>;
  /** Time at which the next one may be, or at which all are looked at again because something held each; on the health clock. */
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
   * none waits or something else holds each of them. Returns its name. `nowMs`: health clock.
   */
  observe(
    policy: string,
    { ratePerHour, order = 'severity' }: OverflowRule,
    {
      nodes,
      nowMs,
      ...questions
    }: { readonly nodes: readonly WaitingNode[]; readonly nowMs: number } & OverflowQuestions,
  ): string | undefined {
    const intervalMs = hourMs / ratePerHour;
    const overflow = this.#ensure(policy, nowMs + intervalMs);
    const since = new Map(nodes.map(({ name, sinceMs }) => [name, sinceMs]));
    for (const [name, sinceMs] of overflow.admitted) if (since.get(name) !== sinceMs) overflow.admitted.delete(name);
    overflow.nextAtMs = Math.min(overflow.nextAtMs, nowMs + intervalMs); // the rate may be higher now
    const waiting = nodes.filter(({ name }) => !overflow.admitted.has(name));
    if (waiting.length === 0 || nowMs < overflow.nextAtMs) return undefined;
    const next = selectNext(waiting, order, questions);
    overflow.nextAtMs = nowMs + (next === undefined ? Math.min(intervalMs, lookAgainMs) : intervalMs);
    if (next !== undefined) overflow.admitted.set(next.name, next.sinceMs);
    return next?.name;
  }

  #ensure(policy: string, firstAtMs: number): Overflow {
    const known = this.#overflows.get(policy);
    if (known !== undefined) return known;
    const begun = { admitted: new Map<string, number>(), nextAtMs: firstAtMs };
    this.#overflows.set(policy, begun);
    return begun;
  }

  /** The breaker is closed, or the policy has no such rule. */
  forget(policy: string): void {
    this.#overflows.delete(policy);
  }

  /** `sinceMs`: wall time since which the node is unhealthy; undefined: it is healthy, or is not counted yet. */
  isAdmitted(policy: string, node: string, sinceMs: number | undefined): boolean {
    return sinceMs !== undefined && this.#overflows.get(policy)?.admitted.get(node) === sinceMs;
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

/**
 * The first node that nothing else holds. Those that are being emptied come first, as others may wait for them, and those without
 * anything to evict last: a new leader admitted none of them, and what it found empty would take the places of the others.
 */
function selectNext(
  waiting: readonly WaitingNode[],
  order: NonNullable<OverflowRule['order']>,
  { drainOf, isHeld }: OverflowQuestions,
): WaitingNode | undefined {
  return waiting
    .map((node) => ({ ...node, drain: drainOf(node.name) }))
    .sort((a, b) => drains.indexOf(a.drain) - drains.indexOf(b.drain) || compare[order](a, b))
    .find(({ name, drain }) => !isHeld(name, drain));
}

/** In the order in which places are given. */
const drains: readonly Drain[] = ['begun', 'waiting', 'nothing'];

function compareAge(a: WaitingNode, b: WaitingNode): number {
  return a.sinceMs - b.sinceMs || (a.name < b.name ? -1 : 1);
}

const compare = {
  age: compareAge,
  severity: (a: WaitingNode, b: WaitingNode): number => Number(b.isSilent) - Number(a.isSilent) || compareAge(a, b),
};
