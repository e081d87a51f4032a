// Runs the stages and owns their loops. Heartbeats are observed from the moment the informers run, on standbys too, so
// that a takeover is quick; everything that writes runs only while leading.
import type { LeaseView } from '../machinery/api/lease.ts';
import type { NodeView } from '../machinery/api/node.ts';
import type { Change, Informer, Listener } from '../machinery/informer/informer.ts';
import type { Ending } from '../machinery/ports/leadership.ts';
import { type MetricDefinition, metricsOf } from '../machinery/ports/meter.ts';
import * as workQueues from '../machinery/supervision/metrics.ts';
import { untilAborted } from '../machinery/supervision/abort.ts';
import { decisionsTotal } from './decision-log/decision-log.ts';
import type { SettingChange } from './model/decisions.ts';
import * as taintEviction from './taint-eviction/metrics.ts';
import { readyOf } from './health/assess-node.ts';
import { affectsDecisions } from './health/diff-nodes.ts';
import * as health from './health/metrics.ts';
import {
  collectionEntries,
  type CollectionSize,
  readCollectionSizes,
  showCollectionSizes,
} from './report/collection-sizes.ts';
import * as holds from './holds/metrics.ts';
import { heldNodes } from './report/held-nodes.ts';
import { waitingPods } from './report/waiting-pods.ts';
import type { PassResult } from './monitor-pass.ts';
import * as outage from './outage/metrics.ts';
import { runningParts } from './model/options.ts';
import * as podGc from './pod-gc/metrics.ts';
import * as podReadiness from './pod-readiness/metrics.ts';
import * as freshness from './freshness/metrics.ts';
import type { NodeLifecycleOptions } from './lifecycle-options.ts';
import { buildStages, type Stages } from './stages.ts';
import * as detection from './detection/metrics.ts';
import * as earlyWarning from './early-warning/metrics.ts';
import * as flapping from './flapping/metrics.ts';
import * as outOfService from './out-of-service/metrics.ts';
import * as policies from './policies/metrics.ts';
import * as recoveryTimes from './recovery-times/metrics.ts';
import * as tainting from './tainting/metrics.ts';
import * as zones from './zones/metrics.ts';

/** Limits of the time between two services of the queues; the maximum holds whatever wake-ups were missed. */
const servingPeriodMsMin = 1;
const servingPeriodMsMax = 5_000;
/** Time limit of one step of the sweep over remembered entries. */
const sweepMsMax = 4;
const sweepStepsInARow = 64;
/** Deadlines that heartbeats have moved are moved this long before, so that few of them wake the process. */
const settledAheadMs = 250;
/** Deadlines this soon after the previous pass are evaluated together. */
const passGapMs = 50;
/** How long writes in flight may take at shutdown. */
const drainMsMax = 5_000;

export { daemonSetsByNamespace, podsByNode } from './model/indexes.ts';

/** All metrics of the controller. */
export const controllerMetrics: readonly MetricDefinition[] = [
  ...metricsOf(
    health,
    zones,
    tainting,
    taintEviction,
    podReadiness,
    freshness,
    outage,
    podGc,
    outOfService,
    flapping,
    earlyWarning,
    detection,
    recoveryTimes,
    policies,
    holds,
    workQueues,
  ),
  decisionsTotal,
  heldNodes,
  waitingPods,
  collectionEntries,
];

export class NodeLifecycle {
  readonly stages: Stages;
  readonly #options: NodeLifecycleOptions;
  readonly #abortWrites = new AbortController();
  #passedAtMs = -Infinity;
  /** When the last pass ran, or was found to have nothing to do. */
  #wokeAtMs = -Infinity;
  #sweep: Generator<undefined, void> | undefined;
  /** When its last round began. */
  #sweptFromMs = -Infinity;
  #leading: AbortSignal | undefined;

