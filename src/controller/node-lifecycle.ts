// Puts the stages in order and owns their loops. Heartbeats are noticed from the moment the informers run, leader or not,
// so that taking over is quick; everything that writes runs only while leading.
import { objectKey } from '../api/object-key.ts';
import type { LeaseView } from '../api/lease.ts';
import type { NodeView } from '../api/node.ts';
import type { PodView } from '../api/pod.ts';
import { nodeLeaseNamespace } from '../api/resources.ts';
import type { Change, Informer } from '../informer/informer.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Leadership } from '../ports/leadership.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter, MetricDefinition } from '../ports/meter.ts';
import type { WriteLanes } from '../ports/write-lanes.ts';
import { WorkQueue } from '../queueing/work-queue.ts';
import { Alarm } from '../supervision/alarm.ts';
import { every } from '../supervision/every.ts';
import { WorkLoop } from '../supervision/work-loop.ts';
import { DecisionLog, decisionsTotal } from './decision-log.ts';
import { evictionMetrics } from './eviction/metrics.ts';
import { podsByNode, TaintEvictor } from './eviction/taint-evictor.ts';
import { readyOf } from './health/assess-node.ts';
import { concernsUs } from './health/diff-nodes.ts';
import { HealthTable } from './health/health-table.ts';
import { healthMetrics } from './health/metrics.ts';
import { MonitorPass } from './monitor-pass.ts';
import { NodeReconciler } from './node-reconciler.ts';
import type { ControllerOptions } from './options.ts';
import type { NodeStanding } from './pod-readiness/decide-marking.ts';
import { PodMarker } from './pod-readiness/pod-marker.ts';
import { taintingMetrics } from './tainting/metrics.ts';
import { NoExecuteTainter } from './tainting/no-execute-tainter.ts';
import { NoScheduleTainter } from './tainting/no-schedule-tainter.ts';
import { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import { ApiWriter, type ApiWriterOptions } from './writer/api-writer.ts';
import { WrittenNodes } from './writer/written-nodes.ts';
import { zoneMetrics } from './zones/metrics.ts';
import { ZoneTable } from './zones/zone-table.ts';

const noExecutePassPeriodMs = 100;
const nodesAtOnceMax = 16;
const retryLimits = { delayMsMin: 100, delayMsMax: 30_000 } as const;
/** How long writes that are under way may take when we stop. */
const drainMsMax = 5_000;

export { podsByNode } from './eviction/taint-evictor.ts';

/** Every metric of the controller, for whoever exposes or documents them. */
export const controllerMetrics: readonly MetricDefinition[] = [
  ...healthMetrics,
  ...zoneMetrics,
  ...taintingMetrics,
  ...evictionMetrics,
  decisionsTotal,
];

export interface NodeLifecycleOptions {
  readonly options: ControllerOptions;
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    /** Of the namespace `kube-node-lease`. */
    readonly leases: Informer<LeaseView>;
    /** With the index `podsByNode`. */
    readonly pods: Informer<PodView>;
  };
  readonly api: ApiWriterOptions['api'];
  readonly lanes: WriteLanes;
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
  readonly #options: NodeLifecycleOptions;
  readonly #nodes: WrittenNodes;
  readonly #writer: ApiWriter;
  readonly #abortWrites = new AbortController();
  readonly #noExecute: NoExecuteTainter;
  readonly #marker: PodMarker;
  readonly #monitor: MonitorPass;
  readonly #nodeLoop: WorkLoop;
  readonly #alarm: Alarm;

  constructor(options: NodeLifecycleOptions) {
    const { clock, meter, logger, informers, recorders } = options;
    this.#options = options;
    this.decisions = new DecisionLog(logger, meter, () => clock.nowMs());
    this.#alarm = new Alarm(clock);
    this.#nodes = new WrittenNodes(informers.nodes.store);
    this.health = new HealthTable(options.options);
    this.zones = new ZoneTable(options.options, meter);
    this.queues = new ZoneTaintQueues(options.options.nodeEvictionRate, meter);
    const { decisions } = this;
    const nodes = this.#nodes;
    this.#writer = new ApiWriter({ ...options, nodes, decisions, signal: this.#abortWrites.signal });
    const common = { nodes, writer: this.#writer, decisions, clock, meter };
    this.#noExecute = new NoExecuteTainter({ ...common, queues: this.queues, readyOf });
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
    this.#nodeLoop = this.#makeNodeLoop(new NoScheduleTainter(common));
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
    const { informers, clock } = this.#options;
    const leave = [
      informers.nodes.onChange((change) => {
        this.evictor.onNode(change);
      }),
      informers.pods.onChange((change) => {
        this.evictor.onPod(change);
      }),
      informers.pods.onChange((change) => {
        this.#marker.onPod(change);
      }),
    ];
    this.#monitor.touchAll();
    const loops = [
      this.#runMonitor(signal),
      every(noExecutePassPeriodMs, clock, signal, () => this.noExecutePass()),
      this.#nodeLoop.run(signal),
      this.#marker.run(signal),
      this.evictor.run(signal),
    ];
    await untilAborted(signal);
    for (const stopListening of leave) stopListening();
    await Promise.all([...loops, this.#stopWriting()]);
  }

  /** One monitor pass, and all the writes it asked for. */
  async monitorPass(): Promise<void> {
    this.#monitor.run();
    await this.#nodeLoop.drain();
    await this.#marker.drain();
  }

  /** One pass over the lines of nodes that wait for their NoExecute taint. */
  noExecutePass(): Promise<void> {
    return this.#noExecute.pass();
  }

  async #runMonitor(signal: AbortSignal): Promise<void> {
    const { clock, options } = this.#options;
    while (!signal.aborted) {
      this.#monitor.run();
      const dueMs = this.health.nextDeadlineMs() ?? Infinity;
      await this.#alarm.wait(Math.min(options.nodeMonitorPeriodMs, Math.max(0, dueMs - clock.monotonicMs())), signal);
    }
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
    const { clock } = this.#options;
    this.health.observe(node, this.#leaseOf(node.name), { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() });
  }

  #leaseOf(node: string): LeaseView | undefined {
    return this.#options.informers.leases.store.get(objectKey(nodeLeaseNamespace, node));
  }

  #standingOf(name: string): NodeStanding | undefined {
    const node = this.#nodes.get(name);
    const record = this.health.get(name);
    if (node === undefined || record === undefined) return undefined;
    return { ready: readyOf(node), heardSinceUnknown: record.heardSinceUnknown };
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
      attend: (node) => {
        this.#nodeLoop.add(node);
      },
      forget: (node) => {
        this.#noExecute.forget(node);
      },
    });
  }

  #makeNodeLoop(noSchedule: NoScheduleTainter): WorkLoop {
    const { clock, meter, recorders } = this.#options;
    const reconciler = new NodeReconciler({
      nodes: this.#nodes,
      leases: (node) => this.#leaseOf(node),
      health: this.health,
      noSchedule,
      noExecute: this.#noExecute,
      writer: this.#writer,
      decisions: this.decisions,
      recorder: recorders.nodes,
      meter,
      clock,
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
