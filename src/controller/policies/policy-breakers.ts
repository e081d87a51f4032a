// The breakers of policies with limits. Their state follows from the number of unhealthy nodes at each call, and is
// checked immediately before each write, so nothing is sent after the number has risen above the limit.
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeSource } from '../model/commands.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { BreakerClosing, BreakerCount, DecisionSink } from '../model/decisions.ts';
import type { Now } from '../model/node-state.ts';
import type { OpenBreaker as OpenPolicyBreaker } from '../model/holds.ts';
import type { BreakerStatus, NodePolicy, OverflowRule, PolicyLimits } from '../model/policy.ts';
import { decideBreaker, endOfBreakerMs, isReset, limitOf, type OpenBreaker } from './decide-breaker.ts';
import { OverflowNodes, type OverflowQuestions, type WaitingNode } from './overflow-nodes.ts';
import { decideInheritedBreaker } from './decide-inherited-breaker.ts';
import { breakerClosed, breakerOpened } from './events.ts';
import type { NodePolicies, PolicyOptions } from './node-policies.ts';
import type { UnhealthyTally } from './unhealthy-tally.ts';

export interface PolicyBreakersOptions extends OverflowQuestions {
  /** Asks for many nodes of one moment whether a maximum keeps each from being emptied. */
  readonly askFull: () => (node: string) => boolean;
  readonly options: Live<Pick<PolicyOptions, 'policies'>>;
  readonly policies: Pick<NodePolicies, 'claimsOf'>;
  readonly tally: Pick<
    UnhealthyTally,
    | 'of'
    | 'isCounting'
    | 'refresh'
    | 'nextResetMs'
    | 'unhealthyOf'
    | 'unhealthySince'
    | 'unhealthySinceOf'
    | 'readyNodesOf'
  >;
  readonly nodes: NodeSource;
  /** A breaker opened, closed, or is to close at another time: {@link PolicyBreakers.evaluate} is to be called soon. */
  readonly onChange: () => void;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** The health clock, which stands still while watches are stale: how many nodes are unhealthy is not known then. */
  readonly healthNowMs: () => number;
}

/** A policy that has limits. */
interface LimitedPolicy extends NodePolicy {
  readonly limits: PolicyLimits;
}

export class PolicyBreakers {
  readonly #options: PolicyBreakersOptions;
  /** Open breakers, by the name of the policy. */
  readonly #open = new Map<string, OpenBreaker>();
  /** Policies whose breaker closed since the last evaluation. */
  readonly #closed = new Set<string>();
  /** Nodes that are emptied although a breaker is open. */
  readonly #overflow = new OverflowNodes();
  /** What the previous leader left open has been looked for. */
  #isTakenOver = false;

  constructor(options: PolicyBreakersOptions) {
    this.#options = options;
  }

  /** Opens and closes the breakers of this node by the current counts. Cheap: called before each request. */
  decideOf(node: string): void {
    for (const policy of this.#limitsOf(node)) {
      this.#takeOver();
      this.#decide(policy);
    }
  }