  constructor(options: NodeLifecycleOptions) {
    this.#options = options;
    this.stages = buildStages(options, this.#abortWrites.signal);
    const { nodes, leases } = options.informers;
    nodes.onChange('health', (change) => {
      this.#onNode(change);
    });
    leases.onChange('health', (change) => {
      this.#onLease(change);
    });
    this.#listenToAct();
    showCollectionSizes(options.meter, () => this.sizes());
  }

  /** The sizes of what is remembered of nodes, pods and zones. */
  sizes(): readonly CollectionSize[] {
    return readCollectionSizes(this.stages);
  }

  /**
   * Handlers of acting stages are registered from the start and do nothing until this process leads. Registering later
   * would deliver every object at once, and a new leader has a lease to renew: it checks the relevant objects itself.
   */
  #listenToAct(): void {
    const { controllers, options, informers } = this.#options;
    const { nodeLifecycle, taintEviction } = runningParts(controllers, options.current());
    const { nodes, pods } = informers;
    const { marker, podEvictor, evictor, recoveries, overdue } = this.stages;
    this.#listen(pods, 'recovery-times', (change) => recoveries.onPod(change));
    if (nodeLifecycle) {
      this.#listen(nodes, 'early-warning', (change) => overdue.onNode(change));
      this.#listen(nodes, 'pod-readiness', (change) => marker.onNode(change));
      this.#listen(pods, 'pod-readiness', (change) => marker.onPod(change));
    }
    if (nodeLifecycle && podEvictor !== undefined) {
      this.#listen(pods, 'pod-eviction', (change) => podEvictor.onPod(change));
    }
    if (taintEviction) {
      this.#listen(nodes, 'taint-eviction', (change) => evictor.onNode(change));
      this.#listen(pods, 'taint-eviction', (change) => evictor.onPod(change));
    }
  }

  /** Delivers changes while leading. */
  #listen<T>(informer: Informer<T>, name: string, listener: Listener<T>): void {
    informer.onChange(name, (change) => {
      if (this.#leading?.aborted === false) listener(change);
    });
  }

  /**
   * Measures silence until the signal aborts, and writes nothing but what it found for the leader: for a standby with synced caches,
   * before {@link lead}.
   */
  async standBy(signal: AbortSignal): Promise<void> {
    const { freshness, detection } = this.stages;
    const { controllers, options } = this.#options;
    const isDetecting = runningParts(controllers, options.current()).nodeLifecycle;
    await Promise.all([freshness.follow(signal), ...(isDetecting ? [detection?.run('witness', signal)] : [])]);
  }

