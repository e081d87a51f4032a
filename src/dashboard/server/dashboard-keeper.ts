// Keeps the dashboard of a controller up to date. It only reads: an exception here is logged, and nothing waits for it. While
// no client watches, only the timeline and the points of the plots are kept.
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import type { Change } from '../../machinery/informer/informer.ts';
import { Alarm } from '../../machinery/supervision/alarm.ts';
import { CellTally } from './cell-tally.ts';
import { DashboardBoard } from './dashboard-board.ts';
import { SteadyWall } from './steady-time.ts';
import type { NotedDecision } from '../../controller/decision-log/decision-log.ts';
import { affectsDecisions } from '../../controller/health/diff-nodes.ts';
import { DashboardCluster } from './dashboard-cluster.ts';
import { DashboardSamples } from './dashboard-samples.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { readClusterEvidence, type ClusterEvidence } from './cluster-evidence.ts';
import { DashboardTable } from './dashboard-table.ts';
import { DashboardTimeline } from './dashboard-timeline.ts';

/** Time between two versions. */
const tickMs = 1_000;
/** The main thread, which also renews the lease, is not used for longer at a time. */
const sliceMsMax = 4;
const sliceNodesMax = 256;
/** The states of nodes are kept for this time after the last client has gone: it may come back. */
const keptMs = 60_000;
/** Minimum time between two log lines about failures. */
const failureLogIntervalMs = 60_000;

export class DashboardKeeper {
  readonly board: DashboardBoard;
  readonly #sources: DashboardSources;
  readonly #alarm: Alarm;
  readonly #wall: SteadyWall;
  readonly #timeline: DashboardTimeline;
  readonly #samples: DashboardSamples;
  readonly #table: DashboardTable;
  readonly #cluster: DashboardCluster;
  readonly #tally = new CellTally();
  /** The states of nodes are kept. */
  #isTracking = false;
  #unwatchedSinceMs: number | undefined;
  #failureLoggedAtMs = -Infinity;

  /** To be created before the informers run, so that no listener is called for every object at once. */
  constructor(sources: DashboardSources) {
    const { server, stages, informers, clock } = sources;
    this.#sources = sources;
    this.#alarm = new Alarm(clock);
    this.#wall = new SteadyWall(clock);
    this.board = new DashboardBoard({ server, onWatch: () => this.#alarm.wakeUp() });
    this.#timeline = new DashboardTimeline(server.timelineMax);
    this.#samples = new DashboardSamples(sources);
    this.#table = new DashboardTable({ sources, tally: this.#tally, board: this.board });
    this.#cluster = new DashboardCluster(sources, this.#tally);
    stages.decisions.onDecision((noted) => this.#onDecision(noted));
    informers.nodes.onChange('dashboard', (change) => this.#onNode(change));
    informers.pods.onChange('dashboard', (change) => this.#onPod(change));
  }

  /** Runs until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.tick(signal);
      await this.#alarm.wait(tickMs, signal);
    }
  }

  /** One version. Never rejects. */
  async tick(signal: AbortSignal): Promise<void> {
    try {
      const sample = this.#samples.step(this.#wall.now(), (node, isSilent) => {
        if (this.#isTracking) this.#table.noteSilence(node, isSilent);
      });
      if (sample !== undefined) this.board.addSample(sample);
      if (this.board.isWatched) await this.#refresh(signal);
      else this.#rest();
    } catch (error) {
      this.#logFailure(error);
    }
  }

  /** Numbers of what is kept. */
  get size(): { readonly nodes: number; readonly marks: number; readonly others: number } {
    return { ...this.#table.size, others: this.board.size.others };
  }

  /** The table of nodes, for tests. */
  get table(): DashboardTable {
    return this.#table;
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    this.#isTracking = true;
    this.#unwatchedSinceMs = undefined;
    try {
      await this.#read(signal);
    } finally {
      // Also after a fault: clients get what is known, and slow ones are noticed.
      if (!signal.aborted) this.board.publish();
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    this.board.addLines(this.#timeline.take());
    const around = readClusterEvidence(this.#sources, this.#wall.now());
    await this.#update(this.#table.take(around), around, signal);
    if (signal.aborted) return;
    this.board.setZones(this.#cluster.zones(around));
    this.board.setCluster(this.#cluster.read(around));
  }

  /** Updates nodes in slices. What changes meanwhile is marked for the next version. */
  async #update(names: ReadonlySet<string>, around: ClusterEvidence, signal: AbortSignal): Promise<void> {
    const { clock } = this.#sources;
    let beganMs = clock.monotonicMs();
    let done = 0;
    for (const name of names) {
      if (signal.aborted) return;
      this.#updateNode(name, around);
      done += 1;
      const tookMs = clock.monotonicMs() - beganMs;
      if (tookMs < sliceMsMax && done % sliceNodesMax !== 0) continue;
      await clock.sleep(Math.max(1, tookMs), signal);
      beganMs = clock.monotonicMs();
    }
  }

  /** A node that cannot be computed keeps the state that is shown, and does not prevent others. */
  #updateNode(name: string, around: ClusterEvidence): void {
    try {
      this.#table.update(name, around);
    } catch (error) {
      this.#logFailure(error, name);
    }
  }

  #rest(): void {
    if (!this.#isTracking) return;
    const nowMs = this.#sources.clock.monotonicMs();
    this.#unwatchedSinceMs ??= nowMs;
    if (nowMs - this.#unwatchedSinceMs < keptMs) return;
    this.#isTracking = false;
    this.#unwatchedSinceMs = undefined;
    this.#table.clear();
    this.#tally.clear();
    this.board.clear();
  }

  #onDecision(noted: NotedDecision): void {
    const { decision } = noted;
    this.#timeline.note(noted);
    this.#samples.note(noted);
    if (this.#isTracking && 'node' in decision) this.#table.mark(decision.node);
  }

  /** A heartbeat alone marks nothing. What is not compared here is seen when all nodes are computed again. */
  #onNode(change: Change<NodeView>): void {
    if (!this.#isTracking) return;
    if (change.kind === 'modified' && !affectsState(change.previous, change.object)) return;
    this.#table.mark(change.object.name);
  }

  #onPod(change: Change<PodView>): void {
    if (!this.#isTracking) return;
    const { object } = change;
    if (change.kind !== 'modified') return this.#markNodeOf(object);
    const { previous } = change;
    if (previous.nodeName === object.nodeName && previous.terminating === object.terminating) return;
    this.#markNodeOf(previous);
    this.#markNodeOf(object);
  }

  #markNodeOf({ nodeName }: PodView): void {
    if (nodeName !== '') this.#table.mark(nodeName);
  }

  #logFailure(error: unknown, node?: string): void {
    const nowMs = this.#sources.clock.monotonicMs();
    if (nowMs - this.#failureLoggedAtMs < failureLogIntervalMs) return;
    this.#failureLoggedAtMs = nowMs;
    this.#sources.logger.error({ ...(node === undefined ? {} : { node }), err: error }, 'dashboard update failed');
  }
}

/** The times of conditions and taints are shown, and may change alone: what ended and began again came as one change. */
function affectsState(before: NodeView, after: NodeView): boolean {
  const haveOtherTimes =
    after.conditions.some(
      ({ lastTransitionTime }, place) => before.conditions[place]?.lastTransitionTime !== lastTransitionTime,
    ) || after.taints.some(({ timeAdded }, place) => before.taints[place]?.timeAdded !== timeAdded);
  return haveOtherTimes || affectsDecisions(before, after);
}
