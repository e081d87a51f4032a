// Puts the stages in order and owns their loops. Heartbeats are noticed from the moment the informers run, leader or not,
// so that taking over is quick; everything that writes runs only while leading.
import type { LeaseView } from '../api/lease.ts';
import type { NodeView } from '../api/node.ts';
import type { Change, Listener } from '../informer/informer.ts';
import type { Ending } from '../ports/leadership.ts';
import type { MetricDefinition } from '../ports/meter.ts';
import { WorkQueue } from '../queueing/work-queue.ts';
import { Alarm } from '../supervision/alarm.ts';
import { every } from '../supervision/every.ts';
import { workQueueMetrics } from '../supervision/metrics.ts';
import { untilAborted } from '../supervision/until-aborted.ts';
import { WorkLoop } from '../supervision/work-loop.ts';
import { decisionsTotal } from './decision-log.ts';
import { lookFailed, type SettingChange } from './decisions.ts';
import { evictionMetrics } from './eviction/metrics.ts';
import { readyOf } from './health/assess-node.ts';
import { concernsUs } from './health/diff-nodes.ts';
import { healthMetrics } from './health/metrics.ts';
import { heldNodes } from './held-nodes.ts';
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
  heldNodes,
  ...workQueueMetrics,
];

export class NodeLifecycle {
  readonly stages: Stages;
  readonly #options: NodeLifecycleOptions;
  readonly #abortWrites = new AbortController();
  readonly #confirmer: SilenceConfirmer;
  readonly #monitor: MonitorPass;
  readonly #nodeQueue = new WorkQueue(retryLimits);
  readonly #nodeLoop: WorkLoop;
  readonly #alarm: Alarm;
  #leading: AbortSignal | undefined;

  constructor(options: NodeLifecycleOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
    this.stages = new Stages(options, this.#abortWrites.signal);
    this.#confirmer = this.#makeConfirmer();
    this.#nodeLoop = this.#makeNodeLoop();
    this.#monitor = this.#makeMonitor();
    const { nodes, leases } = options.informers;
    nodes.onChange('health', (change) => {
      this.#hearNode(change);
    });
    leases.onChange('health', (change) => {
      this.#hearLease(change);
    });
    this.#listenToAct();
  }

  /**
   * Who acts listens from the start and hears nothing until we lead. To join then would be to hear of every object there
   * is, and who begins to lead has a lease to renew: it looks by itself, at those alone that want it.
   */
  #listenToAct(): void {
    const { controllers, options, informers } = this.#options;
    const { nodeLifecycle, taintEviction } = runningParts(controllers, options);
    const { nodes, pods } = informers;
    const { marker, podEvictor, evictor } = this.stages;
    if (nodeLifecycle) {
      nodes.onChange(
        'pod-readiness',
        this.#whileLeading((change) => marker.onNode(change)),
      );
      pods.onChange(
        'pod-readiness',
        this.#whileLeading((change) => marker.onPod(change)),
      );
    }
    if (nodeLifecycle && podEvictor !== undefined) {
      pods.onChange(
        'pod-eviction',
        this.#whileLeading((change) => podEvictor.onPod(change)),
      );
    }
    if (taintEviction) {
      nodes.onChange(
        'taint-eviction',
        this.#whileLeading((change) => evictor.onNode(change)),
      );
      pods.onChange(
        'taint-eviction',
        this.#whileLeading((change) => evictor.onPod(change)),
      );
    }
  }

  #whileLeading<T>(hear: Listener<T>): Listener<T> {
    return (change) => {
      if (this.#leading?.aborted === false) hear(change);
    };
  }

