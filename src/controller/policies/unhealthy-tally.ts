import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { NodeSource } from '../model/commands.ts';
import type { NodePolicy, UnhealthyCount } from '../model/policy.ts';
import type { ReadyNode } from './decide-inherited-breaker.ts';
import type { NodePolicies, PolicyOptions } from './node-policies.ts';

interface UnhealthyTallyOptions {
  readonly options: Live<Pick<PolicyOptions, 'policies'>>;
  readonly policies: Pick<NodePolicies, 'claimsOf'>;
  readonly nodes: NodeSource;
  /** Names of all nodes. */
  readonly names: () => Iterable<string>;
  /** Ready, with a heartbeat within the grace period. */
  readonly isHealthy: (node: string) => boolean;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
}

interface Member {
  /** The uid of the node: another node may have the same name later. */
  readonly uid: string;
  /** The policies with limits in which it counts: of several that claim it equally each, because each breaker holds it. */
  readonly claims: readonly Claim[];
  /** Wall time since which the node is unhealthy; undefined: healthy. */
  readonly sinceMs: number | undefined;
}

interface Claim {
  readonly policy: string;
  /** The node was unhealthy at the time of a reset: it does not count. */
  readonly isExempt: boolean;
}

type Counts = { -readonly [K in keyof UnhealthyCount]: number };

/** All nodes are counted again after this time, whatever events were missed. */
const recountMs = 60_000;

const none: UnhealthyCount = { nodes: 0, unhealthy: 0, exempt: 0 };

/**
 * Counts the unhealthy nodes of each policy that has limits. The first {@link UnhealthyTally.of}, and the first one after
 * a change of the policies, counts all nodes, and so does one a minute; an update costs the same in a cluster of any size.
 * Nothing is remembered without limits, nor before the first use: a standby counts nothing.
 */
export class UnhealthyTally {
  readonly #options: UnhealthyTallyOptions;
  readonly #members = new Map<string, Member>();
  readonly #counts = new Map<string, Counts>();
  /** The policies for which the counts are. */
  #policies: readonly NodePolicy[] | undefined;
  /** When all nodes were counted, on the monotonic clock. */
  #countedAtMs = -Infinity;
  /** When a reset in the future takes effect, by wall time. */
  #nextResetMs = Infinity;

  constructor(options: UnhealthyTallyOptions) {
    this.#options = options;
  }

  /** The counts are kept. */
  get isCounting(): boolean {
    return this.#policies !== undefined;
  }

  /** Wall time from which nodes do not count because of a reset in the future; Infinity: none. */
  get nextResetMs(): number {
    return this.#nextResetMs;
  }

  /** Number of nodes of policies with limits. */
  get size(): number {
    return this.#members.size;
  }

  /** The current counts of this policy. */
  of(policy: string): UnhealthyCount {
    this.refresh();
    return this.#counts.get(policy) ?? none;
  }

