import type { NodeView } from '../../api/node.ts';
import { podKey, type PodView } from '../../api/pod.ts';
import type { Change, StoreReader } from '../../informer/informer.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Meter } from '../../ports/meter.ts';
import { backOffAtLeast, forget, type Outcome, WorkQueue } from '../../queueing/work-queue.ts';
import { slowRound } from '../../supervision/slow-round.ts';
import { WorkLoop } from '../../supervision/work-loop.ts';
import type { CommandWriter } from '../commands.ts';
import { lookFailed, type DecisionSink } from '../decisions.ts';
import { decideMarking, type NodeStanding } from './decide-marking.ts';
import { podNodeNotReady } from './events.ts';

const writesAtOnceMax = 8;
const retryLimits = { delayMsMin: 100, delayMsMax: 30_000 } as const;

/** Nodes take turns: see MarkingLines. */
export interface MarkingTurns {
  admits(node: string): boolean;
  join(node: string): void;
  serve(wants: (node: string) => boolean, takeTurn: (node: string) => void): void;
}

export interface PodMarkerOptions {
  readonly pods: StoreReader<PodView>;
  /** Index of the pod store by node. */
  readonly podsByNode: string;
  readonly standingOf: (node: string) => NodeStanding | undefined;
  readonly turns: MarkingTurns;
  readonly writer: CommandWriter;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
}

/** Says of the pods of a silent node that they are not ready, so that services stop sending them traffic. */
export class PodMarker {
  readonly #options: PodMarkerOptions;
  readonly #loop: WorkLoop;
  /** Nodes that we found when we began to lead, to be looked at a few at a time. */
  readonly #found: WorkLoop;
  /** Came to their node while it was not ready, and wait to be marked. */
  readonly #newlyBound = new Set<string>();

  constructor(options: PodMarkerOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      queue: new WorkQueue(retryLimits),
      clock: options.clock,
      measured: { name: 'node_lifecycle_controller_pods', meter: options.meter },
      workersMax: writesAtOnceMax,
      handle: (key) => this.#reconcile(key),
      onFault: (key, error) => {
        options.decisions.note(lookFailed('marking of pods', key, error));
      },
    });
    this.#found = this.#makeFoundLoop();
  }

  #makeFoundLoop(): WorkLoop {
    const { clock, decisions } = this.#options;
    return slowRound({
      clock,
      retryLimits,
      look: (node) => this.#lookAtNewOn(node),
      onFault: (node, error) => {
        decisions.note(lookFailed('marking of pods', node, error));
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#found.run(signal), this.#loop.run(signal)]);
  }

  /** Gives turns and marks what waits now; for whoever has no loop running. */
  async drain(): Promise<void> {
    await this.#found.drain();
    this.serve();
    await this.#loop.drain();
  }

  /**
   * We begin to lead: to us all pods are new on their nodes. Only nodes that are not ready are looked at, and not now: all
   * pods of a large cluster together would take longer than the lease may wait.
   */
  takeOver(nodes: Iterable<string>): void {
    for (const node of nodes) {
      if (this.#mayWant(node)) this.#found.add(node);
    }
  }

  /** Gives a turn to nodes that wait for one. To be called often beside `run`. */
  serve(): void {
    this.#options.turns.serve(
      (node) => this.#podsOf(node).some((pod) => this.#isWanted(pod)),
      (node) => {
        this.lookAtNode(node);
      },
    );
  }

  /** The node is Unknown: its pods want a look. */
  lookAtNode(node: string): void {
    for (const pod of this.#podsOf(node)) this.#lookAt(pod);
  }

  /**
   * Only who is new on its node is looked at: a pod there that becomes Ready again was made so by its kubelet, which is
   * a sign of life and nothing to quarrel with.
   */
  onPod(change: Change<PodView>): void {
    if (change.kind === 'deleted') this.#newlyBound.delete(podKey(change.object));
    else if (change.kind === 'added' || change.previous.nodeName !== change.object.nodeName)
      this.#lookAtNew(change.object);
  }

  /** Pods may be heard of before their node is: to us they are new on it when it appears. */
  onNode(change: Change<NodeView>): void {
    if (change.kind === 'added' && this.#mayWant(change.object.name)) this.#lookAtNewOn(change.object.name);
  }

  /** Nobody is marked on a node that is ready, or that nobody knows. */
  #mayWant(node: string): boolean {
    const standing = this.#options.standingOf(node);
    return standing !== undefined && standing.ready !== 'True';
  }

  #lookAtNewOn(node: string): void {
    for (const pod of this.#podsOf(node)) this.#lookAtNew(pod);
  }

  #podsOf(node: string): readonly PodView[] {
    return this.#options.pods.byIndex(this.#options.podsByNode, node);
  }

  #lookAtNew(pod: PodView): void {
    this.#newlyBound.add(podKey(pod));
    this.#lookAt(pod);
  }

  /** On a silent node pods wait until the node has its turn. A kubelet that speaks for itself needs none. */
  #lookAt(pod: PodView): void {
    const { standingOf, turns } = this.#options;
    if (!this.#isWanted(pod)) this.#newlyBound.delete(podKey(pod));
    else if (standingOf(pod.nodeName)?.ready !== 'Unknown' || turns.admits(pod.nodeName)) this.#loop.add(podKey(pod));
    else turns.join(pod.nodeName);
  }

  #isWanted(pod: PodView): boolean {
    const bound = this.#newlyBound.has(podKey(pod)) ? 'newly' : 'before';
    return decideMarking(pod, this.#options.standingOf(pod.nodeName), bound);
  }

  async #reconcile(key: string): Promise<Outcome> {
    const { pods, writer, recorder, decisions, clock } = this.#options;
    const pod = pods.get(key);
    if (pod === undefined || !this.#isWanted(pod)) return this.#done(key);
    const outcome = await writer.carryOut({ kind: 'mark-pod-not-ready', pod, atMs: clock.nowMs() });
    if (outcome.result === 'gone' || outcome.result === 'not-leader') return this.#done(key);
    if (outcome.result === 'failed') return backOffAtLeast(outcome.retryAfterMs);
    recorder.record(podNodeNotReady(pod));
    decisions.note({ kind: 'pod-marked-not-ready', pod: key, node: pod.nodeName });
    return this.#done(key);
  }

  #done(key: string): Outcome {
    this.#newlyBound.delete(key);
    return forget;
  }
}