  /**
   * Leads until the signal aborts; resolves when nothing of ours can write any more, with whether all that was sent got
   * its answer. Rejects as soon as a loop breaks: then nothing more is sent, and what is under way is cut off. Call it
   * once, with caches synced.
   */
  async lead(signal: AbortSignal): Promise<Ending> {
    this.#leading = signal;
    const parts = Promise.all(this.#startParts(signal));
    try {
      await Promise.race([untilAborted(signal), parts]);
      const [ending] = await Promise.all([this.#stopWriting(), parts]);
      return ending;
    } catch (error) {
      // A look at one node that fails is that node's; here nobody knows which state was left half changed.
      this.stages.writer.close();
      this.#abortWrites.abort();
      throw error;
    }
  }

  #startParts(signal: AbortSignal): readonly Promise<void>[] {
    const { controllers, options } = this.#options;
    const { nodeLifecycle, taintEviction, podGc } = runningParts(controllers, options);
    const { sight, canary, evictor } = this.stages;
    if (taintEviction) evictor.takeOver(this.#options.informers.nodes.store.values());
    // Whether every zone is dark, and the zones' rates, are known when it is over: nobody is sent away before.
    const judged = nodeLifecycle ? this.#takeOver(signal) : Promise.resolve();
    return [
      sight.run(signal),
      ...(canary === undefined ? [] : [canary.run(signal)]),
      ...(nodeLifecycle ? [judged.then(() => this.#runLifecycle(signal))] : []),
      ...(taintEviction ? [judged.then(() => evictor.run(signal))] : []),
      ...(podGc ? [this.stages.podGc.run(signal)] : []),
    ];
  }

  #takeOver(signal: AbortSignal): Promise<void> {
    this.stages.marker.takeOver(this.#options.informers.nodes.store.keys());
    return this.#monitor.takeOver(signal);
  }

  /** Health, zones, taints and the marking of pods. */
  async #runLifecycle(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { marker, podEvictor } = this.stages;
    await Promise.all([
      this.#runMonitor(signal),
      every(servingPeriodMs, clock, signal, () => this.#serveLines()),
      this.#nodeLoop.run(signal),
      marker.run(signal),
      ...(podEvictor === undefined ? [] : [podEvictor.run(signal)]),
    ]);
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

  /**
   * The options are others now, by as much as is said. Deadlines move, a pass judges the zones by the new ones at once, and
   * nodes that are not ready are looked at again. What was written stays: a longer grace period does not take Unknown back.
   */
  optionsChanged(changes: readonly SettingChange[]): void {
    this.stages.decisions.note({ kind: 'settings-changed', changes });
    this.stages.health.gracesChanged();
    this.#monitor.touchUnready();
    this.#alarm.ring();
  }

  #serveLines(): Promise<void> {
    this.stages.marker.serve();
    return this.noExecutePass();
  }

  async #runMonitor(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { nodeMonitorPeriodMs } = this.#options.options;
      const dueInMs = (this.stages.health.nextDeadlineMs() ?? Infinity) - this.stages.sight.nowMs();
      await this.#alarm.wait(Math.min(nodeMonitorPeriodMs, Math.max(0, dueInMs)), signal);
      if (!signal.aborted) this.#monitor.run();
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
    if (change.kind === 'deleted' && this.#monitor.judged(name) === undefined) return this.#forgetUnseen(name);
    if (change.kind !== 'deleted') this.stages.observe(change.object);
    if (change.kind === 'modified' && !concernsUs(change.previous, change.object)) return;
    this.#monitor.touch(name);
    this.#nodeLoop.add(name);
    if (change.kind !== 'deleted' && readyOf(change.object) === 'True') this.#alarm.ring();
  }

  /** No pass has looked at it, as none does while we do not lead: there nodes may come and go for months. */
  #forgetUnseen(name: string): void {
    this.stages.health.forget(name);
    this.#monitor.untouch(name);
    this.#nodeQueue.remove(name);
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
      verdicts: stages.verdicts,
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
    const { health, verdicts, zones, outage, queues } = stages;
    return new MonitorPass({
      ...stages.means,
      health,
      verdicts,
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
    const { health, verdicts, outage, noExecute } = stages;
    const reconciler = new NodeReconciler({
      ...stages.means,
      health,
      verdicts,
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
    const queue = this.#nodeQueue;
    return new WorkLoop({ queue, clock, workersMax: nodesAtOnceMax, handle, onFault, measured });
  }
}
