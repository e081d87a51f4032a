// A cluster as a controller with these options would evaluate it now: the policies, the health of its nodes and its zones,
// by the same code. A heartbeat is as old as the clock of its kubelet says, because none was observed.
import { FlappingWatch } from '../../controller/flapping/flapping-watch.ts';
import { assessNode, buildRecord, type NodeAssessment, readyOf } from '../../controller/health/assess-node.ts';
import type { HealthRecord } from '../../controller/health/health-record.ts';
import type { Now } from '../../controller/model/node-state.ts';
import type { ControllerOptions } from '../../controller/model/options.ts';
import { buildMarkingState } from '../../controller/pod-readiness/build-marking-state.ts';
import type { NodeMarkingState } from '../../controller/pod-readiness/pod-marker.ts';
import type { NextTaint } from '../../controller/policies/emptying-nodes.ts';
import { PolicyStage } from '../../controller/policies/policy-stage.ts';
import { ZoneTable } from '../../controller/zones/zone-table.ts';
import { findCondition } from '../../machinery/api/conditions.ts';
import type { LeaseView } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import { isExcludedFromDisruption } from '../../machinery/api/topology.ts';
import type { Meter } from '../../machinery/ports/meter.ts';

/** Objects of a cluster, read at one time. */
export interface ClusterState {
  /** Wall time at which it was read. */
  readonly atMs: number;
  readonly nodes: readonly NodeView[];
  /** By the name of the node. */
  readonly leases: ReadonlyMap<string, LeaseView>;
  /** Bound pods, by the name of the node. */
  readonly pods: ReadonlyMap<string, readonly PodView[]>;
  /** Whose pods ask to be kept; absent: the labels of namespaces were not read. */
  readonly autonomousNamespaces?: ReadonlySet<string> | undefined;
}

const ignore = (): void => undefined;
const noMeter: Meter = { add: ignore, set: ignore, observe: ignore, forget: ignore, onRead: ignore };

export class ClusterEvaluation {
  readonly policies: PolicyStage;
  readonly zones: ZoneTable;
  /** Knows of the recoveries only what the annotations of the nodes say. */
  readonly flapping: FlappingWatch;
  readonly now: Now;
  readonly options: ControllerOptions;
  readonly #state: ClusterState;
  readonly #nodes: ReadonlyMap<string, NodeView>;
  /** Nodes that get a NoExecute taint: each counts for `maxConcurrentEvictions` of those after it. */
  readonly #beingTainted = new Map<NextTaint, Set<string>>([
    ['of-status', new Set()],
    ['out-of-service', new Set()],
  ]);

  /** `before`: the options until now, whose open breakers go on with their cooldowns where the policy stays. */
  constructor(
    state: ClusterState,
    options: ControllerOptions & { readonly namespaceAutonomy?: boolean },
    before: ControllerOptions,
  ) {
    this.options = options;
    let current = before;
    this.#state = state;
    this.#nodes = new Map(state.nodes.map((node) => [node.name, node]));
    // Ages are all that counts, so both clocks show the same time.
    this.now = { monotonicMs: state.atMs, wallMs: state.atMs };
    const live = { current: () => current };
    const clock = { nowMs: () => state.atMs, monotonicMs: () => state.atMs };
    const names = (): Iterable<string> => this.#nodes.keys();
    this.policies = new PolicyStage({
      options: live,
      nodes: this.#nodes,
      names,
      isAlive: (node) => this.assess(node).kind !== 'silent',
      isHealthy: (name) => this.#isHealthy(name),
      isAutonomous: (namespace) =>
        options.namespaceAutonomy === true && state.autonomousNamespaces?.has(namespace) === true,
      podsOn: (name) => state.pods.get(name) ?? [],
      beingTainted: () => [...this.#beingTainted].map(([next, nodes]) => ({ next, nodes })),
      // No place is given within the moment that is evaluated.
      isHeld: () => false,
      onBreakerChange: ignore,
      decisions: { note: ignore },
      recorder: { record: ignore },
      meter: noMeter,
      clock,
      healthNowMs: clock.monotonicMs,
    });
    this.policies.evaluateBreakers();
    current = options;
    this.zones = new ZoneTable((zone) => this.policies.zoneOptions(zone), noMeter);
    for (const node of state.nodes) this.zones.place(node.name, this.policies.zoneOf(node), this.#standingOf(node));
    this.zones.evaluate();
    this.policies.evaluateBreakers();
    this.flapping = new FlappingWatch({
      options: live,
      names,
      clock,
      selectionOf: (node) => this.policies.flappingSelectionOf(node),
      isMaintained: (node) => this.policies.maintenanceOf(node) !== undefined,
      // What is read at one moment does not show which nodes became silent together.
      isPathFailure: () => false,
      isEnabled: true,
    });
    for (const node of state.nodes) this.flapping.observe(node);
  }

  /** The node gets this taint. */
  noteTainted(node: string, next: NextTaint): void {
    this.#beingTainted.get(next)?.add(node);
  }

  assess(node: NodeView): NodeAssessment {
    return assessNode(node, this.#recordOf(node), this.now, this.policies.current(node.name));
  }

  /** On which it depends whether the pods of this node are marked NotReady. */
  markingStateOf(node: NodeView): NodeMarkingState {
    const { heartbeatSinceUnknown, readyChangedAtMs } = this.#recordOf(node);
    return buildMarkingState(node, {
      ready: this.readyOf(node),
      readyChangedAtMs,
      hasRecentHeartbeat: heartbeatSinceUnknown && this.assess(node).kind === 'alive',
      afterMs: this.policies.notReadyMarkedAfterMs(node.name),
      nowMs: this.now.monotonicMs,
    });
  }

  #recordOf(node: NodeView): HealthRecord {
    return buildHealthRecord(node, this.#state.leases.get(node.name), this.now);
  }

  /** `renewTime` of the lease of this node. */
  renewedAt(node: string): string | undefined {
    return this.#state.leases.get(node)?.renewTime;
  }

  /** The status of Ready with which it counts. */
  readyOf(node: NodeView): string {
    return this.assess(node).kind === 'silent' ? 'Unknown' : readyOf(node);
  }

  #isHealthy(name: string): boolean {
    const node = this.#nodes.get(name);
    return node !== undefined && this.readyOf(node) === 'True';
  }

  /** Standing of a node, as in the monitor pass. */
  #standingOf(node: NodeView): 'ready' | 'unready' | 'excluded' {
    if (isExcludedFromDisruption(node.labels)) return 'excluded';
    if (this.#isHealthy(node.name)) return 'ready';
    return this.policies.maintenanceOf(node.name) === undefined ? 'unready' : 'excluded';
  }
}

/** Health record of a controller that observed the last heartbeat, and the last change of Ready, when they were written. */
function buildHealthRecord(node: NodeView, lease: LeaseView | undefined, now: Now): HealthRecord {
  const record = buildRecord(undefined, { node, lease }, now);
  const ready = findCondition(node.conditions, 'Ready');
  const sentAt = [lease?.renewTime, ready?.lastHeartbeatTime].flatMap((at) => parseTimestamp(at) ?? []);
  const sentAtMs = Math.max(...sentAt);
  const changedAtMs = parseTimestamp(ready?.lastTransitionTime);
  return {
    ...record,
    heartbeatAtMs: sentAt.length === 0 ? record.heartbeatAtMs : Math.min(now.monotonicMs, sentAtMs),
    readyChangedAtMs: Math.min(now.monotonicMs, changedAtMs ?? record.readyChangedAtMs),
    heartbeatSinceUnknown: changedAtMs !== undefined && sentAtMs > changedAtMs,
  };
}
