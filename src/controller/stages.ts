// Creates the stages and connects them. Dependencies between stages are passed as functions (`isHeld`, `stateOf`):
// no stage imports another. Options may change at run time, so a stage gets them as a `Live` value.
import { findCondition, neverUpdated } from '../machinery/api/conditions.ts';
import type { DaemonSetView } from '../machinery/api/daemonset.ts';
import type { LeaseView } from '../machinery/api/lease.ts';
import type { NodeView } from '../machinery/api/node.ts';
import { objectKey } from '../machinery/api/object-key.ts';
import { podKey, type PodView } from '../machinery/api/pod.ts';
import { isOlder } from '../machinery/api/resource-version.ts';
import { nodeLeaseNamespace } from '../machinery/api/resources.ts';
import { isControlPlaneNode, isExcludedFromDisruption, zoneOf } from '../machinery/api/topology.ts';
import type { Informer, StoreReader } from '../machinery/informer/informer.ts';
import { MutationCache } from '../machinery/informer/mutation-cache.ts';
import type { Ambient } from '../machinery/ports/ambient.ts';
import type { Clock } from '../machinery/ports/clock.ts';
import type { EventRecorder } from '../machinery/ports/event-recorder.ts';
import type { Leadership } from '../machinery/ports/leadership.ts';
import type { Meter } from '../machinery/ports/meter.ts';
import type { CanaryLease, LiveLeases } from '../machinery/ports/leases.ts';
import type { WriteLanes } from '../machinery/ports/write-lanes.ts';
import { Alarm } from '../machinery/supervision/alarm.ts';
import type { ClosableWriter, CommandWriter, NodeSource, PodSource } from './model/commands.ts';
import { removalRules } from './removal-rules.ts';
import { DecisionLog } from './decision-log/decision-log.ts';
import { evaluationFailed } from './model/decisions.ts';
import { podsByNode, TaintEvictor } from './taint-eviction/taint-evictor.ts';
import { graceOf, readyOf, unobservedRenewalMs } from './health/assess-node.ts';
import { FlappingTainter } from './flapping/flapping-tainter.ts';
import { FlappingWatch } from './flapping/flapping-watch.ts';
import type { HealthRecord } from './health/health-record.ts';
import { HealthTable } from './health/health-table.ts';
import { LeaseLoss } from './health/lease-loss.ts';
import { SilenceConfirmer } from './health/silence-confirmer.ts';
import { HealthTransitions } from './health/health-transitions.ts';
import { showHeldNodes } from './snapshot/held-nodes.ts';
import { showWaitingPods } from './snapshot/waiting-pods.ts';
import { LabelKeeper } from './labels/label-keeper.ts';
import { LiveNodes } from './live-nodes.ts';
import { MonitorPass } from './monitor-pass.ts';
import { NodeReconciler } from './node-reconciler.ts';
import { NodeWorkLoops } from './node-work/node-work-loops.ts';
import type { ControllerOptions, ControllerSelection, PodGcOptions } from './model/options.ts';
import type { ObservedSilence } from './outage/estimate-silences.ts';
import { EvidenceWatch } from './out-of-service/evidence-watch.ts';
import { OutOfServiceTainter } from './out-of-service/out-of-service-tainter.ts';
import { OutageWatch } from './outage/outage-watch.ts';
import type { NodeWrite } from './policies/classify-act.ts';
import { PolicyStage } from './policies/policy-stage.ts';
import { PodEvictor } from './pod-eviction-mode/pod-evictor.ts';
import { PodGarbageCollector } from './pod-gc/pod-garbage-collector.ts';
import { type NodeMarkingState, PodMarker } from './pod-readiness/pod-marker.ts';
import { PodMarkingQueues } from './pod-readiness/pod-marking-queues.ts';
import { ResyncSchedule } from './node-work/resync-schedule.ts';
import { StageHolds } from './stage-holds.ts';
import { Canary } from './freshness/canary.ts';
import { WatchFreshness } from './freshness/watch-freshness.ts';
import { evictionsTotal } from './tainting/metrics.ts';
import { NoExecuteTainter } from './tainting/no-execute-tainter.ts';
import { NoScheduleTainter } from './tainting/no-schedule-tainter.ts';
import { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import { ApiWriter, type ApiWriterOptions } from './writer/api-writer.ts';
import { ZoneTable } from './zones/zone-table.ts';
import type { Now } from './model/node-state.ts';
import type { Live } from '../machinery/ports/live.ts';

export interface NodeLifecycleOptions extends Ambient {
  readonly options: Live<ControllerOptions>;
  readonly controllers: ControllerSelection;
  readonly podGc: Live<PodGcOptions>;
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    /** Of the namespace `kube-node-lease`. */
    readonly leases: Informer<LeaseView>;
    /** With the index `podsByNode`. */
    readonly pods: Informer<PodView>;
    /** With the index `daemonSetsByNamespace`; required in eviction mode only. */
    readonly daemonSets?: Informer<DaemonSetView>;
  };
  readonly api: ApiWriterOptions['api'];
  /** Replaces the writer to the API server, as in shadow mode. */
  readonly writer?: ClosableWriter | undefined;
  readonly lanes: WriteLanes;
  /** Live reads of leases, before a node is marked silent, and probes of the API server. */
  readonly liveLeases: LiveLeases;
  /** Written while leading, to measure whether the lease watch lags; absent: disabled. */
  readonly canaryLease?: CanaryLease | undefined;
  readonly leadership: Leadership;
  readonly recorders: { readonly nodes: EventRecorder; readonly evictions: EventRecorder };
}