  /**
   * Leads until the signal aborts; resolves when no write of this process is possible any more, with whether all
   * requests got a response. Rejects as soon as a loop fails: then nothing more is sent, and requests in flight are
   * aborted. To be called once, with synced caches.
   */
  async lead(signal: AbortSignal): Promise<Ending> {
    this.#leading = signal;
    const parts = Promise.all(this.#startParts(signal));
    try {
      await Promise.race([untilAborted(signal), parts]);
      const [ending] = await Promise.all([this.#stopWriting(), parts]);
      return ending;
    } catch (error) {
      // An exception for one node is handled there; here the extent of the inconsistent state is unknown.
      this.stages.writer.close();
      this.#abortWrites.abort();
      throw error;
    }
  }

  #startParts(signal: AbortSignal): readonly Promise<void>[] {
    const { controllers, options } = this.#options;
    const { nodeLifecycle, taintEviction, podGc } = runningParts(controllers, options.current());
    const { freshness, canary, evictor } = this.stages;
    if (taintEviction) evictor.takeOver(this.#options.informers.nodes.store.values());
    // The disruption states and rates of the zones are known when it ends: no pod is evicted before.
    const evaluated = nodeLifecycle ? this.#takeOver(signal) : Promise.resolve();
    return [
      freshness.run(signal),
      ...(canary === undefined ? [] : [canary.run(signal)]),
      ...(nodeLifecycle ? [evaluated.then(() => this.#runLifecycle(signal))] : []),
      ...(taintEviction ? [evaluated.then(() => evictor.run(signal))] : []),
      ...(podGc ? [this.stages.podGc.run(signal)] : []),
      evaluated.then(() => this.#runResync(signal)),
    ];
  }

  async #takeOver(signal: AbortSignal): Promise<void> {
    this.stages.marker.takeOver(this.#options.informers.nodes.store.keys());
    this.stages.flapping.takeOver(this.#options.informers.nodes.store.values());
    const result = await this.stages.monitor.takeOver(signal);
    this.#passedAtMs = this.#options.clock.monotonicMs();
    if (result !== undefined) this.#act(result);
  }

  /** Health, zones, taints and the marking of pods. */
  async #runLifecycle(signal: AbortSignal): Promise<void> {
    const { marker, podEvictor, loops } = this.stages;
    await Promise.all([
      this.#runMonitor(signal),
      this.#serveQueues(signal),
      loops.run(signal),
      this.#runWarnings(signal),
      this.stages.detection?.run('leader', signal),
      marker.run(signal),
      ...(podEvictor === undefined ? [] : [podEvictor.run(signal)]),
    ]);
  }

  /** Early warnings, and nodes that report NotReady. A renewal evaluates no node, so a heartbeat ends warnings here. */
  async #runWarnings(signal: AbortSignal): Promise<void> {
    const { overdue, marker, monitor, policies } = this.stages;
    while (!signal.aborted) {
      const { changed, waitMs } = overdue.review();
      for (const name of changed) this.#enqueue(name);
      if (policies.marksNotReady()) marker.reviewNotReady(monitor.notReady());
      await this.#options.clock.sleep(waitMs, signal);
    }
  }

  /** One monitor pass, and all the writes that follow from it. */
  async monitorPass(): Promise<void> {
    const { confirmer, loops, marker } = this.stages;
    this.#pass();
    await confirmer.settled();
    this.#pass();
    await loops.drain();
    await marker.drain();
  }

  /** Evaluates nodes that changed, are due or whose lease was read, and carries out the result of the pass. */
  #pass(): void {
    const { confirmer, monitor } = this.stages;
    for (const answer of confirmer.takeAnswers()) monitor.noteAnswer(answer);
    this.#passedAtMs = this.#options.clock.monotonicMs();
    this.#act(monitor.run());
  }

  #act({ toConfirm, toReconcile, recovered, removed }: PassResult): void {
    const { confirmer, marking, noExecute, loops } = this.stages;
    for (const node of removed) {
      marking.dequeue(node);
      noExecute.forget(node);
      loops.remove(node);
    }
    for (const node of recovered) marking.recover(node);
    for (const node of [...removed, ...recovered]) confirmer.forget(node);
    for (const node of toReconcile) this.#enqueue(node);
    confirmer.confirm(toConfirm);
  }

  #enqueue(name: string): void {
    const { nodes, health, zones, loops, overdue } = this.stages;
    const node = nodes.get(name);
    if (node === undefined) return;
    const isHealthy = readyOf(node) === 'True' && health.evaluate(node, this.stages.healthNow()).kind === 'alive';
    const needsAnnotation = overdue.wantedAnnotation(node) !== undefined;
    loops.add(node, { isHealthy, fullDisruption: zones.fullDisruption, needsAnnotation });
  }

  /** One pass over the NoExecute taint queues. */
  noExecutePass(): Promise<void> {
    return this.stages.noExecute.pass();
  }

  /**
   * The options changed as listed. Deadlines move, a pass evaluates the zones with the new options at once, and nodes
   * that are not ready are evaluated again. Writes are not reverted: a longer grace period does not revert Unknown.
   */
  optionsChanged(changes: readonly SettingChange[]): void {
    this.stages.decisions.note({ kind: 'settings-changed', changes });
    const { policies, health, monitor, evictor, detection } = this.stages;
    health.gracesChanged();
    detection?.optionsChanged();
    // A policy may also hold, or hold no longer, the removal of taints from a healthy node.
    if (policies.takeChange()) {
      for (const name of monitor.names()) this.#observeByPolicy(name);
      monitor.touchAll();
      evictor.recheckHeld();
    } else monitor.touchUnready();
    this.stages.alarm.wakeUp();
    this.stages.serving.wakeUp();
  }

  /**
   * Serves the queues whenever an action is due and a token is there. Does not wait for responses, so that a hanging write
   * blocks neither other zones nor the marking of pods.
   */
  async #serveQueues(signal: AbortSignal): Promise<void> {
    const { marker, noExecute, serving } = this.stages;
    while (!signal.aborted) {
      const waitMs = Math.min(marker.serve(), noExecute.serve(), servingPeriodMsMax);
      await serving.wait(Math.max(servingPeriodMsMin, waitMs), signal);
    }
    await noExecute.settled();
  }

  async #runMonitor(signal: AbortSignal): Promise<void> {
    const { alarm, confirmer } = this.stages;
    while (!signal.aborted) {
      const isTriggered = await alarm.wait(this.#waitMs(), signal);
      if (signal.aborted) break;
      this.#wokeAtMs = this.#options.clock.monotonicMs();
      if (isTriggered || this.#isPassDue()) this.#pass();
    }
    await confirmer.settled();
  }

  /** False if the deadline has not come after all: the clock stood still meanwhile, or the node sent a heartbeat. */
  #isPassDue(): boolean {
    const { options, clock } = this.#options;
    const { monitor, policies } = this.stages;
    return (
      monitor.hasWork() ||
      policies.breakersDueInMs() === 0 ||
      clock.monotonicMs() - this.#passedAtMs >= options.current().nodeMonitorPeriodMs
    );
  }

  /**
   * Milliseconds until the health clock may have reached the next deadline. It runs no faster than time, except when a
   * list that replaces a watch has been read, and a step of the wall clock may end what ends by it; the pass of each monitor period
   * covers both. Deadlines that are close together are evaluated together.
   */
  #waitMs(): number {
    const { options, clock } = this.#options;
    const { health, freshness, policies, flapping, outage } = this.stages;
    const nowMs = clock.monotonicMs();
    const healthNowMs = freshness.nowMs();
    health.settleDeadlines(healthNowMs + settledAheadMs);
    const silenceInMs = (health.nextDeadlineMs() ?? Infinity) - healthNowMs;
    const { maintenance } = policies;
    const dueInMs = Math.min(silenceInMs, maintenance.endsInMs(), flapping.endsInMs(), outage.reviewInMs());
    const periodMs = this.#passedAtMs + options.current().nodeMonitorPeriodMs - nowMs;
    const nextMs = Math.min(dueInMs <= periodMs + passGapMs ? dueInMs : periodMs, policies.breakersDueInMs());
    return Math.max(0, this.#wokeAtMs + passGapMs - nowMs, nextMs);
  }

  /** Whether a node becomes silent at this monotonic time or before if no heartbeat comes. */
  hasDeadlineBy(monotonicMs: number): boolean {
    const { health, freshness } = this.stages;
    const untilMs = freshness.nowMs() + monotonicMs - this.#options.clock.monotonicMs();
    health.settleDeadlines(untilMs);
    return health.hasDue(untilMs);
  }

  /** Whether there is nothing that a heartbeat could stop: all nodes are Ready, and none is being probed or confirmed silent. */
  isQuiet(): boolean {
    const { monitor, confirmer, evidence, detection } = this.stages;
    return monitor.areAllReady && confirmer.size + evidence.size + (detection?.probing ?? 0) === 0;
  }

  /** Evaluates every node once per resync period, whatever events were missed. Rounds never overlap. */
  async #runResync(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { resync } = this.stages;
    while (!signal.aborted) {
      await clock.sleep(resync.waitMs(clock.monotonicMs()), signal);
      if (signal.aborted) return;
      for (const name of resync.take(clock.monotonicMs())) this.#resync(name);
      this.#evaluateBreakers();
      if (this.stages.monitor.hasWork()) this.stages.alarm.wakeUp();
      this.#continueSweep();
    }
  }

  /** Evaluates the breakers without passes, as where another controller detects failures. */
  #evaluateBreakers(): void {
    const { controllers, options } = this.#options;
    const { nodeLifecycle, taintEviction } = runningParts(controllers, options.current());
    if (!nodeLifecycle && taintEviction) this.stages.policies.evaluateBreakers();
  }

