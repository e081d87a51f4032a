// Puts the stages in order and owns their loops. Heartbeats are noticed from the moment the informers run, leader or not,
// so that taking over is quick; everything that writes runs only while leading.
import { findCondition, neverUpdated } from '../api/conditions.ts';
import { objectKey } from '../api/object-key.ts';
import type { DaemonSetView } from '../api/daemonset.ts';
import type { LeaseView } from '../api/lease.ts';
import type { NodeView } from '../api/node.ts';
import type { PodView } from '../api/pod.ts';
import { nodeLeaseNamespace } from '../api/resources.ts';
import type { Change, Informer } from '../informer/informer.ts';
import { NewerAnswers } from '../informer/newer-answers.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Leadership } from '../ports/leadership.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter, MetricDefinition } from '../ports/meter.ts';
import type { LiveLeases } from '../ports/sight.ts';
import type { WriteLanes } from '../ports/write-lanes.ts';
import { WorkQueue } from '../queueing/work-queue.ts';
import { Alarm } from '../supervision/alarm.ts';
import { every } from '../supervision/every.ts';
import { WorkLoop } from '../supervision/work-loop.ts';
import { DecisionLog, decisionsTotal } from './decision-log.ts';
import { evictionMetrics } from './eviction/metrics.ts';
import { podsByNode, TaintEvictor } from './eviction/taint-evictor.ts';
import { type Now, readyOf } from './health/assess-node.ts';
import { concernsUs } from './health/diff-nodes.ts';
import { HealthTable } from './health/health-table.ts';
import { SilenceConfirmer } from './health/silence-confirmer.ts';
import { healthMetrics } from './health/metrics.ts';
import { LabelKeeper } from './labels/label-keeper.ts';
import { MonitorPass } from './monitor-pass.ts';
import { NodeReconciler } from './node-reconciler.ts';
import type { ControllerOptions, ControllerSelection, PodGcOptions } from './options.ts';
import { podGcMetrics } from './pod-gc/metrics.ts';
import { readNodePresence } from './pod-gc/node-presence.ts';
import { PodEvictor } from './pod-eviction/pod-evictor.ts';
import { PodGarbageCollector } from './pod-gc/pod-garbage-collector.ts';
import type { NodeStanding } from './pod-readiness/decide-marking.ts';
import { PodMarker } from './pod-readiness/pod-marker.ts';
import { evictionsTotal, taintingMetrics } from './tainting/metrics.ts';
import { NoExecuteTainter } from './tainting/no-execute-tainter.ts';
import { NoScheduleTainter } from './tainting/no-schedule-tainter.ts';
import { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import { ApiWriter, type ApiWriterOptions } from './writer/api-writer.ts';
import { sightMetrics } from './sight/metrics.ts';
import { Observer } from './sight/observer.ts';
import { zoneMetrics } from './zones/metrics.ts';
import { ZoneTable } from './zones/zone-table.ts';

const noExecutePassPeriodMs = 100;
const nodesAtOnceMax = 16;
const retryLimits = { delayMsMin: 100, delayMsMax: 30_000 } as const;
/** How long writes that are under way may take when we stop. */
const drainMsMax = 5_000;

export { podsByNode } from './eviction/taint-evictor.ts';
export { daemonSetsByNamespace } from './pod-eviction/pod-deleter.ts';

/** Every metric of the controller, for whoever exposes or documents them. */
export const controllerMetrics: readonly MetricDefinition[] = [
  ...healthMetrics,
  ...zoneMetrics,
  ...taintingMetrics,
  ...evictionMetrics,
  ...sightMetrics,
  ...podGcMetrics,
  decisionsTotal,
];

export interface NodeLifecycleOptions {
  readonly options: ControllerOptions;
  readonly controllers: ControllerSelection;
  readonly podGc: PodGcOptions;
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    /** Of the namespace `kube-node-lease`. */
    readonly leases: Informer<LeaseView>;
    /** With the index `podsByNode`. */
    readonly pods: Informer<PodView>;
    /** With the index `daemonSetsByNamespace`; for the older eviction mode only, which must have it. */
    readonly daemonSets?: Informer<DaemonSetView>;
  };
  readonly api: ApiWriterOptions['api'];
  readonly lanes: WriteLanes;
  /** The API server itself, to be asked before a node is called silent, and whether it is there at all. */
  readonly liveLeases: LiveLeases;
  readonly leadership: Leadership;
  readonly recorders: { readonly nodes: EventRecorder; readonly evictions: EventRecorder };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

export class NodeLifecycle {
  readonly decisions: DecisionLog;
  readonly zones: ZoneTable;
  readonly queues: ZoneTaintQueues;
  readonly health: HealthTable;
  readonly evictor: TaintEvictor;
  readonly sight: Observer;
  readonly podGc: PodGarbageCollector;
  readonly #options: NodeLifecycleOptions;
  readonly #nodes: NewerAnswers<NodeView>;
  readonly #leases: NewerAnswers<LeaseView>;
  readonly #confirmer: SilenceConfirmer;
  readonly #writer: ApiWriter;
  readonly #abortWrites = new AbortController();
  /** Undefined in taint mode. */
  readonly podEvictor: PodEvictor | undefined;
  readonly #noExecute: NoExecuteTainter | PodEvictor;
  readonly #marker: PodMarker;
  readonly #monitor: MonitorPass;
  readonly #nodeLoop: WorkLoop;
  readonly #alarm: Alarm;

  constructor(options: NodeLifecycleOptions) {
    const { clock, meter, logger, informers, recorders } = options;
    this.#options = options;
    this.decisions = new DecisionLog(logger, meter, () => clock.nowMs());
    this.#alarm = new Alarm(clock);
    this.#nodes = new NewerAnswers((name) => informers.nodes.store.get(name));
    this.#leases = new NewerAnswers((name) => informers.leases.store.get(objectKey(nodeLeaseNamespace, name)));
    this.sight = this.#makeSight();
    this.health = new HealthTable(options.options);
    this.zones = new ZoneTable(options.options, meter);
    this.queues = new ZoneTaintQueues(options.options.nodeEvictionRate, meter);
    const { decisions } = this;
    const nodes = this.#nodes;
    this.#writer = new ApiWriter({ ...options, nodes, decisions, signal: this.#abortWrites.signal });
    const common = { nodes, writer: this.#writer, decisions, clock, meter };
    this.podEvictor = options.options.taintBasedEvictions ? undefined : this.#makePodEvictor();
    this.#noExecute = this.podEvictor ?? new NoExecuteTainter({ ...common, queues: this.queues, readyOf });
    this.evictor = new TaintEvictor({
      ...common,
      pods: informers.pods.store,
      recorder: recorders.evictions,
      everyZoneDark: () => this.zones.everyZoneDark,
    });
    this.#marker = new PodMarker({
      ...common,
      pods: informers.pods.store,
      podsByNode,
      standingOf: (node) => this.#standingOf(node),
      recorder: recorders.nodes,
    });
    this.podGc = new PodGarbageCollector({
      ...common,
      ...options.podGc,
      pods: informers.pods.store,
      readNode: (name) => readNodePresence(options.api, name, this.#abortWrites.signal),
    });
    this.#confirmer = this.#makeConfirmer();
    this.#nodeLoop = this.#makeNodeLoop(new NoScheduleTainter(common), new LabelKeeper(common));
    this.#monitor = this.#makeMonitor();
    informers.nodes.onChange((change) => {
      this.#hearNode(change);
    });
    informers.leases.onChange((change) => {
      this.#hearLease(change);
    });
  }

  /** Leads until the signal aborts; resolves when nothing of ours can write any more. Call it once, with caches synced. */
  async lead(signal: AbortSignal): Promise<void> {
    const { nodeLifecycle, taintEviction, podGc } = this.#options.controllers;
    const taintsEvict = taintEviction && this.podEvictor === undefined;
    const parts = [
      ...(nodeLifecycle ? [this.#runLifecycle(signal)] : []),
      ...(taintsEvict ? [this.#runTaintEviction(signal)] : []),
      ...(podGc ? [this.podGc.run(signal)] : []),
    ];
    await untilAborted(signal);
    await Promise.all([...parts, this.#stopWriting()]);
  }

  /** Health, zones, taints and the marking of pods. */
  async #runLifecycle(signal: AbortSignal): Promise<void> {
    const { informers, clock } = this.#options;
    const leave = [
      informers.nodes.onChange((change) => {
        this.#marker.onNode(change);
      }),
      informers.pods.onChange((change) => {
        this.#marker.onPod(change);
        this.podEvictor?.onPod(change);
      }),
    ];
    this.#monitor.touchAll();
    const loops = [
      this.sight.run(signal),
      this.#runMonitor(signal),
      every(noExecutePassPeriodMs, clock, signal, () => this.noExecutePass()),
      this.#nodeLoop.run(signal),
      this.#marker.run(signal),
      ...(this.podEvictor === undefined ? [] : [this.podEvictor.run(signal)]),
    ];
    await untilAborted(signal);
    for (const stopListening of leave) stopListening();
    await Promise.all(loops);
  }

  async #runTaintEviction(signal: AbortSignal): Promise<void> {
    const { nodes, pods } = this.#options.informers;
    const leave = [
      nodes.onChange((change) => {
        this.evictor.onNode(change);
      }),
      pods.onChange((change) => {
        this.evictor.onPod(change);
      }),
    ];
    const running = this.evictor.run(signal);
    await untilAborted(signal);
    for (const stopListening of leave) stopListening();
    await running;
  }

  /** One monitor pass, and all the writes it asked for. */
  async monitorPass(): Promise<void> {
    this.#monitor.run();
    await this.#confirmer.settled();
    this.#monitor.run();
    await this.#nodeLoop.drain();
    await this.#marker.drain();
  }

  /** One pass over the lines of nodes that wait for their NoExecute taint. */
  noExecutePass(): Promise<void> {
    return this.#noExecute.pass();
  }

  async #runMonitor(signal: AbortSignal): Promise<void> {
    const { nodeMonitorPeriodMs } = this.#options.options;
    while (!signal.aborted) {
      this.#monitor.run();
      const dueInMs = (this.health.nextDeadlineMs() ?? Infinity) - this.sight.nowMs();
      await this.#alarm.wait(Math.min(nodeMonitorPeriodMs, Math.max(0, dueInMs)), signal);
    }
    await this.#confirmer.settled();
  }

  /** While we may still write, what is under way may finish; once we may not, it is cut off. */
  async #stopWriting(): Promise<void> {
    const { leadership, clock } = this.#options;
    const drained = new AbortController();
    if (leadership.holds()) {
      const done = this.#writer.drained().then(() => {
        drained.abort();
      });
      await Promise.race([done, clock.sleep(drainMsMax, drained.signal)]);
    }
    this.#abortWrites.abort();
  }

  /**
   * A node changed: take notice of the heartbeat in it now. What its conditions call for at once is attended to at once;
   * what is rationed waits for the next pass, which counts first. Recovery does not wait for the monitor period.
   */
  #hearNode(change: Change<NodeView>): void {
    const { name } = change.object;
    if (change.kind !== 'deleted') this.#observe(change.object);
    if (change.kind === 'modified' && !concernsUs(change.previous, change.object)) return;
    this.#monitor.touch(name);
    this.#nodeLoop.add(name);
    if (change.kind !== 'deleted' && readyOf(change.object) === 'True') this.#alarm.ring();
  }

  /** A renewal is not a call to action: it moves a deadline. */
  #hearLease(change: Change<LeaseView>): void {
    if (change.kind === 'deleted') return;
    const node = this.#nodes.get(change.object.name);
    if (node !== undefined) this.#observe(node);
  }

  #observe(node: NodeView): void {
    this.health.observe(node, this.#leaseOf(node.name), this.#healthNow());
  }

  #leaseOf(node: string): LeaseView | undefined {
    return this.#leases.get(node);
  }

  /** Health counts time in which we could have heard something, and no other. */
  #healthNow(): Now {
    return { monotonicMs: this.sight.nowMs(), wallMs: this.#options.clock.nowMs() };
  }

  #standingOf(name: string): NodeStanding | undefined {
    const node = this.#nodes.get(name);
    const record = this.health.get(name);
    if (node === undefined || record === undefined) return undefined;
    const neverPosted = findCondition(node.conditions, 'Ready')?.reason === neverUpdated.reason;
    return { ready: readyOf(node), heardSinceUnknown: record.heardSinceUnknown, neverPosted };
  }

  #makePodEvictor(): PodEvictor {
    const { options, informers, recorders, clock, meter } = this.#options;
    if (informers.daemonSets === undefined) throw new TypeError('eviction mode needs an informer of daemonsets');
    return new PodEvictor({
      podEvictionTimeoutMs: options.podEvictionTimeoutMs,
      nodes: this.#nodes,
      pods: informers.pods.store,
      podsByNode,
      daemonSets: informers.daemonSets.store,
      lines: this.queues,
      writer: this.#writer,
      decisions: this.decisions,
      recorder: recorders.nodes,
      meter,
      evictionsTotal,
      clock,
      readyOf,
      healthOf: (node) => this.health.get(node),
      healthNowMs: () => this.sight.nowMs(),
      isHeld: () => this.zones.everyZoneDark || this.sight.blindness() !== undefined,
    });
  }

  #makeSight(): Observer {
    const { options, informers, liveLeases, recorders, clock, meter } = this.#options;
    return new Observer({
      nodeMonitorGracePeriodMs: options.nodeMonitorGracePeriodMs,
      nodes: informers.nodes,
      leases: informers.leases,
      live: liveLeases,
      reopen: () => {
        for (const informer of Object.values(informers)) informer.reopen();
      },
      decisions: this.decisions,
      recorder: recorders.nodes,
      meter,
      clock,
    });
  }

  #makeConfirmer(): SilenceConfirmer {
    return new SilenceConfirmer({
      live: this.#options.liveLeases,
      leases: this.#leases,
      health: this.health,
      decisions: this.decisions,
      foundBehind: () => {
        this.sight.foundBehind();
      },
      judgeAgain: (node, when) => {
        this.#monitor.touch(node);
        if (when === 'now') this.#alarm.ring();
      },
    });
  }

  #makeMonitor(): MonitorPass {
    const { informers, clock, meter, recorders } = this.#options;
    return new MonitorPass({
      nodes: this.#nodes,
      store: informers.nodes.store,
      leases: (node) => this.#leaseOf(node),
      health: this.health,
      zones: this.zones,
      queues: this.queues,
      decisions: this.decisions,
      recorder: recorders.nodes,
      meter,
      clock,
      healthNow: () => this.#healthNow(),
      confirm: (nodes) => {
        this.#confirmer.confirm(nodes);
      },
      attend: (node) => {
        this.#nodeLoop.add(node);
      },
      forget: (node) => {
        this.#noExecute.forget(node);
      },
    });
  }

  #makeNodeLoop(noSchedule: NoScheduleTainter, labels: LabelKeeper): WorkLoop {
    const { clock, meter, recorders } = this.#options;
    const reconciler = new NodeReconciler({
      nodes: this.#nodes,
      leases: (node) => this.#leaseOf(node),
      health: this.health,
      noSchedule,
      noExecute: this.#noExecute,
      labels,
      writer: this.#writer,
      decisions: this.decisions,
      recorder: recorders.nodes,
      meter,
      clock,
      healthNow: () => this.#healthNow(),
      everyZoneDark: () => this.zones.everyZoneDark,
      judged: (node) => this.#monitor.judged(node),
      markPods: (node) => {
        this.#marker.lookAtNode(node);
      },
    });
    const handle = (node: string): ReturnType<NodeReconciler['reconcile']> => reconciler.reconcile(node);
    return new WorkLoop({ queue: new WorkQueue(retryLimits), clock, workersMax: nodesAtOnceMax, handle });
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener(
      'abort',
      () => {
        resolve();
      },
      { once: true },
    );
  });
}