const none: ReadonlyMap<string, unknown> = new Map();

/** Common dependencies of the acting stages. */
interface Dependencies {
  readonly nodes: NodeSource;
  readonly writer: CommandWriter;
  readonly decisions: DecisionLog;
  readonly clock: Clock;
  readonly meter: Meter;
}

export class Stages {
  readonly decisions: DecisionLog;
  /** Nodes and leases including live reads and the controller's own writes. */
  readonly nodes: MutationCache<NodeView>;
  readonly leases: MutationCache<LeaseView>;
  readonly pods: PodSource;
  /** Responses to writes of pods that the watch has not delivered yet. */
  readonly podResponses: MutationCache<PodView>;
  /** The policy of each node, and what it holds. */
  readonly policies: PolicyStage;
  readonly canary: Canary | undefined;
  readonly freshness: WatchFreshness;
  readonly health: HealthTable;
  readonly transitions: HealthTransitions;
  readonly zones: ZoneTable;
  readonly outage: OutageWatch;
  readonly queues: ZoneTaintQueues;
  readonly writer: ClosableWriter;
  readonly noExecute: NoExecuteTainter | PodEvictor;
  /** Undefined in taint mode. */
  readonly podEvictor: PodEvictor | undefined;
  readonly evictor: TaintEvictor;
  /** What says of nodes that they were fenced, and whether it came after their last heartbeats. */
  readonly evidence: EvidenceWatch;
  readonly outOfService: OutOfServiceTainter;
  /** Nodes that recover often, and are kept from new pods. */
  readonly flapping: FlappingWatch;
  readonly marking: PodMarkingQueues;
  readonly marker: PodMarker;
  readonly podGc: PodGarbageCollector;
  readonly confirmer: SilenceConfirmer;
  readonly monitor: MonitorPass;
  readonly loops: NodeWorkLoops;
  readonly resync: ResyncSchedule;
  /** Triggers a pass at once. */
  readonly alarm: Alarm;
  /** Woken when a queue of rate-limited actions may be due earlier than known. */
  readonly serving: Alarm;
  readonly dependencies: Dependencies;
  readonly #options: NodeLifecycleOptions;
  readonly #liveNodes: LiveNodes;
  readonly #holds: StageHolds;