  /** The open breaker of a policy that claims this node, by the current counts. Records nothing; undefined on a standby. */
  openOf(node: string): OpenPolicyBreaker | undefined {
    const limited = this.#limitsOf(node);
    if (limited.length === 0 || !this.#options.tally.isCounting) return undefined;
    const holding = limited.filter(({ name }) => !this.#isAdmitted(name, node));
    return holding.flatMap((policy) => this.#openNow(policy) ?? [])[0];
  }

  #isAdmitted(policy: string, node: string): boolean {
    return this.#overflow.isAdmitted(policy, node, this.#options.tally.unhealthySince(node));
  }

  #openNow(policy: LimitedPolicy): OpenPolicyBreaker | undefined {
    const { name, limits } = policy;
    const open = decideBreaker(this.#open.get(name), this.#options.tally.of(name), limits, this.#now());
    return open && { policy: name, openedAtMs: open.openedAtMs, untilMs: this.#endMs(open, limits) };
  }

  #limitsOf(node: string): readonly LimitedPolicy[] {
    return this.#options.policies.claimsOf(node).filter(isLimited);
  }

  /** Opens and closes breakers by the current counts. */
  decide(): void {
    this.#takeOver();
    for (const policy of this.#limited()) this.#decide(policy);
  }

  /** Evaluates all breakers. Returns the unhealthy nodes of those that closed since the last call. */
  evaluate(): readonly string[] {
    if (this.#options.tally.isCounting) this.#options.tally.refresh();
    this.decide();
    this.#forgetRemoved();
    const released = [...this.#closed].flatMap((policy) => [...this.#options.tally.unhealthyOf(policy)]);
    this.#closed.clear();
    return [...released, ...this.#limited().flatMap((policy) => this.#admit(policy) ?? [])];
  }

  /** The next node of a policy that may be emptied although its breaker is open; undefined: none yet. */
  #admit(policy: LimitedPolicy): string | undefined {
    const { name, limits } = policy;
    const { overflow } = limits;
    if (overflow === undefined || !this.#open.has(name)) {
      this.#overflow.forget(name);
      return undefined;
    }
    const { drainOf, isHeld, askFull } = this.#options;
    const isFull = askFull();
    const admitted = this.#overflow.observe(name, overflow, {
      nodes: this.#waitingOf(name),
      nowMs: this.#now().monotonicMs,
      drainOf,
      isHeld: (node, drain) =>
        this.#isHeldByAnother(policy, node) || isHeld(node, drain) || (drain === 'waiting' && isFull(node)),
    });
    if (admitted !== undefined)
      this.#options.decisions.note({ kind: 'overflow-admitted', node: admitted, policy: name, ...overflow });
    return admitted;
  }

  /** Another policy has an open breaker and gives no places, or gives fewer and has not given one yet: so none waits for the other. */
  #isHeldByAnother(policy: LimitedPolicy, node: string): boolean {
    return this.#limitsOf(node).some((other) => {
      if (other.name === policy.name || this.#isAdmitted(other.name, node)) return false;
      return givesFewer(other, policy) && this.#openNow(other) !== undefined;
    });
  }

  #waitingOf(policy: string): readonly WaitingNode[] {
    return [...this.#options.tally.unhealthySinceOf(policy)].map(([name, sinceMs]) => {
      const ready = findCondition(this.#options.nodes.get(name)?.conditions ?? [], 'Ready')?.status;
      return { name, sinceMs, isSilent: ready !== 'True' && ready !== 'False' };
    });
  }

  /**
   * Milliseconds until {@link evaluate} may have another result without any change of a node, if the health clock runs; Infinity:
   * never.
   */
  dueInMs(): number {
    const { tally, clock } = this.#options;
    if (this.#closed.size > 0) return 0;
    const now = this.#now();
    const ends = this.#limited().map(({ name, limits }) => {
      const open = this.#open.get(name);
      if (open === undefined) return Infinity;
      return Math.min(endOfBreakerMs(open, limits), this.#admissionMs(name)) - now.monotonicMs;
    });
    return Math.max(0, Math.min(tally.nextResetMs - clock.nowMs(), ...ends));
  }

