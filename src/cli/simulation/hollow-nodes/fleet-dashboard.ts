// The dashboard of a fleet of hollow nodes: what the fleet knows of its nodes, and what the API server shows of them. The state
// of a controller is not part of it.
import { AgeHistogram } from '../../../dashboard/server/age-histogram.ts';
import { classifyNodeState } from '../../../controller/report/classify-node-state.ts';
import { DashboardBoard } from '../../../dashboard/server/dashboard-board.ts';
import type { DashboardSource } from '../../../dashboard/server/dashboard-source.ts';
import type { NodeCell, NodeState, Sample } from '../../../dashboard/protocol.ts';
import type { FaultInjector } from '../../../hollow-cluster/kubelet/faults/fault-injector.ts';
import type { GroundTruth } from '../../../hollow-cluster/kubelet/faults/ground-truth.ts';
import { describeFault } from '../../../hollow-cluster/kubelet/faults/node-faults.ts';
import type { FleetNode } from '../../../hollow-cluster/kubelet/faults/select-nodes.ts';
import type { FleetNodeStatus, HollowFleet } from '../../../hollow-cluster/kubelet/fleet/fleet.ts';
import { findCondition, listConditions } from '../../../machinery/api/conditions.ts';
import { isHealthTaint } from '../../../machinery/api/taints.ts';
import { formatTime } from '../../../machinery/api/timestamps.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { Alarm } from '../../../machinery/supervision/alarm.ts';
import type { Action } from '../actions/action-schema.ts';
import type { ActionResult, Actions } from '../actions/actions.ts';
import { NodeCuts } from '../actions/node-cuts.ts';
import { buildFaultBanners, buildFleetZones, selectZone } from './build-fleet-rows.ts';
import { FleetTimeline } from './fleet-timeline.ts';

interface FleetDashboardOptions {
  readonly fleet: HollowFleet;
  readonly clock: Clock;
  readonly version: string;
  /** Identity of this process. */
  readonly identity: string;
  readonly actionKinds: readonly string[];
}

const tickMs = 1_000;
const samplesEverySeconds = 10;
const timelineMax = 500;

export class FleetDashboard {
  readonly #options: FleetDashboardOptions;
  readonly #board: DashboardBoard;
  readonly #alarm: Alarm;
  readonly #timeline = new FleetTimeline();
  /** When each fault that is active began. */
  readonly #beganAtMs = new Map<string, number>();

  constructor(options: FleetDashboardOptions) {
    const { version, identity, actionKinds } = options;
    this.#options = options;
    this.#board = new DashboardBoard({
      server: { version, kind: 'hollow-nodes', identity, actionKinds, samplesEverySeconds, timelineMax },
      onWatch: () => this.#alarm.wakeUp(),
    });
    this.#alarm = new Alarm(options.clock);
  }

  get source(): DashboardSource {
    return this.#board;
  }

  onGroundTruth(truth: GroundTruth): void {
    this.#timeline.note(truth);
    if (truth.change === 'begin' && !this.#beganAtMs.has(truth.fault)) this.#beganAtMs.set(truth.fault, truth.atMs);
  }

  /** Runs until the signal aborts. Without a viewer only the plots and the timeline are kept. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let sampleAtMs = clock.monotonicMs(); !signal.aborted; await this.#alarm.wait(tickMs, signal)) {
      this.#board.addLines(this.#timeline.take());
      this.#forgetEnded();
      if (clock.monotonicMs() >= sampleAtMs) {
        this.#board.addSample(this.#sample());
        sampleAtMs += samplesEverySeconds * 1_000;
      }
      if (this.#board.isWatched) this.#refresh();
    }
  }

  #refresh(): void {
    const { fleet } = this.#options;
    const cells = [...fleet.nodes()].map((node) => this.#cell(node));
    for (const cell of cells) this.#board.set(cell);
    this.#board.setZones(buildFleetZones(cells));
    this.#board.setCluster({
      at: this.#now(),
      mode: 'hollow-nodes',
      leading: false,
      leader: null,
      shadow: false,
      replicas: [],
      holds: buildFaultBanners(fleet.faults.list(), this.#beganAtMs, describeFault),
      policies: [],
      evictions: [],
      evictionsTotal: 0,
      comparison: null,
    });
    this.#board.publish();
  }

  #cell(node: FleetNodeStatus): NodeCell {
    const { name, pods } = node;
    const state = this.#stateOf(node);
    const known = this.#board.node(name);
    const since = known?.state === state ? known.since : this.#now();
    return { name, zone: selectZone(node), policy: null, state, since, pods, held: null, next: null };
  }

  #stateOf({ name, cutOff }: FleetNodeStatus): NodeState {
    const object = this.#options.fleet.object(name);
    const ready = findCondition(listConditions(object?.status?.conditions), 'Ready')?.status ?? 'missing';
    const isTainted = (object?.spec?.taints ?? []).some(
      (taint) => taint.effect === 'NoExecute' && isHealthTaint(taint),
    );
    return classifyNodeState({
      ready,
      isSilent: cutOff,
      isTainted,
      isEvicted: false,
      hasLeavingPods: false,
      isMaintained: false,
      isPaused: false,
    });
  }

  #sample(): Sample {
    const { fleet, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const ages = new AgeHistogram();
    let silent = 0;
    for (const { cutOff, renewedAtMs } of fleet.nodes()) {
      if (cutOff) silent += 1;
      else if (renewedAtMs !== undefined) ages.add(nowMs - renewedAtMs);
    }
    const [heartbeatP50, heartbeatP99] = [ages.quantileSeconds(0.5), ages.quantileSeconds(0.99)];
    return { at: this.#now(), silent, evictions: null, requests: null, heartbeatP50, heartbeatP99 };
  }

  #forgetEnded(): void {
    const active = new Set(this.#options.fleet.faults.list().map(({ id }) => id));
    for (const id of this.#beganAtMs.keys()) if (!active.has(id)) this.#beganAtMs.delete(id);
  }

  #now(): string {
    return formatTime(this.#options.clock.nowMs());
  }
}

/** The actions of hollow nodes: on their own connections only. */
export class FleetActions implements Actions {
  readonly kinds = ['cut', 'undo'] as const;
  readonly #faults: FaultInjector;
  readonly #cuts: NodeCuts;

  constructor(faults: FaultInjector, nodes: readonly FleetNode[]) {
    this.#faults = faults;
    this.#cuts = new NodeCuts({ faults, nodes, zoneOf: selectZone });
  }

  act(action: Action): ActionResult {
    if (action.kind === 'cut') return this.#cuts.cut(action);
    if (action.kind !== 'undo') return { conflict: `${action.kind}: hollow nodes have no such action` };
    const count = this.#faults.list().length;
    this.#faults.clear();
    return { text: count === 1 ? 'ended 1 fault' : `ended ${count} faults` };
  }
}
