import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import type { Labels } from '../../machinery/api/topology.ts';
import { type Clock, instantOf } from '../../machinery/ports/clock.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { NodeSource } from '../model/commands.ts';
import type { ControllerOptions } from '../model/options.ts';
import type {
  GracePeriods,
  Maintenance,
  MaintenanceSignal,
  NodeHold,
  NodePolicy,
  PodKeeper,
  PolicySelection,
  SignalMeaning,
  StuckPod,
  Veto,
} from '../model/policy.ts';
import { decideMaintenance } from './decide-maintenance.ts';
import { decideNodeHold, unhealthySinceMs } from '../holds/decide-node-hold.ts';
import { decideStuck } from './decide-stuck.ts';
import { decideVeto, listVetoes } from './decide-veto.ts';
import { deriveZone } from './derive-zone.ts';
import { MaintenanceStarts, type SignalNames } from './maintenance-starts.ts';
import { decideKeeper, selectAsking, selectClaims, selectPolicy } from './select-policy.ts';
import { UnreadyStarts } from './unready-starts.ts';

export type PolicyOptions = Pick<ControllerOptions, 'policies' | 'paused'> & GracePeriods;

export interface NodePoliciesOptions {
  readonly options: Live<PolicyOptions>;
  readonly nodes: NodeSource;
  /** It renews its lease, or sends its status, within its grace period. */
  readonly isAlive: (node: NodeView) => boolean;
  /** Whether the pods of a namespace ask to be kept (undefined: not known); absent: none does. */
  readonly isAutonomous?: ((namespace: string) => boolean | undefined) | undefined;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
}

interface Derived {
  /** Labels from which the selection was derived: it counts as long as labels and options are the current ones. */
  readonly labels: Labels;
  readonly options: PolicyOptions;
  readonly selection: PolicySelection;
  readonly claims: readonly NodePolicy[];
  readonly graces: GracePeriods;
  readonly zone: string;
}

const never = (): boolean => false;
const byDefault: PolicySelection = { kind: 'default' };

/**
 * The policy of each node, and what follows from it. Derived at each call from the node's labels and the current
 * options; the memory only saves the derivation, so no missed event can leave a node with an old policy. Without
 * policies nothing is remembered.
 */
export class NodePolicies {
  readonly #options: NodePoliciesOptions;
  readonly #derived = new Map<string, Derived>();
  readonly #starts = new MaintenanceStarts();
  readonly #unready = new UnreadyStarts();

  constructor(options: NodePoliciesOptions) {
    this.#options = options;
  }

  selectionOf(node: string): PolicySelection {
    return this.#derive(node)?.selection ?? byDefault;
  }

  /** The grace periods of this node: those of its policy, and else those of the controller. */
  current(node: string): GracePeriods {
    return this.#derive(node)?.graces ?? this.#options.options.current();
  }

