// Puts the stages in order and owns their loops. Heartbeats are noticed from the moment the informers run, leader or not,
// so that taking over is quick; everything that writes runs only while leading.
import type { LeaseView } from '../api/lease.ts';
import type { NodeView } from '../api/node.ts';
import type { Change } from '../informer/informer.ts';
import type { Ending } from '../ports/leadership.ts';
import type { MetricDefinition } from '../ports/meter.ts';
import { WorkQueue } from '../queueing/work-queue.ts';
import { Alarm } from '../supervision/alarm.ts';
import { every } from '../supervision/every.ts';
import { workQueueMetrics } from '../supervision/metrics.ts';
import { WorkLoop } from '../supervision/work-loop.ts';
import { decisionsTotal } from './decision-log.ts';
import { lookFailed } from './decisions.ts';
import { evictionMetrics } from './eviction/metrics.ts';
import { readyOf } from './health/assess-node.ts';
import { concernsUs } from './health/diff-nodes.ts';
import { healthMetrics } from './health/metrics.ts';
import { SilenceConfirmer } from './health/silence-confirmer.ts';
import { LabelKeeper } from './labels/label-keeper.ts';
import { MonitorPass } from './monitor-pass.ts';
import { NodeReconciler } from './node-reconciler.ts';
import { outageMetrics } from './outage/metrics.ts';
import { runningParts } from './options.ts';
import { podGcMetrics } from './pod-gc/metrics.ts';
import { podReadinessMetrics } from './pod-readiness/metrics.ts';
import { sightMetrics } from './sight/metrics.ts';
import { type NodeLifecycleOptions, Stages } from './stages.ts';
import { taintingMetrics } from './tainting/metrics.ts';
import { NoScheduleTainter } from './tainting/no-schedule-tainter.ts';
import { zoneMetrics } from './zones/metrics.ts';

const servingPeriodMs = 100;
const nodesAtOnceMax = 16;
const retryLimits = { delayMsMin: 100, delayMsMax: 30_000 } as const;
/** How long writes that are under way may take when we stop. */
const drainMsMax = 5_000;

export { podsByNode } from './eviction/taint-evictor.ts';
export { daemonSetsByNamespace } from './pod-eviction/pod-deleter.ts';
export type { NodeLifecycleOptions } from './stages.ts';

/** Every metric of the controller, for whoever exposes or documents them. */
export const controllerMetrics: readonly MetricDefinition[] = [
  ...healthMetrics,
  ...zoneMetrics,
  ...taintingMetrics,
  ...evictionMetrics,
  ...podReadinessMetrics,
  ...sightMetrics,
  ...outageMetrics,
  ...podGcMetrics,
  decisionsTotal,
  ...workQueueMetrics,
];

export class NodeLifecycle {
  readonly stages: Stages;
  readonly #options: NodeLifecycleOptions;
  readonly #abortWrites = new AbortController();
  readonly #confirmer: SilenceConfirmer;
  readonly #monitor: MonitorPass;
  readonly #nodeLoop: WorkLoop;
  readonly #alarm: Alarm;