  /** `abortWrites` aborts requests in flight. */
  constructor(options: NodeLifecycleOptions, abortWrites: AbortSignal) {
    const { clock, meter, logger, informers } = options;
    this.#options = options;
    this.#holds = new StageHolds(this, options);
    this.decisions = new DecisionLog(logger, meter, () => clock.nowMs());
    const nowMs = (): number => clock.monotonicMs();
    this.nodes = new MutationCache((name) => informers.nodes.store.get(name), {
      nowMs,
      listSentAtMs: () => informers.nodes.status().lastListSentAtMs,
    });
    const leaseOf = (name: string): LeaseView | undefined =>
      informers.leases.store.get(objectKey(nodeLeaseNamespace, name));
    this.leases = new MutationCache(leaseOf, {
      nowMs,
      listSentAtMs: () => informers.leases.status().lastListSentAtMs,
    });
    this.policies = this.#makePolicies();
    this.canary = this.#makeCanary();
    this.freshness = this.#makeFreshness();
    this.health = new HealthTable(this.policies);
    this.transitions = new HealthTransitions({ decisions: this.decisions, meter, clock });
    this.zones = new ZoneTable((zone) => this.policies.zoneOptions(zone), meter);
    this.outage = this.#makeOutageWatch();
    this.queues = new ZoneTaintQueues((zone) => this.policies.zoneOptions(zone), meter, clock);
    const { nodes, decisions } = this;
    const pods = new MutationCache<PodView>((key) => informers.pods.store.get(key), {
      nowMs,
      listSentAtMs: () => informers.pods.status().lastListSentAtMs,
      keyOf: podKey,
    });
    // A remembered response is dropped when the watch has caught up with it, not only at the next read.
    informers.pods.onChange('answers', ({ key }) => void pods.get(key));
    this.podResponses = pods;
    this.pods = overlaid(informers.pods.store, pods);
    const writer = options.writer ?? this.#makeWriter(pods, abortWrites);
    this.writer = this.policies.holding(writer);
    this.dependencies = { nodes, writer: this.writer, decisions, clock, meter };
    this.#liveNodes = this.#makeLiveNodes(abortWrites);
    this.serving = new Alarm(clock);
    this.queues.onEarlier(() => this.serving.wakeUp());
    this.podEvictor = options.options.current().taintBasedEvictions ? undefined : this.#makePodEvictor();
    this.noExecute = this.podEvictor ?? this.#makeNoExecuteTainter();
    this.evictor = this.#makeTaintEvictor();
    this.evidence = new EvidenceWatch((node) => this.policies.outOfServiceOf(node));
    this.outOfService = this.#makeOutOfServiceTainter(abortWrites);
    this.flapping = this.#makeFlappingWatch();
    this.marking = this.#makePodMarkingQueues();
    this.marking.onEarlier(() => this.serving.wakeUp());
    this.marker = this.#makeMarker();
    this.podGc = this.#makePodGc();
    this.alarm = new Alarm(clock);
    this.confirmer = this.#makeConfirmer();
    this.monitor = this.#makeMonitor();
    this.loops = this.#makeLoops();
    this.resync = new ResyncSchedule({
      periodMs: () => options.options.current().nodeMonitorResyncPeriodMs,
      names: () => this.monitor.names(),
    });
    showHeldNodes(meter, this);
    showWaitingPods(meter, this);
  }

  /** The current time on the health clock, which counts only time in which a heartbeat would have been received. */
  healthNow(): Now {
    return { monotonicMs: this.freshness.nowMs(), wallMs: this.#options.clock.nowMs() };
  }

  /** Ready, and not silent. Where another controller detects failures, Ready alone counts. */
  #isHealthy(name: string): boolean {
    const node = this.nodes.get(name);
    if (node === undefined || readyOf(node) !== 'True') return false;
    return !this.#options.controllers.nodeLifecycle || this.health.evaluate(node, this.healthNow()).kind === 'alive';
  }

