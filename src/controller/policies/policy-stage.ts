// Policies and pauses, for the other stages: the settings of a node, and what its policy says about writes for it.
import type { NodeView } from '../../machinery/api/node.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import type { DecisionSink } from '../model/decisions.ts';
import type { OpenBreaker } from '../model/holds.ts';
import type { ControllerOptions } from '../model/options.ts';
import {
  type BreakerStatus,
  type DeletionRate,
  describeWindow,
  type NodePolicy,
  type OutOfServiceRule,
  type PolicyCount,
  type PolicySelection,
  type ReachableEviction,
} from '../model/policy.ts';
import { isReady } from './decide-stuck.ts';
import { deriveZoneOptions } from './derive-zone.ts';
import { EmptyingNodes, type EmptyingNodesOptions } from './emptying-nodes.ts';
import { HourlyEvictions } from './hourly-evictions.ts';
import { MaintenanceWatch } from './maintenance-watch.ts';
import { NodePolicies, type NodePoliciesOptions, type PolicyOptions } from './node-policies.ts';
import { PolicyBreakers, type PolicyBreakersOptions } from './policy-breakers.ts';
import { showPolicyNodes } from './policy-gauges.ts';
import { PolicyJournal } from './policy-journal.ts';
import { UnhealthyTally } from './unhealthy-tally.ts';

interface PolicyStageOptions
  extends NodePoliciesOptions,
    Pick<EmptyingNodesOptions, 'podsOn' | 'beingTainted'>,
    Pick<PolicyBreakersOptions, 'isHeld'> {
  readonly options: Live<ControllerOptions>;
  /** Names of all nodes. */
  readonly names: () => Iterable<string>;
  /** Ready, with a heartbeat within the grace period. */
  readonly isHealthy: (node: string) => boolean;
  /** {@link PolicyStage.evaluateBreakers} is to be called soon. */
  readonly onBreakerChange: () => void;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  /** The health clock. */
  readonly healthNowMs: () => number;
}

/** The policy of each node, and what follows from the policies of many. */
export class PolicyStage extends NodePolicies {
  /** The options with the shortest grace period of all policies: stale watches are detected in time for each node. */
  readonly strictest: Live<ControllerOptions>;
  /** Nodes in planned maintenance. */
  readonly maintenance: MaintenanceWatch;
  /** Nodes that are being emptied, where a policy has a maximum of them. */
  readonly emptying: EmptyingNodes;
  /** Pods that were evicted within the last hour, where a policy has a maximum of them. */
  readonly hourly: HourlyEvictions;
  readonly #options: PolicyStageOptions;
  readonly #journal: PolicyJournal;
  readonly #tally: UnhealthyTally;
  readonly #breakers: PolicyBreakers;
  #applied: PolicyOptions;
  /** Saves the computation, because it is read for each heartbeat. */
  #shortest: { readonly of: ControllerOptions; readonly options: ControllerOptions } | undefined;