  /**
   * Counts all nodes if the policies changed or a reset takes effect, and once a minute; without limits everything is dropped.
   */
  refresh(): void {
    const { options, clock } = this.#options;
    const { policies } = options.current();
    const isCurrent = this.#policies === policies && clock.nowMs() < this.#nextResetMs;
    if (!isCurrent || clock.monotonicMs() >= this.#countedAtMs + recountMs) this.#countAll(policies);
  }

  /** The node was evaluated. A node that does not exist is removed. Ignored until the counts are kept. */
  update(node: string, isHealthy: boolean): void {
    if (this.#policies !== undefined && this.#policies === this.#options.options.current().policies)
      this.#place(node, isHealthy, this.#members.get(node));
  }

  remove(node: string): void {
    const known = this.#members.get(node);
    if (known === undefined) return;
    this.#members.delete(node);
    this.#add(known, -1);
  }

  /** Wall time since which this node is unhealthy; undefined: it is healthy, is not counted yet, or has no policy with limits. */
  unhealthySince(node: string): number | undefined {
    return this.#members.get(node)?.sinceMs;
  }

  /** The unhealthy nodes of this policy. Costs time proportional to the nodes of all policies with limits. */
  *unhealthyOf(policy: string): Iterable<string> {
    for (const [node, member] of this.#members) if (isOf(member, policy) && member.sinceMs !== undefined) yield node;
  }

  /** The unhealthy nodes of this policy, each with the wall time since which it is. The same cost. */
  *unhealthySinceOf(policy: string): Iterable<readonly [name: string, sinceMs: number]> {
    for (const [node, member] of this.#members)
      if (isOf(member, policy) && member.sinceMs !== undefined) yield [node, member.sinceMs];
  }

  /** The healthy nodes of this policy whose conditions show since when. The same cost. */
  *readyNodesOf(policy: string): Iterable<ReadyNode> {
    for (const [name, member] of this.#members) {
      if (!isOf(member, policy) || member.sinceMs !== undefined) continue;
      const node = this.#options.nodes.get(name);
      const sinceMs = node && readySinceMs(node);
      if (node !== undefined && sinceMs !== undefined) yield { sinceMs, createdAtMs: node.createdAtMs };
    }
  }

  /** Nodes that are known keep the time since which they are unhealthy. */
  #countAll(policies: readonly NodePolicy[]): void {
    const { names, isHealthy } = this.#options;
    const hasLimits = policies.some(({ limits }) => limits !== undefined);
    this.#policies = hasLimits ? policies : undefined; // before the questions, which ask whether it counts
    const counted = hasLimits ? [...names()].map((node) => [node, isHealthy(node)] as const) : [];
    const known = new Map(this.#members);
    this.#members.clear();
    this.#counts.clear();
    this.#countedAtMs = this.#options.clock.monotonicMs();
    this.#findNextReset(policies);
    for (const [node, healthy] of counted) this.#place(node, healthy, known.get(node));
  }

  #findNextReset(policies: readonly NodePolicy[]): void {
    const nowMs = this.#options.clock.nowMs();
    const resets = policies.flatMap(({ limits }) => limits?.resetAtMs ?? []);
    this.#nextResetMs = Math.min(Infinity, ...resets.filter((atMs) => atMs > nowMs));
  }

  #place(name: string, isHealthy: boolean, known: Member | undefined): void {
    const node = this.#options.nodes.get(name);
    const limited = this.#options.policies.claimsOf(name).filter(({ limits }) => limits !== undefined);
    this.remove(name);
    if (node === undefined || limited.length === 0) return;
    const sinceMs = isHealthy ? undefined : this.#sinceMs(node, known?.uid === node.uid ? known : undefined);
    const claims = limited.map((policy) => ({ policy: policy.name, isExempt: this.#isExempt(sinceMs, policy) }));
    const member = { uid: node.uid, claims, sinceMs };
    this.#members.set(name, member);
    this.#add(member, 1);
  }

  /** A node that is unhealthy when it is first counted has been so for as long as its condition says. */
  #sinceMs(node: NodeView, known: Member | undefined): number {
    const nowMs = this.#options.clock.nowMs();
    if (known !== undefined) return known.sinceMs ?? nowMs;
    const ready = findCondition(node.conditions, 'Ready');
    const changedAtMs = ready === undefined || ready.status === 'True' ? undefined : ready.lastTransitionTime;
    return Math.min(nowMs, parseTimestamp(changedAtMs) ?? nowMs);
  }

  #isExempt(sinceMs: number | undefined, { limits }: NodePolicy): boolean {
    const resetAtMs = limits?.resetAtMs;
    if (sinceMs === undefined || resetAtMs === undefined) return false;
    return sinceMs <= resetAtMs && resetAtMs <= this.#options.clock.nowMs();
  }

  #add({ claims, sinceMs }: Member, nodes: 1 | -1): void {
    for (const { policy, isExempt } of claims) {
      const counts = this.#counts.get(policy) ?? { ...none };
      this.#counts.set(policy, counts);
      counts.nodes += nodes;
      if (sinceMs !== undefined) counts.unhealthy += nodes;
      if (isExempt) counts.exempt += nodes;
    }
  }
}

function isOf({ claims }: Member, policy: string): boolean {
  return claims.some((claim) => claim.policy === policy);
}

/** Time since which the node is Ready, by the clock of the kubelet. */
function readySinceMs({ conditions }: NodeView): number | undefined {
  const ready = findCondition(conditions, 'Ready');
  return ready?.status === 'True' ? parseTimestamp(ready.lastTransitionTime) : undefined;
}