  constructor(options: NodeLifecycleOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
    this.stages = new Stages(options, this.#abortWrites.signal);
    this.#confirmer = this.#makeConfirmer();
    this.#nodeLoop = this.#makeNodeLoop();
    this.#monitor = this.#makeMonitor();
    const { nodes, leases } = options.informers;
    nodes.onChange((change) => {
      this.#hearNode(change);
    });
    leases.onChange((change) => {
      this.#hearLease(change);
    });
  }

  /**
   * Leads until the signal aborts; resolves when nothing of ours can write any more, with whether all that was sent got
   * its answer. Call it once, with caches synced.
   */
  async lead(signal: AbortSignal): Promise<Ending> {
    const { controllers, options } = this.#options;
    const { nodeLifecycle, taintEviction, podGc } = runningParts(controllers, options);
    const parts = [
      this.stages.sight.run(signal),
      ...(this.stages.canary === undefined ? [] : [this.stages.canary.run(signal)]),
      ...(nodeLifecycle ? [this.#runLifecycle(signal)] : []),
      ...(taintEviction ? [this.#runTaintEviction(signal)] : []),
      ...(podGc ? [this.stages.podGc.run(signal)] : []),
    ];
    await untilAborted(signal);
    const [ending] = await Promise.all([this.#stopWriting(), ...parts]);
    return ending;
  }

  /** Health, zones, taints and the marking of pods. */
  async #runLifecycle(signal: AbortSignal): Promise<void> {
    const { informers, clock } = this.#options;
    const { marker, podEvictor } = this.stages;
    const leave = [
      informers.nodes.onChange((change) => {
        marker.onNode(change);
      }),
      informers.pods.onChange((change) => {
        marker.onPod(change);
        podEvictor?.onPod(change);
      }),
    ];
    this.#monitor.touchAll();
    const loops = [
      this.#runMonitor(signal),
      every(servingPeriodMs, clock, signal, () => this.#serveLines()),
      this.#nodeLoop.run(signal),
      marker.run(signal),
      ...(podEvictor === undefined ? [] : [podEvictor.run(signal)]),
    ];
    await untilAborted(signal);
    for (const stopListening of leave) stopListening();
    await Promise.all(loops);
  }

  async #runTaintEviction(signal: AbortSignal): Promise<void> {
    const { nodes, pods } = this.#options.informers;
    const leave = [
      nodes.onChange((change) => {
        this.stages.evictor.onNode(change);
      }),
      pods.onChange((change) => {
        this.stages.evictor.onPod(change);
      }),
    ];
    const running = this.stages.evictor.run(signal);
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
    await this.stages.marker.drain();
  }

  /** One pass over the lines of nodes that wait for their NoExecute taint. */
  noExecutePass(): Promise<void> {
    return this.stages.noExecute.pass();
  }

  #serveLines(): Promise<void> {
    this.stages.marker.serve();
    return this.noExecutePass();
  }

  async #runMonitor(signal: AbortSignal): Promise<void> {
    const { nodeMonitorPeriodMs } = this.#options.options;
    while (!signal.aborted) {
      this.#monitor.run();
      const dueInMs = (this.stages.health.nextDeadlineMs() ?? Infinity) - this.stages.sight.nowMs();
      await this.#alarm.wait(Math.min(nodeMonitorPeriodMs, Math.max(0, dueInMs)), signal);
    }
    await this.#confirmer.settled();
  }

  /** Nothing more is sent. While we may still write, what is under way may finish; once we may not, it is cut off. */
  async #stopWriting(): Promise<Ending> {
    const { writer } = this.stages;
    writer.close();
    const ending = this.#options.leadership.holds() ? await this.#drained(writer.drained()) : 'cut-off';
    this.#abortWrites.abort();
    return ending;
  }

  async #drained(writes: Promise<void>): Promise<Ending> {
    const done = new AbortController();
    const patience = this.#options.clock.sleep(drainMsMax, done.signal).then((): Ending => 'cut-off');
    try {
      return await Promise.race([writes.then((): Ending => 'drained'), patience]);
    } finally {
      done.abort();
    }
  }

  /**
   * A node changed: take notice of the heartbeat in it now. What its conditions call for at once is attended to at once;
   * what is rationed waits for the next pass, which counts first. Recovery does not wait for the monitor period.
   */
  #hearNode(change: Change<NodeView>): void {
    const { name } = change.object;
    if (change.kind !== 'deleted') this.stages.observe(change.object);
    if (change.kind === 'modified' && !concernsUs(change.previous, change.object)) return;
    this.#monitor.touch(name);
    this.#nodeLoop.add(name);
    if (change.kind !== 'deleted' && readyOf(change.object) === 'True') this.#alarm.ring();
  }

  /** A renewal is not a call to action: it moves a deadline. */
  #hearLease(change: Change<LeaseView>): void {
    if (change.kind === 'deleted') return;
    const node = this.stages.nodes.get(change.object.name);
    if (node !== undefined) this.stages.observe(node);
  }

  #makeConfirmer(): SilenceConfirmer {
    const { stages } = this;
    return new SilenceConfirmer({
      live: this.#options.liveLeases,
      leases: stages.leases,
      health: stages.health,
      decisions: stages.decisions,
      foundBehind: () => {
        stages.sight.foundBehind();
      },
      judgeAgain: (node, when) => {
        this.#monitor.touch(node);
        if (when === 'now') this.#alarm.ring();
      },
    });
  }

  #makeMonitor(): MonitorPass {
    const { stages } = this;
    const { health, zones, outage, queues } = stages;
    return new MonitorPass({
      ...stages.means,
      health,
      zones,
      outage,
      queues,
      store: this.#options.informers.nodes.store,
      leases: (node) => stages.leaseOf(node),
      recorder: this.#options.recorders.nodes,
      healthNow: () => stages.healthNow(),
      confirm: (nodes) => {
        this.#confirmer.confirm(nodes);
      },
      attend: (node) => {
        this.#nodeLoop.add(node);
      },
      heardAgain: (node) => {
        stages.marking.leave(node);
      },
      forget: (node) => {
        stages.marking.leave(node);
        stages.noExecute.forget(node);
      },
    });
  }

  #makeNodeLoop(): WorkLoop {
    const { stages } = this;
    const { health, outage, noExecute } = stages;
    const reconciler = new NodeReconciler({
      ...stages.means,
      health,
      outage,
      noExecute,
      leases: (node) => stages.leaseOf(node),
      noSchedule: new NoScheduleTainter(stages.means),
      labels: new LabelKeeper(stages.means),
      recorder: this.#options.recorders.nodes,
      healthNow: () => stages.healthNow(),
      everyZoneDark: () => stages.zones.everyZoneDark,
      judged: (node) => this.#monitor.judged(node),
      markPods: (node) => {
        stages.marker.lookAtNode(node);
      },
    });
    const handle = (node: string): ReturnType<NodeReconciler['reconcile']> => reconciler.reconcile(node);
    const onFault = (node: string, error: unknown): void => {
      stages.decisions.note(lookFailed('node', node, error));
    };
    const { clock, meter } = this.#options;
    const measured = { name: 'node_lifecycle_controller', meter };
    const queue = new WorkQueue(retryLimits);
    return new WorkLoop({ queue, clock, workersMax: nodesAtOnceMax, handle, onFault, measured });
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