  /** When a node that waits may be admitted, on the health clock; Infinity: none waits. */
  #admissionMs(policy: string): number {
    const { unhealthy } = this.#options.tally.of(policy);
    return unhealthy > this.#overflow.countOf(policy) ? this.#overflow.nextAtMs(policy) : Infinity;
  }

  /** The state of each breaker, for reports. Records nothing; empty on a standby, which counts nothing. */
  statuses(): readonly BreakerStatus[] {
    return this.#options.tally.isCounting ? this.#limited().map((policy) => this.#status(policy)) : [];
  }

  /** How many nodes of this policy may become unhealthy before its breaker opens; 0 while it is open. Records nothing. */
  roomOf(policy: string): number {
    const status = this.statuses().find((one) => one.policy === policy);
    if (status === undefined || status.untilMs !== undefined) return 0;
    return status.limit - (status.unhealthy - status.exempt);
  }

  /**
   * Status of the open breaker that holds a node, see {@link openOf}; undefined if the policy has no limits, or its breaker is
   * closed.
   */
  statusOf(node: string): BreakerStatus | undefined {
    const holding = this.openOf(node)?.policy;
    return this.statuses().find(({ policy }) => policy === holding);
  }

  /** Unhealthy nodes of policies whose breaker is open, for reports. */
  held(): readonly string[] {
    const open = this.statuses().filter(({ untilMs }) => untilMs !== undefined);
    return open.flatMap(({ policy }) => {
      return [...this.#options.tally.unhealthyOf(policy)].filter((node) => !this.#isAdmitted(policy, node));
    });
  }

  /** Once: the cooldowns that began under the previous leader go on. */
  #takeOver(): void {
    if (this.#isTakenOver) return;
    this.#isTakenOver = true;
    for (const policy of this.#limited()) {
      const { name, limits } = policy;
      const count = this.#options.tally.of(name);
      const open = decideInheritedBreaker(this.#options.tally.readyNodesOf(name), count, limits, this.#now());
      if (open !== undefined) this.#open.set(name, open);
      if (open !== undefined) this.#noteOpened(policy, true);
    }
  }

  #limited(): readonly LimitedPolicy[] {
    return this.#options.options.current().policies.filter(isLimited);
  }

  #decide(policy: LimitedPolicy): OpenBreaker | undefined {
    const { name, limits } = policy;
    const before = this.#open.get(name);
    const after = decideBreaker(before, this.#options.tally.of(name), limits, this.#now());
    if (after === before) return after;
    if (after === undefined) this.#open.delete(name);
    else this.#open.set(name, after);
    this.#note(policy, before, after);
    this.#options.onChange();
    return after;
  }

  #note(policy: LimitedPolicy, before: OpenBreaker | undefined, after: OpenBreaker | undefined): void {
    if (after === undefined && before !== undefined) {
      const why = isReset(before, policy.limits, this.#now()) ? 'reset' : 'cooldown-over';
      this.#noteClosed(before, { policy: policy.name, why, count: countOf(this.#status(policy)) });
    } else if (after !== undefined && after.openedAtMs !== before?.openedAtMs) {
      this.#noteOpened(policy, false);
    }
  }

  #noteOpened(policy: LimitedPolicy, inherited: boolean): void {
    const opened = { policy: policy.name, inherited, count: countOf(this.#status(policy)) };
    this.#options.decisions.note({ kind: 'breaker-opened', ...opened });
    this.#options.recorder.record(breakerOpened(opened));
  }

  #noteClosed({ openedAtMs }: OpenBreaker, closing: Omit<BreakerClosing, 'openMs'>): void {
    const closed = { ...closing, openMs: Math.max(0, this.#now().wallMs - openedAtMs) };
    this.#closed.add(closing.policy);
    this.#options.decisions.note({ kind: 'breaker-closed', ...closed });
    this.#options.recorder.record(breakerClosed(closed));
  }

  /** The policy was removed, or has no limits any more: nothing is held. */
  #forgetRemoved(): void {
    const limited = new Set(this.#limited().map(({ name }) => name));
    for (const [policy, open] of this.#open) {
      if (limited.has(policy)) continue;
      this.#open.delete(policy);
      this.#overflow.forget(policy);
      this.#noteClosed(open, { policy, why: 'limits-removed', count: null });
    }
  }

  #status({ name, limits }: LimitedPolicy): BreakerStatus {
    const count = this.#options.tally.of(name);
    const open = decideBreaker(this.#open.get(name), count, limits, this.#now());
    return {
      policy: name,
      ...count,
      limit: limitOf(limits.maxUnhealthy, count.nodes),
      maxUnhealthy: limits.maxUnhealthy,
      cooldownMs: limits.cooldownMs,
      ...(limits.resetAtMs === undefined ? {} : { resetAtMs: limits.resetAtMs }),
      openedAtMs: open?.openedAtMs,
      untilMs: open && this.#endMs(open, limits),
      ...(open && limits.overflow && { overflow: this.#overflowStatus(name, limits.overflow) }),
    };
  }

  #overflowStatus(policy: string, { ratePerHour }: OverflowRule): NonNullable<BreakerStatus['overflow']> {
    const now = this.#now();
    const nextAtMs = now.wallMs + this.#overflow.nextAtMs(policy) - now.monotonicMs;
    return { ratePerHour, nodes: this.#overflow.countOf(policy), nextAtMs };
  }

  /** End of a breaker by wall time. */
  #endMs(open: OpenBreaker, limits: PolicyLimits): number {
    const now = this.#now();
    return now.wallMs + endOfBreakerMs(open, limits) - now.monotonicMs;
  }

  #now(): Now {
    const { clock, healthNowMs } = this.#options;
    return { monotonicMs: healthNowMs(), wallMs: clock.nowMs() };
  }
}

function countOf({ nodes, unhealthy, exempt, limit }: BreakerStatus): BreakerCount {
  return { nodes, unhealthy, exempt, limit };
}

function isLimited(policy: NodePolicy): policy is LimitedPolicy {
  return policy.limits !== undefined;
}

function givesFewer(a: LimitedPolicy, b: LimitedPolicy): boolean {
  const [rateOfA, rateOfB] = [a, b].map(({ limits }) => limits.overflow?.ratePerHour ?? 0);
  return rateOfA === rateOfB ? a.name < b.name : (rateOfA ?? 0) < (rateOfB ?? 0);
}