  /** The zone in which this node counts. */
  zoneOf({ name, labels }: Pick<NodeView, 'name' | 'labels'>): string {
    const derived = this.#derive(name);
    if (derived?.labels === labels) return derived.zone;
    return deriveZone(labels, selectPolicy(labels, this.#options.options.current().policies));
  }

  /** Every policy that holds for this node: of several that claim it equally none applies, and all hold. */
  claimsOf(node: string): readonly NodePolicy[] {
    return this.#derive(node)?.claims ?? [];
  }

  /**
   * The mode or pause that holds writes for this node and its pods now. A node that does not exist is held by a pause of all
   * nodes only.
   */
  modeOf(node: string): NodeHold | undefined {
    const { options, nodes, clock } = this.#options;
    const { paused } = options.current();
    const claims = this.claimsOf(node);
    const view = nodes.get(node);
    if (!paused && claims.length === 0 && view?.pause === undefined) return undefined;
    const seenMs = view && this.#unready.seenMs(view, instantOf(clock));
    return decideNodeHold({ paused, claims, node: view, wallMs: clock.nowMs(), seenMs });
  }

  /** The policy that keeps this pod from evictions for the health of its node; undefined: none. */
  keeperOf(pod: Pick<PodView, 'phase' | 'labels' | 'namespace' | 'nodeName'>): PodKeeper | undefined {
    const claims = this.claimsOf(pod.nodeName).filter((each) => each.keepCompletedPods || each.podAutonomy);
    if (claims.length === 0) return undefined;
    const { clock, nodes, isAutonomous = never } = this.#options;
    const node = nodes.get(pod.nodeName);
    const asks = selectAsking(pod, isAutonomous(pod.namespace));
    const sinceMs = node && this.#unhealthySinceMs(node);
    return decideKeeper(pod, claims, { asks, unhealthySinceMs: sinceMs, wallMs: clock.nowMs() });
  }

  /**
   * The planned maintenance of this node now, by any policy that claims it, of several the one that holds longest, or else counts
   * longest; undefined: it is not in maintenance, or its maximum is over.
   */
  maintenanceOf(node: string): Maintenance | undefined {
    const view = this.#options.nodes.get(node);
    if (view === undefined) return undefined;
    const all = this.claimsOf(node).flatMap((policy) => {
      const signals = policy.maintenance && selectMaintenanceSignals(policy.maintenance, view);
      return this.#decideMaintenance(policy, view, signals) ?? [];
    });
    return all.toSorted((a, b) => (b.hold?.untilMs ?? 0) - (a.hold?.untilMs ?? 0) || b.untilMs - a.untilMs)[0];
  }

  /** A mark of another tool that holds evictions for the health of this node now; undefined: none does. */
  vetoOf(node: string): Veto | undefined {
    const view = this.#options.nodes.get(node);
    const claims = this.claimsOf(node);
    if (view === undefined || claims.every(({ vetoes }) => vetoes === undefined)) return undefined;
    const wallMs = this.#options.clock.nowMs();
    return decideVeto(claims, view, { unhealthySinceMs: this.#unhealthySinceMs(view), wallMs });
  }

  #unhealthySinceMs(node: NodeView): number | undefined {
    const now = instantOf(this.#options.clock);
    return unhealthySinceMs(node, now.wallMs, this.#unready.seenMs(node, now));
  }

  /** Whether a pod terminates for too long by a policy of its node; undefined: it does not. */
  stuckOf(pod: Pick<PodView, 'deletionAtSeconds' | 'nodeName'>): StuckPod | undefined {
    if (pod.deletionAtSeconds === undefined) return undefined;
    const { nodes, clock } = this.#options;
    return decideStuck(pod, nodes.get(pod.nodeName), this.claimsOf(pod.nodeName), clock.nowMs());
  }

  /** What a condition that is True on the node means now by the policies that claim it; undefined: none of them lists it. */
  meaningOf(view: NodeView, condition: string): SignalMeaning | undefined {
    const listing = this.claimsOf(view.name).filter(({ maintenance }) => maintenance?.conditions.includes(condition));
    if (listing.length === 0) return undefined;
    const signals = selectMaintenanceSignals({ conditions: [condition], taints: [] }, view);
    const found = listing.flatMap((policy) => this.#decideMaintenance(policy, view, signals) ?? []);
    if (found.some(({ hold }) => hold !== undefined)) return 'hold';
    return found.length === 0 ? 'none' : 'uncounted';
  }

  #decideMaintenance(
    policy: NodePolicy,
    view: NodeView,
    signals: readonly MaintenanceSignal[] = [],
  ): Maintenance | undefined {
    if (signals.length === 0) return undefined;
    const { clock, isAlive } = this.#options;
    const now = instantOf(clock);
    const started = this.#starts.startsOf(view, signals, now);
    const outageSinceMs = this.#starts.outageSince(view, started, now);
    return decideMaintenance(policy, started, { nowMs: now.wallMs, isAlive: isAlive(view), outageSinceMs });
  }

  /**
   * Records when the node is first seen not Ready, and the signals of maintenance on it, which is their start if they have no time. What was
   * recorded of signals stays while they are on the node, whatever the policy of the node is meanwhile: their maximum does not begin again.
   */
  noteStarts(node: string): void {
    const view = this.#options.nodes.get(node);
    if (view === undefined) {
      this.#starts.forget(node);
      return this.#unready.forget(node);
    }
    this.#unready.note(view, instantOf(this.#options.clock));
    const noted = this.#starts.notedOn(node);
    const rules = [...this.#maintenanceRulesOf(node), ...(noted === undefined ? [] : [noted])];
    if (rules.length > 0) this.#starts.note(view, selectSignals(rules, view), instantOf(this.#options.clock));
  }

  /** Whether two states of a node have different signals of maintenance, by the policy of the node now. */
  differInMaintenance(before: NodeView, after: NodeView): boolean {
    const rules = this.#maintenanceRulesOf(after.name);
    if (rules.length === 0) return false;
    const [was, is] = [before, after].map((node) => JSON.stringify(selectSignals(rules, node)));
    return was !== is;
  }

  #maintenanceRulesOf(node: string): readonly SignalNames[] {
    return this.claimsOf(node).flatMap(({ maintenance }) => maintenance ?? []);
  }

  /** Whether two states of a node have different policies, pauses or signals of maintenance. */
  differ(before: NodeView, after: NodeView): boolean {
    if (before.pause !== after.pause || this.differInMaintenance(before, after)) return true;
    if (this.#differInVetoes(before, after)) return true;
    const { policies } = this.#options.options.current();
    if (policies.length === 0) return false;
    const [was, is] = [before, after].map(({ labels }) => {
      return selectClaims(labels, selectPolicy(labels, policies), policies).map(({ name }) => name);
    });
    return JSON.stringify(was) !== JSON.stringify(is);
  }

  #differInVetoes(before: NodeView, after: NodeView): boolean {
    const rules = this.claimsOf(after.name).flatMap(({ vetoes }) => vetoes ?? []);
    if (rules.length === 0) return false;
    const [was, is] = [before, after].map((node) => JSON.stringify(rules.map((rule) => listVetoes(rule, node))));
    return was !== is;
  }

  forget(node: string): void {
    this.#derived.delete(node);
    this.#starts.forget(node);
    this.#unready.forget(node);
  }

  get size(): number {
    return Math.max(this.#derived.size, this.#starts.size, this.#unready.size);
  }

  #derive(node: string): Derived | undefined {
    const options = this.#options.options.current();
    if (options.policies.length === 0) {
      if (this.#derived.size > 0) this.#derived.clear();
      return undefined;
    }
    const labels = this.#options.nodes.get(node)?.labels;
    const known = this.#derived.get(node);
    if (labels === undefined) {
      if (known !== undefined) this.#derived.delete(node);
      return undefined;
    }
    if (known?.labels === labels && known.options === options) return known;
    const selection = selectPolicy(labels, options.policies);
    const graces = mergeGraces(options, policyOf(selection));
    const claims = selectClaims(labels, selection, options.policies);
    const derived = { labels, options, selection, claims, graces, zone: deriveZone(labels, selection) };
    this.#derived.set(node, derived);
    return derived;
  }
}

/** What any of these rules means by maintenance on this node, each signal once. */
function selectSignals(
  rules: readonly SignalNames[],
  node: Pick<NodeView, 'conditions' | 'taints'>,
): readonly MaintenanceSignal[] {
  const conditions = rules.flatMap((rule) => rule.conditions);
  const taints = rules.flatMap((rule) => rule.taints);
  return selectMaintenanceSignals({ conditions, taints }, node);
}

/** The policy that applies; undefined: the default, also in a conflict. */
function policyOf(selection: PolicySelection): NodePolicy | undefined {
  return selection.kind === 'policy' ? selection.policy : undefined;
}

function mergeGraces(options: GracePeriods, policy: NodePolicy | undefined): GracePeriods {
  if (policy === undefined) return options;
  return {
    nodeMonitorGracePeriodMs: policy.nodeMonitorGracePeriodMs ?? options.nodeMonitorGracePeriodMs,
    nodeStartupGracePeriodMs: policy.nodeStartupGracePeriodMs ?? options.nodeStartupGracePeriodMs,
  };
}

/** What on this node means planned maintenance now, whatever its age: True conditions, then taints. */
export function selectMaintenanceSignals(
  { conditions, taints }: SignalNames,
  node: Pick<NodeView, 'conditions' | 'taints'>,
): readonly MaintenanceSignal[] {
  return [
    ...node.conditions
      .filter(({ type, status }) => status === 'True' && conditions.includes(type))
      .map(({ type, lastTransitionTime }) => toSignal('condition', type, lastTransitionTime)),
    ...node.taints
      .filter(({ key }) => taints.includes(key))
      .map(({ key, timeAdded }) => toSignal('taint', key, timeAdded)),
  ];
}

/** A missing time is null in some forms on the wire. */
function toSignal(kind: MaintenanceSignal['kind'], name: string, at: string | null | undefined): MaintenanceSignal {
  return { kind, name, at: at ?? undefined };
}