  #stateOf(name: string): NodeMarkingState | undefined {
    const node = this.nodes.get(name);
    const record = this.health.get(name);
    if (node === undefined || record === undefined) return undefined;
    const neverPosted = findCondition(node.conditions, 'Ready')?.reason === neverUpdated.reason;
    const { graceMs } = graceOf(record, this.policies.current(name));
    // A record made only from the caches, as after a restart, is not a heartbeat.
    const hasRecentHeartbeat = record.heartbeatSinceUnknown && this.freshness.nowMs() - record.heartbeatAtMs <= graceMs;
    return { ready: readyOf(node), hasRecentHeartbeat, neverPosted };
  }

  #isInMaintenance(node: string): boolean {
    return this.policies.maintenanceOf(node) !== undefined;
  }

  /** Counted nodes that have sent a heartbeat and are not silent. */
  *#expectedSilences(): Iterable<ObservedSilence> {
    const now = this.healthNow();
    for (const name of this.#options.informers.nodes.store.keys()) {
      const node = this.nodes.get(name);
      const record = this.health.get(name);
      if (node === undefined || record === undefined || this.outage.isSilent(name)) continue;
      const { rule, graceMs } = graceOf(record, this.policies.current(name));
      if (rule !== 'monitor' || isExcludedFromDisruption(node.labels) || this.#isInMaintenance(name)) continue;
      const renewedAtMs = unobservedRenewalMs(record, this.leases.get(name), now);
      const isControlPlane = isControlPlaneNode(node.labels);
      yield { zone: zoneOf(node.labels), atMs: record.heartbeatAtMs + graceMs, isControlPlane, renewedAtMs };
    }
  }

  #makePolicies(): PolicyStage {
    const { informers, recorders } = this.#options;
    return new PolicyStage({
      ...this.#options,
      nodes: this.nodes,
      names: () => informers.nodes.store.keys(),
      isHealthy: (node) => this.#isHealthy(node),
      onBreakerChange: () => this.alarm.wakeUp(),
      podsOn: (node) => informers.pods.store.byIndex(podsByNode, node),
      beingTainted: () => (this.noExecute instanceof NoExecuteTainter ? this.noExecute.beingTainted() : none),
      decisions: this.decisions,
      recorder: recorders.nodes,
    });
  }

  #makeCanary(): Canary | undefined {
    const { canaryLease, informers, clock, logger, meter } = this.#options;
    if (canaryLease === undefined) return undefined;
    return new Canary({
      lease: canaryLease,
      leases: informers.leases,
      options: this.policies.strictest,
      reopen: () => this.#reopen(),
      clock,
      logger,
      meter,
    });
  }

  #reopen(openedByMs?: number): void {
    for (const informer of Object.values(this.#options.informers)) informer.reopen(openedByMs);
  }

  #makeFreshness(): WatchFreshness {
    const { informers, liveLeases, recorders, clock, meter } = this.#options;
    return new WatchFreshness({
      options: this.policies.strictest,
      ...informers,
      live: liveLeases,
      canary: this.canary,
      reopen: (openedByMs) => this.#reopen(openedByMs),
      onRollback: () => {
        for (const informer of Object.values(informers)) informer.noticeRollback();
      },
      decisions: this.decisions,
      recorder: recorders.nodes,
      meter,
      clock,
    });
  }

  #makeOutageWatch(): OutageWatch {
    const { options, recorders, meter } = this.#options;
    return new OutageWatch({
      limits: options,
      expectedSilences: () => this.#expectedSilences(),
      healthNowMs: () => this.freshness.nowMs(),
      isStale: () => this.freshness.staleness() !== undefined,
      decisions: this.decisions,
      recorder: recorders.nodes,
      meter,
    });
  }

  #makeNoExecuteTainter(): NoExecuteTainter {
    return new NoExecuteTainter({
      ...this.dependencies,
      queues: this.queues,
      serving: this.serving,
      readyOf,
      takeTransitionAgeMs: (node) => this.transitions.takeTransitionAgeMs(node),
      isPaused: () => this.#holds.evictionHold() !== undefined,
      heldForMs: (node) => this.#noExecuteHeldForMs(node),
      fullDisruption: () => this.zones.fullDisruption,
    });
  }

  #makeOutOfServiceTainter(signal: AbortSignal): OutOfServiceTainter {
    const { recorders, writer, liveLeases } = this.#options;
    return new OutOfServiceTainter({
      ...this.dependencies,
      recorder: recorders.nodes,
      // A shadow compares what both would do, and kube-controller-manager adds no such taint.
      ruleOf: (node) => (writer === undefined ? this.policies.outOfServiceOf(node) : undefined),
      isSilent: (node) => this.health.evaluate(node, this.healthNow()).kind === 'silent',
      evidence: this.evidence,
      renewedAt: (node) => this.leases.get(node)?.renewTime,
      live: liveLeases,
      signal,
      heldForMs: (node) => (this.#holds.evictionHold() === undefined ? this.#noExecuteHeldForMs(node) : Infinity),
    });
  }

  #makeFlappingWatch(): FlappingWatch {
    const { options, informers, writer, clock } = this.#options;
    return new FlappingWatch({
      options,
      clock,
      names: () => informers.nodes.store.keys(),
      selectionOf: (node) => this.policies.selectionOf(node),
      isMaintained: (node) => this.#isInMaintenance(node),
      // A shadow compares what both would do, and kube-controller-manager keeps no flapping node.
      isEnabled: writer === undefined,
    });
  }

  #makePodEvictor(): PodEvictor {
    const { options, informers, recorders } = this.#options;
    if (informers.daemonSets === undefined) throw new TypeError('eviction mode: an informer of DaemonSets is required');
    return new PodEvictor({
      ...this.dependencies,
      options,
      pods: informers.pods.store,
      podsByNode,
      daemonSets: informers.daemonSets.store,
      queues: this.queues,
      zoneOf: (node) => this.policies.zoneOf(node),
      serving: this.serving,
      recorder: recorders.nodes,
      evictionsTotal,
      readyOf,
      healthOf: (node) => this.health.get(node),
      healthNowMs: () => this.freshness.nowMs(),
      isPaused: () => this.#holds.evictionHold() !== undefined,
      heldForMs: (node) =>
        Math.max(this.#heldForMs({ node, act: 'delete-pods', evicts: true }), this.#holds.heldByMaintenanceMs(node)),
      arePodsStale: () => this.freshness.arePodsStale(),
      deletionRateOf: (node) => this.policies.deletionRateOf(node),
      isNodeWatchBehind: (version) => this.#isNodeWatchBehind(version),
      liveNode: (name) => this.#liveNodes.latest(name),
      fullDisruption: () => this.zones.fullDisruption,
    });
  }

  #makeWriter(pods: MutationCache<PodView>, signal: AbortSignal): ApiWriter {
    // Only if nothing else evaluates it: the retry of the refused write is not to come before its backoff.
    const onNodeRead = (name: string): void => {
      if (this.monitor.isCovered(name)) return;
      this.monitor.touch(name);
      this.alarm.wakeUp();
    };
    return new ApiWriter({ ...this.#options, nodes: this.nodes, pods, decisions: this.decisions, onNodeRead, signal });
  }

  #makeLiveNodes(signal: AbortSignal): LiveNodes {
    const { api, clock } = this.#options;
    const { decisions } = this;
    return new LiveNodes({
      api,
      clock,
      signal,
      onFault: (node, error) => {
        decisions.note(evaluationFailed('live read of a node', node, error));
      },
    });
  }

  #makeTaintEvictor(): TaintEvictor {
    const { recorders, lanes } = this.#options;
    return new TaintEvictor({
      ...this.dependencies,
      pods: this.pods,
      writesAtOnceMax: lanes.concurrencyMax,
      recorder: recorders.evictions,
      isCacheLate: (node) => this.#holds.isCacheLate(node),
      arePodsStale: () => this.freshness.arePodsStale(),
      holdOf: (node) => this.#holds.evictionHoldOf(node),
      policyHoldOf: (node) => {
        this.#holds.noteAct({ node, act: 'delete-pods', evicts: false });
        return this.#holds.policyHoldOf(node);
      },
      removals: removalRules(this, this.#options.controllers.nodeLifecycle),
      isNodeWatchBehind: (version) => this.#isNodeWatchBehind(version),
      liveNode: (name, sentSinceMs) => this.#liveNodes.latest(name, sentSinceMs),
    });
  }

  /** Never for a shadow: the node of the API server has no taint of the shadow, so a read would confirm no deletion. */
  #isNodeWatchBehind(version: string): boolean {
    if (this.#options.writer !== undefined) return false;
    return isOlder(this.#options.informers.nodes.status().resourceVersion, version);
  }

  /** Milliseconds for which a write that is due is held. */
  #heldForMs(write: NodeWrite): number {
    this.#holds.noteAct(write);
    return this.#holds.heldForMs(write);
  }

  /** Milliseconds for which a NoExecute taint that is due for the health of a node is held. */
  #noExecuteHeldForMs(node: string): number {
    this.#holds.noteAct({ node, act: 'add-taints', evicts: true });
    return this.#holds.noExecuteHeldForMs(node);
  }

  #makePodMarkingQueues(): PodMarkingQueues {
    const { clock, meter } = this.#options;
    return new PodMarkingQueues({
      optionsOf: (zone) => this.policies.zoneOptions(zone),
      zoneOf: (name) => this.policies.zoneOf(this.nodes.get(name) ?? { name, labels: {} }),
      heartbeatOf: (node) => lastHeartbeatOf(this.health.get(node)),
      // A stale watch may not show that a kubelet is back, whose status must not be overwritten.
      isPaused: () => this.freshness.staleness() !== undefined,
      heldForMs: (node) => this.#heldForMs({ node, act: 'mark-pods-not-ready', evicts: false }),
      clock,
      meter,
    });
  }

  #makeMarker(): PodMarker {
    const { recorders } = this.#options;
    return new PodMarker({
      ...this.dependencies,
      pods: this.pods,
      podsByNode,
      stateOf: (node) => this.#stateOf(node),
      slots: this.marking,
      recorder: recorders.nodes,
    });
  }

  #makeConfirmer(): SilenceConfirmer {
    const { leases, transitions, decisions, freshness, alarm } = this;
    const { liveLeases: live, options, clock, informers } = this.#options;
    const loss = new LeaseLoss({
      hadLease: (node) => this.health.get(node)?.lease !== undefined,
      areMostMissing: () => 2 * informers.leases.store.size < informers.nodes.store.size,
      clock,
    });
    return new SilenceConfirmer({ live, leases, loss, options, freshness, transitions, decisions, clock, alarm });
  }

  #makeMonitor(): MonitorPass {
    const { health, transitions, zones, outage, queues, marking, leases, freshness, policies, flapping } = this;
    const { informers, recorders } = this.#options;
    const stages = { health, transitions, zones, outage, queues, marking, leases, freshness, policies, flapping };
    return new MonitorPass({
      ...this.dependencies,
      ...stages,
      store: informers.nodes.store,
      recorder: recorders.nodes,
    });
  }

  #makeLoops(): NodeWorkLoops {
    const { health, transitions, zones, outage, monitor, noExecute, marker, freshness, dependencies } = this;
    const reconciler = new NodeReconciler({
      ...dependencies,
      outOfService: this.outOfService,
      flapping: new FlappingTainter({
        ...dependencies,
        watch: this.flapping,
        recorder: this.#options.recorders.nodes,
      }),
      zoneOf: (node) => this.policies.zoneOf(node),
      health,
      transitions,
      zones,
      outage,
      monitor,
      noExecute,
      marker,
      freshness,
      noSchedule: new NoScheduleTainter(dependencies),
      labels: new LabelKeeper(dependencies),
      recorder: this.#options.recorders.nodes,
    });
    return new NodeWorkLoops({ ...dependencies, reconciler });
  }

  #makePodGc(): PodGarbageCollector {
    const { podGc, informers } = this.#options;
    return new PodGarbageCollector({
      ...this.dependencies,
      podGc,
      pods: informers.pods.store,
      readNode: (name, sentSinceMs) => this.#liveNodes.read(name, sentSinceMs),
      relistNodes: () => informers.nodes.relist(),
    });
  }
}

/** What the kubelet wrote last: the end of a full disruption, which begins new grace periods, does not change it. */
function lastHeartbeatOf(record: HealthRecord | undefined): string | undefined {
  return record && `${record.readyHeartbeat ?? ''} ${record.lease?.renewTime ?? ''}`;
}

/** The pods of the store, each replaced by a newer response of the API server. */
function overlaid(store: StoreReader<PodView>, answers: MutationCache<PodView>): PodSource {
  return {
    get: (key) => answers.get(key),
    byIndex: (index, value) => store.byIndex(index, value).map((pod) => answers.get(podKey(pod)) ?? pod),
  };
}
