// Policies and pauses, for the other stages: the grace periods of a node, what holds its writes, and the writer that
// enforces it.
import type { NodeView } from '../../api/node.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Live } from '../../ports/live.ts';
import type { Meter } from '../../ports/meter.ts';
import type { ClosableWriter, NodeSource } from '../model/commands.ts';
import type { DecisionSink } from '../model/decisions.ts';
import type { ControllerOptions } from '../model/options.ts';
import type { GracePeriods, Maintenance, NodeAct, NodeHold, PolicyCount, PolicySelection } from '../model/policy.ts';
import { ActHolds } from './act-holds.ts';
import { buildPolicyCounts } from './build-policy-counts.ts';
import { HoldingWriter } from './holding-writer.ts';
import { MaintenanceWatch } from './maintenance-watch.ts';
import { NodePolicies, type PolicyOptions } from './node-policies.ts';
import { showPolicyNodes } from './policy-gauges.ts';
import { PolicyJournal } from './policy-journal.ts';
import { selectShortestGrace } from './select-shortest-grace.ts';

interface PolicyStageOptions {
  readonly options: Live<ControllerOptions>;
  readonly nodes: NodeSource;
  /** Names of all nodes. */
  readonly names: () => Iterable<string>;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
}

export class PolicyStage {
  /** The options with the shortest grace period of all policies: stale watches are detected in time for each node. */
  readonly strictest: Live<ControllerOptions>;
  /** Nodes in planned maintenance. */
  readonly maintenance: MaintenanceWatch;
  readonly #options: PolicyStageOptions;
  readonly #policies: NodePolicies;
  readonly #holds: ActHolds;
  readonly #journal: PolicyJournal;
  #applied: PolicyOptions;
  /** Saves the computation, because it is read for each heartbeat. */
  #shortest: { readonly of: ControllerOptions; readonly options: ControllerOptions } | undefined;

  constructor(options: PolicyStageOptions) {
    this.#options = options;
    this.#policies = new NodePolicies(options);
    this.#holds = new ActHolds({ ...options, policies: this.#policies });
    this.#journal = new PolicyJournal({ ...options, policies: this.#policies });
    this.maintenance = new MaintenanceWatch({ ...options, maintenanceOf: (node) => this.maintenanceOf(node) });
    this.strictest = { current: () => this.#withShortestGrace() };
    this.#applied = options.options.current();
    showPolicyNodes(options.meter, () => this.counts());
  }

  /** The writer that sends nothing that is held. */
  holding(writer: ClosableWriter): ClosableWriter {
    const maintenanceOf = (node: string): Maintenance | undefined => this.maintenanceOf(node);
    return new HoldingWriter({ ...this.#options, writer, holds: this.#holds, maintenanceOf });
  }

  /** The grace periods of this node. */
  current(node: string): GracePeriods {
    return this.#policies.gracesOf(node);
  }

  selectionOf(node: string): PolicySelection {
    return this.#policies.selectionOf(node);
  }

  /** What holds writes for this node. Records nothing: for reports. */
  holdOf(node: string): NodeHold | undefined {
    return this.#policies.holdOf(node);
  }

  /** Planned maintenance, which holds NoExecute taints and evictions for the health of this node only. */
  maintenanceOf(node: string): Maintenance | undefined {
    return this.#policies.maintenanceOf(node);
  }

  /** What holds this write, which is about to be made. */
  check(node: string, act: NodeAct): NodeHold | undefined {
    return this.#holds.check(node, act);
  }

  /** Milliseconds for which this write, which is about to be made, is held; 0: not held. */
  heldForMs(node: string, act: NodeAct): number {
    const hold = this.#holds.check(node, act);
    return hold === undefined ? 0 : Math.max(1, hold.untilMs - this.#options.clock.nowMs());
  }

  /** The node is evaluated. `isHealthy`: Ready, with a heartbeat within its grace period. */
  observe(node: NodeView, isHealthy: boolean): void {
    this.#journal.observe(node);
    if (isHealthy) this.#holds.recovered(node.name);
  }

  /** Whether these states of a node have different signals of maintenance, be it the time of one. */
  differInMaintenance(before: NodeView, after: NodeView): boolean {
    return this.#policies.differInMaintenance(before, after);
  }

  /** Whether these states of a node have different policies, pauses or signals of maintenance. */
  differ(before: NodeView, after: NodeView): boolean {
    return this.#policies.differ(before, after);
  }

  /** Whether the policies, or the pause of all nodes, changed since the last call. */
  takeChange(): boolean {
    const { policies, paused } = this.#applied;
    this.#applied = this.#options.options.current();
    return policies !== this.#applied.policies || paused !== this.#applied.paused;
  }

  /** How many nodes each policy applies to. */
  counts(): readonly PolicyCount[] {
    const { options, names } = this.#options;
    if (options.current().policies.length === 0) return [];
    return buildPolicyCounts(options.current().policies, names(), (name) => this.#policies.selectionOf(name));
  }

  /** The mode of the hold of each node of which anything is withheld now. */
  heldModes(): readonly NodeHold['mode'][] {
    return this.#holds.nodes().flatMap((node) => this.holdOf(node)?.mode ?? []);
  }

  /** The node no longer exists. */
  forget(node: string): void {
    this.#policies.forget(node);
    this.#holds.forget(node);
    this.#journal.forget(node);
    this.maintenance.forget(node);
  }

  /** Number of entries of the largest collection. */
  get size(): number {
    return Math.max(this.#policies.size, this.#holds.size, this.#journal.size, this.maintenance.size);
  }

  #withShortestGrace(): ControllerOptions {
    const options = this.#options.options.current();
    if (options.policies.length === 0) return options;
    if (this.#shortest?.of !== options) this.#shortest = { of: options, options: selectShortestGrace(options) };
    return this.#shortest.options;
  }
}