  constructor(options: PolicyStageOptions) {
    super(options);
    this.#options = options;
    this.#journal = new PolicyJournal({ ...options, policies: this });
    this.maintenance = new MaintenanceWatch({ ...options, maintenanceOf: (node) => this.maintenanceOf(node) });
    this.#tally = new UnhealthyTally({
      ...options,
      policies: this,
      isHealthy: (node) => this.#countsAsHealthy(node, options.isHealthy(node)),
    });
    this.#breakers = new PolicyBreakers({
      ...options,
      policies: this,
      tally: this.#tally,
      onChange: options.onBreakerChange,
      drainOf: (node) => this.emptying.drainOf(node),
      askFull: () => this.emptying.askFull(),
    });
    this.emptying = new EmptyingNodes({ ...options, policies: this });
    this.hourly = new HourlyEvictions({ ...options, claimsOf: (node) => this.claimsOf(node) });
    this.strictest = { current: () => this.#withShortestGrace() };
    this.#applied = options.options.current();
    showPolicyNodes(options.meter, () => this.counts());
  }

  /** The options in force in this zone: those of the controller, or what the policy whose zone it is sets. */
  zoneOptions(zone: string): ControllerOptions {
    return deriveZoneOptions(zone, this.#options.options.current());
  }

  /** Which nodes of the policy of this node may get the taint out-of-service; undefined: it may not. */
  outOfServiceOf(node: string): OutOfServiceRule | undefined {
    const selection = this.selectionOf(node);
    return selection.kind === 'policy' ? selection.policy.outOfService : undefined;
  }

  /** The silence of this node that probes may show before its grace period ends; undefined: its policy has no early detection. */
  earliestOf(node: string): number | undefined {
    const selection = this.selectionOf(node);
    return selection.kind === 'policy' ? selection.policy.detection?.earliestMs : undefined;
  }

  /** How long after they were due the Eviction API may hold pods of this node while it is reachable; undefined: it is not used. */
  evictReachableOf(node: string): ReachableEviction | undefined {
    const { evictReachableTimeoutMs } = this.#options.options.current();
    const rules = this.claimsOf(node).flatMap(({ name, evictReachable: rule }) => {
      return rule === undefined ? [] : [{ policy: name, timeoutMs: rule.timeoutMs ?? evictReachableTimeoutMs }];
    });
    return rules.sort((a, b) => b.timeoutMs - a.timeoutMs)[0];
  }

  /** The rate of pod deletions for the health of nodes of the policy of this node; undefined: no limit. */
  deletionRateOf(node: string): DeletionRate | undefined {
    const rates = this.claimsOf(node).flatMap(({ name, podDeletionsPerSecond: ratePerSecond }) => {
      return ratePerSecond === undefined ? [] : [{ policy: name, ratePerSecond }];
    });
    return rates.sort((a, b) => a.ratePerSecond - b.ratePerSecond)[0];
  }

  /** Whether a policy marks pods of nodes that report NotReady. */
  marksNotReady(): boolean {
    return this.#options.options.current().policies.some((policy) => policy.markPodsOfNotReadyAfterMs !== undefined);
  }

  /** How long this node reports NotReady when its pods are marked; Infinity: never. */
  notReadyMarkedAfterMs(node: string): number {
    const selection = this.selectionOf(node);
    return (selection.kind === 'policy' ? selection.policy.markPodsOfNotReadyAfterMs : undefined) ?? Infinity;
  }

  /** How many nodes of this policy may become unhealthy before its breaker opens; 0 while it is open, or on a standby. */
  roomOf(policy: string): number {
    return this.#breakers.roomOf(policy);
  }

  /** The node is evaluated. `isHealthy`: Ready, with a heartbeat within its grace period. */
  observe(node: NodeView, isHealthy: boolean): void {
    this.#journal.observe(node);
    this.#tally.update(node.name, this.#countsAsHealthy(node.name, isHealthy));
  }

  /** A node in planned maintenance is no evidence of a common cause. */
  #countsAsHealthy(node: string, isHealthy: boolean): boolean {
    return isHealthy || (this.#tally.isCounting && this.maintenanceOf(node) !== undefined);
  }

  /** The node changed between two evaluations, or was deleted: it is counted, and the breakers are evaluated, at once. */
  recount(node: string): void {
    if (!this.#tally.isCounting) return;
    this.#tally.update(node, this.#countsAsHealthy(node, this.#options.isHealthy(node)));
    this.#breakers.decide();
  }

  /** All nodes have been evaluated. Returns the unhealthy nodes whose breaker closed: what was held may be due. */
  evaluateBreakers(): readonly string[] {
    return this.#breakers.evaluate();
  }

  /** Milliseconds until a breaker may close without any change of a node; Infinity: never. */
  breakersDueInMs(): number {
    return this.#breakers.dueInMs();
  }

  /** Opens and closes the breakers of this node by the current counts: it is asked whether one of them holds a write. */
  noteQuestion(node: string): void {
    this.#breakers.decideOf(node);
  }

  /** The open breaker that holds NoExecute taints and evictions for the health of this node. */
  openBreakerOf(node: string): OpenBreaker | undefined {
    return this.#breakers.openOf(node);
  }

  /** Status of {@link openBreakerOf}. */
  breakerOf(node: string): BreakerStatus | undefined {
    return this.#breakers.statusOf(node);
  }

  /** Unhealthy nodes whose breaker is open; undefined: no policy has limits. */
  breakerHeld(): readonly string[] | undefined {
    return this.#tally.isCounting ? this.#breakers.held() : undefined;
  }

  /** Whether the policies, or the pause of all nodes, changed since the last call. */
  takeChange(): boolean {
    const { policies, paused } = this.#applied;
    this.#applied = this.#options.options.current();
    return policies !== this.#applied.policies || paused !== this.#applied.paused;
  }

  /** The policy by which a node that recovers often is kept: of several that claim it equally the first that has a rule. */
  flappingSelectionOf(node: string): PolicySelection {
    const selection = this.selectionOf(node);
    if (selection.kind !== 'conflict') return selection;
    const policy = selection.policies.find(({ flapping }) => flapping !== undefined);
    return policy === undefined ? selection : { kind: 'policy', policy };
  }

  /** How many nodes each policy applies to. */
  counts(): readonly PolicyCount[] {
    const { options, names } = this.#options;
    if (options.current().policies.length === 0) return [];
    const counts = buildPolicyCounts(options.current().policies, names(), (name) => [
      this.selectionOf(name),
      this.claimsOf(name),
    ]);
    return this.#withStuck(this.#withBreakers(counts));
  }

  /** Costs time proportional to the pods of nodes that are not Ready; nothing without such a policy. */
  #withStuck(counts: readonly PolicyCount[]): readonly PolicyCount[] {
    const { options, nodes, names, podsOn, clock } = this.#options;
    const timed = new Set(
      options
        .current()
        .policies.filter(isTimed)
        .map(({ name }) => name),
    );
    if (timed.size === 0) return counts;
    const unready = [...names()].filter((name) => {
      const node = nodes.get(name);
      return node !== undefined && !isReady(node) && this.claimsOf(name).some(isTimed);
    });
    const all = unready.flatMap(podsOn);
    const byPolicy = Map.groupBy(
      all.flatMap((pod) => this.stuckOf(pod) ?? []),
      ({ policy }) => policy,
    );
    return counts.map((count) => {
      if (!timed.has(count.policy)) return count;
      const some = byPolicy.get(count.policy) ?? [];
      const overdueMs = some.reduce((most, { overdueSinceMs }) => Math.max(most, clock.nowMs() - overdueSinceMs), 0);
      return { ...count, stuck: { pods: some.length, overdueSeconds: Math.round(overdueMs / 1_000) } };
    });
  }

  /** The policies in force, without numbers of nodes. */
  inForce(): readonly Omit<PolicyCount, 'nodes' | 'conflicts'>[] {
    return this.#withBreakers(
      this.#options.options
        .current()
        .policies.map((policy) => ({ policy: policy.name, mode: policy.mode, ...windowsOf(policy) })),
    );
  }

  #withBreakers<T extends Pick<PolicyCount, 'policy'>>(
    all: readonly T[],
  ): readonly (T & Pick<PolicyCount, 'breaker'>)[] {
    const breakers = new Map(this.#breakers.statuses().map((breaker) => [breaker.policy, breaker]));
    const emptied = new Map(this.emptying.statuses().map((emptying) => [emptying.policy, emptying]));
    return all.map((each) => {
      const breaker = breakers.get(each.policy);
      const emptying = emptied.get(each.policy);
      return { ...each, ...(breaker && { breaker }), ...(emptying && { emptying }) };
    });
  }

  /** Ready, with a heartbeat within the grace period. */
  isHealthy(node: string): boolean {
    return this.#options.isHealthy(node);
  }

  /** The node no longer exists. */
  override forget(node: string): void {
    this.#tally.remove(node);
    super.forget(node);
    this.#journal.forget(node);
    this.maintenance.forget(node);
    this.emptying.forget(node);
  }

  /** Number of entries of the largest collection. */
  override get size(): number {
    const { maintenance, emptying, hourly } = this;
    const collections = [this.#journal, this.#tally, maintenance, emptying, hourly];
    return Math.max(super.size, ...collections.map(({ size }) => size));
  }

  #withShortestGrace(): ControllerOptions {
    const options = this.#options.options.current();
    if (options.policies.length === 0) return options;
    if (this.#shortest?.of !== options) this.#shortest = { of: options, options: selectShortestGrace(options) };
    return this.#shortest.options;
  }
}

/**
 * Options with the shortest monitor grace period of all policies: a stale watch must be detected before it
 * counts against any node.
 */
export function selectShortestGrace(options: ControllerOptions): ControllerOptions {
  const graces = options.policies.flatMap(({ nodeMonitorGracePeriodMs }) => nodeMonitorGracePeriodMs ?? []);
  const shortestMs = Math.min(options.nodeMonitorGracePeriodMs, ...graces);
  return shortestMs === options.nodeMonitorGracePeriodMs
    ? options
    : { ...options, nodeMonitorGracePeriodMs: shortestMs };
}

function isTimed({ terminatingTimeoutMs }: Pick<NodePolicy, 'terminatingTimeoutMs'>): boolean {
  return terminatingTimeoutMs !== undefined;
}

function windowsOf({ schedules, windows = [] }: NodePolicy): Pick<PolicyCount, 'windows'> {
  return schedules === undefined ? {} : { windows: windows.map(describeWindow) };
}

/** Number of nodes of each policy, in the order of the policies: those that it is selected for, or guards. */
function buildPolicyCounts(
  policies: readonly NodePolicy[],
  nodes: Iterable<string>,
  of: (node: string) => readonly [PolicySelection, claims: readonly NodePolicy[]],
): readonly PolicyCount[] {
  const applied = new Map<string, number>();
  const conflicts = new Map<string, number>();
  for (const node of nodes) {
    const [selection, claims] = of(node);
    for (const { name, isGuard } of claims) if (isGuard === true) increment(applied, name);
    if (selection.kind === 'policy') increment(applied, selection.policy.name);
    if (selection.kind === 'conflict') for (const { name } of selection.policies) increment(conflicts, name);
  }
  return policies.map((policy) => {
    const { name, mode } = policy;
    const nodes = { nodes: applied.get(name) ?? 0, conflicts: conflicts.get(name) ?? 0 };
    return { policy: name, mode, ...nodes, ...windowsOf(policy) };
  });
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