  #resync(name: string): void {
    const { controllers, options, informers } = this.#options;
    const { nodeLifecycle, taintEviction } = runningParts(controllers, options.current());
    const node = informers.nodes.store.get(name);
    if (nodeLifecycle) this.#resyncHealth(name);
    // Without passes, changes of policies and pauses are recorded here.
    else if (node !== undefined) this.#observePolicies(node);
    if (taintEviction && node !== undefined) this.stages.evictor.resync(node);
  }

  #resyncHealth(name: string): void {
    const { monitor, nodes, overdue } = this.stages;
    monitor.resync(name);
    overdue.observe(name);
    const node = nodes.get(name);
    if (node !== undefined && overdue.wantedAnnotation(node) !== undefined) this.#enqueue(name);
  }

  #observePolicies(node: NodeView): void {
    const isReady = readyOf(node) === 'True';
    this.stages.policies.observe(node, isReady);
    this.stages.holds.observe(node.name, isReady);
    this.stages.policies.noteStarts(node.name);
    this.stages.policies.maintenance.observe(node.name, isReady);
  }

  /** Checks a part of the remembered entries against current state; all of them, in rounds. */
  #continueSweep(): void {
    const { clock, options } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#sweep === undefined) {
      // Two rounds in a period, so that each entry is checked once in it, however long a round takes.
      if (nowMs - this.#sweptFromMs < options.current().nodeMonitorResyncPeriodMs / 2) return;
      this.#sweptFromMs = nowMs;
      this.#sweep = this.#checkKept();
    }
    const untilMs = nowMs + sweepMsMax;
    for (let steps = 1; this.#sweep.next().done !== true; steps += 1) {
      if (steps % sweepStepsInARow === 0 && clock.monotonicMs() >= untilMs) return;
    }
    this.#sweep = undefined;
  }

  /** One entry per step: queued nodes, admitted nodes and scheduled evictions whose end may have been missed. */
  *#checkKept(): Generator<undefined, void> {
    const { noExecute, marker, evictor } = this.stages;
    for (const stage of [noExecute, marker]) {
      for (const name of stage.queuedNodes()) {
        stage.check(name);
        yield;
      }
    }
    yield* evictor.sweep();
  }

  /**
   * Sends nothing more. While this process holds the lease, requests in flight may complete; otherwise they are
   * aborted.
   */
  async #stopWriting(): Promise<Ending> {
    const { writer } = this.stages;
    writer.close();
    const ending = this.#options.leadership.holds() ? await this.#drained(writer.drained()) : 'cut-off';
    this.#abortWrites.abort();
    return ending;
  }

  async #drained(writes: Promise<void>): Promise<Ending> {
    const done = new AbortController();
    const timeout = this.#options.clock.sleep(drainMsMax, done.signal).then((): Ending => 'cut-off');
    try {
      return await Promise.race([writes.then((): Ending => 'drained'), timeout]);
    } finally {
      done.abort();
    }
  }

  /**
   * A node changed: observes its heartbeat at once. What its conditions require is reconciled at once; what is
   * rate-limited waits for the next pass, which counts first. A recovery does not wait for the monitor period.
   */
  #onNode(change: Change<NodeView>): void {
    const { name } = change.object;
    const { monitor, policies, alarm } = this.stages;
    if (change.kind === 'deleted' && monitor.evaluated(name) === undefined) return this.#forgetUnseen(name);
    if (change.kind !== 'deleted') this.#observeChange(change);
    // On standbys too: a signal of maintenance without a time counts from when it was first seen.
    policies.noteStarts(name);
    if (change.kind === 'modified' && !this.#affectsDecisions(change.previous, change.object)) return;
    if (change.kind === 'modified') this.#applyPolicyChange(change.previous, change.object);
    this.#countRecovery(name);
    policies.recount(name);
    monitor.touch(name);
    this.#enqueue(name);
    if (change.kind !== 'deleted' && this.#needsPass(change)) alarm.wakeUp();
  }

  /** It is Ready, or is to be counted in another zone before it is rate-limited there. */
  #needsPass({ kind, object: node }: Change<NodeView>): boolean {
    const { policies, zones } = this.stages;
    if (readyOf(node) === 'True') return true;
    return kind === 'modified' && policies.zoneOf(node) !== zones.zoneOfMember(node.name);
  }

  /** Counts a recovery. On standbys too: a new leader goes on counting. */
  #countRecovery(name: string): void {
    const node = this.stages.nodes.get(name);
    if (node !== undefined) this.stages.flapping.observe(node);
  }

  /** The policies changed. On standbys too, and where the policies come after the nodes. */
  #observeByPolicy(name: string): void {
    const { policies, nodes } = this.stages;
    policies.noteStarts(name);
    this.#countRecovery(name);
    const node = nodes.get(name);
    if (node !== undefined) this.#observeEvidence(node, node);
  }

  #affectsDecisions(before: NodeView, after: NodeView): boolean {
    const { policies } = this.stages;
    if (affectsDecisions(before, after) || policies.differInMaintenance(before, after)) return true;
    // What a live read had shown of it is over.
    return policies.maintenance.isOutdated(after.name);
  }

  /** If the node has another policy or pause now, its deadline moves, and what was held may be due. */
  #applyPolicyChange(before: NodeView, after: NodeView): void {
    const { policies, health, evictor, serving, alarm } = this.stages;
    if (!policies.differ(before, after)) return;
    health.graceChanged(after.name);
    evictor.recheckHeld(after.name);
    serving.wakeUp();
    alarm.wakeUp();
  }

  /** A node that no pass has evaluated: a standby runs no passes, and nodes come and go there for months. */
  #forgetUnseen(name: string): void {
    const { health, monitor, loops, policies, holds, awaited, evidence } = this.stages;
    health.forget(name);
    holds.forget(name);
    awaited.forget(name);
    evidence.forget(name);
    policies.forget(name);
    monitor.untouch(name);
    loops.remove(name);
  }

  /** A renewal moves a deadline. Only a node that the last pass found silent is evaluated at once: it recovered. */
  #onLease(change: Change<LeaseView>): void {
    if (change.kind === 'deleted') return;
    const { nodes, monitor, alarm } = this.stages;
    const { name } = change.object;
    const node = nodes.get(name);
    if (node === undefined) return;
    this.#observe(node);
    if (!monitor.isSilent(name)) return;
    monitor.touch(name);
    alarm.wakeUp();
  }

  /** Records the heartbeat, if the caches show a new one, on the health clock. */
  #observe(node: NodeView): void {
    const { health, leases, freshness } = this.stages;
    const now = { monotonicMs: freshness.arrivalMs(), wallMs: this.#options.clock.nowMs() };
    this.stages.evidence.observeHeartbeat(node.name, health.observe(node, leases.get(node.name), now));
  }

  /** Observes what a change of a node shows. On standbys too: a new leader knows what came after the last heartbeat. */
  #observeChange(change: Exclude<Change<NodeView>, { kind: 'deleted' }>): void {
    const { object: node } = change;
    this.#observe(node);
    this.stages.policies.emptying.note(node);
    this.#observeEvidence(node, change.kind === 'modified' ? change.previous : undefined);
  }

  #observeEvidence(node: NodeView, before: NodeView | undefined): void {
    const { evidence, health, freshness } = this.stages;
    const heartbeat = health.get(node.name);
    if (heartbeat === undefined) return;
    // A complete state may skip states in between, and heartbeats with them.
    const isByWatch = this.#options.informers.nodes.status().state === 'watching';
    const isFresh = isByWatch && freshness.staleness() === undefined && !freshness.usesFallback();
    evidence.observe({ node, before, heartbeat, isFresh });
  }
}
