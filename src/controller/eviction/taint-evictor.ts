// Sends pods away from nodes whose NoExecute taints they do not tolerate. A look at a pod only makes, moves or cancels its
// appointment; the appointment itself looks once more before it acts. Nothing in here remembers more than the API tells.
import { evictedByTaint } from '../../api/conditions.ts';
import type { NodeView } from '../../api/node.ts';
import { podKey, type PodView } from '../../api/pod.ts';
import { healthTaintKeys } from '../../api/taints.ts';
import type { Change, StoreReader } from '../../informer/informer.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Meter } from '../../ports/meter.ts';
import { backOffAtLeast, forget, type Outcome, WorkQueue } from '../../queueing/work-queue.ts';
import { slowRound } from '../../supervision/slow-round.ts';
import { WorkLoop } from '../../supervision/work-loop.ts';
import type { CommandWriter, WriteOutcome } from '../commands.ts';
import { lookFailed, type DecisionSink, type EvictionHold, type StayReason } from '../decisions.ts';
import { decideEviction, type EvictionDecision, type RunningTaint } from './decide-eviction.ts';
import { cancellingDeletion, markingForDeletion } from './events.ts';
import { evictionsScheduled, podDeletionDuration, podDeletionsTotal } from './metrics.ts';
import { TaintClock } from './taint-clock.ts';

/** Pods by the node they are bound to: the index every pod store here must have. */
export const podsByNode = 'node';

const deletesAtOnceMax = 16;
const retryLimits = { delayMsMin: 100, delayMsMax: 30_000 } as const;
const holdLookAgainMs = 1_000;

export interface TaintEvictorOptions {
  readonly pods: StoreReader<PodView>;
  readonly writer: CommandWriter;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Why nobody is evicted on account of this node's health for now; undefined if nothing stands against it. */
  readonly holdOf: (node: string) => EvictionHold | undefined;
}

type Leave = Extract<EvictionDecision, { kind: 'leave' }>;

interface Appointment {
  readonly uid: string;
  readonly node: string;
  readonly leave: Leave;
  /** The event was sent: a retry does not repeat it. */
  announced: boolean;
  /** What was last said to keep it from being kept. */
  heldBy?: EvictionHold;
}

export class TaintEvictor {
  readonly #options: TaintEvictorOptions;
  readonly #taints = new TaintClock();
  readonly #appointments = new Map<string, Appointment>();
  readonly #loop: WorkLoop;
  readonly #queue = new WorkQueue(retryLimits);
  /** Tainted nodes that we found when we began to lead, to be looked at a few at a time. */
  readonly #found: WorkLoop;
  readonly #evicted = new Map<string, string>();

  constructor(options: TaintEvictorOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      queue: this.#queue,
      clock: options.clock,
      measured: { name: 'noexec_taint_pod', meter: options.meter },
      workersMax: deletesAtOnceMax,
      handle: (key) => this.#keep(key),
      onFault: (key, error) => {
        options.decisions.note(lookFailed('taint eviction', key, error));
      },
    });
    this.#found = this.#makeFoundLoop();
  }

  #makeFoundLoop(): WorkLoop {
    const { clock, decisions } = this.#options;
    return slowRound({
      clock,
      retryLimits,
      look: (node) => this.#lookAtPodsOf(node),
      onFault: (node, error) => {
        decisions.note(lookFailed('taint eviction', node, error));
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#found.run(signal), this.#loop.run(signal)]);
  }

  /** Deletes whose time has come now; for whoever has no loop running. */
  async drain(): Promise<void> {
    await this.#found.drain();
    await this.#loop.drain();
  }

  /**
   * We begin to lead. Taints are known at once, so that no countdown begins late; pods are looked at on tainted nodes only,
   * and not now: all pods of a large cluster together would take longer than the lease may wait.
   */
  takeOver(nodes: Iterable<NodeView>): void {
    const { clock } = this.#options;
    const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
    for (const node of nodes) {
      if (this.#taints.observe(node, now)) this.#found.add(node.name);
    }
  }

  /** Due times of all appointments, on the monotonic clock. */
  scheduled(): ReadonlyMap<string, number> {
    return new Map([...this.#appointments].map(([key, appointment]) => [key, appointment.leave.atMs]));
  }

  /** When this pod (`namespace/name`) is to leave and why, on the monotonic clock; undefined without an appointment. */
  appointment(pod: string): Leave | undefined {
    return this.#appointments.get(pod)?.leave;
  }

  /** The NoExecute taints of a node whose countdowns run, each with its start. */
  runningTaints(node: string): readonly RunningTaint[] {
    return this.#taints.get(node);
  }

  onNode(change: Change<NodeView>): void {
    const { name } = change.object;
    if (change.kind === 'deleted') return this.#forgetNode(name);
    const { clock } = this.#options;
    const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
    if (this.#taints.observe(change.object, now)) this.#lookAtPodsOf(name);
  }

  onPod(change: Change<PodView>): void {
    if (change.kind === 'deleted') this.#leave(change.object, 'pod-gone');
    else this.#lookAt(change.object);
  }

  #forgetNode(name: string): void {
    this.#taints.forget(name);
    for (const pod of this.#podsOf(name)) this.#cancel(pod, 'node-gone');
  }

  #lookAtPodsOf(node: string): void {
    for (const pod of this.#podsOf(node)) this.#lookAt(pod);
  }

  #podsOf(node: string): readonly PodView[] {
    return this.#options.pods.byIndex(podsByNode, node);
  }

  #lookAt(pod: PodView): void {
    const known = this.#appointments.get(podKey(pod));
    if (known !== undefined && known.uid !== pod.uid) this.#leave(pod, 'pod-gone');
    else if (known !== undefined && known.node !== pod.nodeName) this.#cancel(pod, 'pod-moved');
    const decision = decideEviction(pod, this.#taints.get(pod.nodeName));
    if (decision.kind === 'stay') this.#cancel(pod, decision.why);
    else if (this.#evicted.get(podKey(pod)) !== pod.uid) this.#schedule(pod, decision);
  }

  /** A deadline only tightens: longer patience does not move an appointment, less does. */
  #schedule(pod: PodView, leave: Leave): void {
    const key = podKey(pod);
    const known = this.#appointments.get(key);
    if (known !== undefined && known.leave.atMs <= leave.atMs) return;
    this.#appointments.set(key, { uid: pod.uid, node: pod.nodeName, leave, announced: known?.announced ?? false });
    const inMs = Math.max(0, leave.atMs - this.#options.clock.monotonicMs());
    const { taint, toleratedSeconds } = leave;
    if (inMs > 0) {
      this.#options.decisions.note({
        kind: 'eviction-scheduled',
        pod: key,
        node: pod.nodeName,
        taint,
        toleratedSeconds,
        inMs,
      });
    }
    this.#loop.add(key, inMs);
    this.#publish();
  }

  /** Withdraws an appointment, and says so. */
  #cancel(pod: PodView, why: StayReason): void {
    const known = this.#appointments.get(podKey(pod));
    if (known === undefined) return;
    const isOurDeletion = why === 'already-terminating' && known.announced;
    if (isOurDeletion) return; // the watch was quicker than the answer to our own request
    if (why !== 'already-terminating') this.#options.recorder.record(cancellingDeletion(pod));
    this.#drop(podKey(pod), known, why);
  }

  /** The pod itself is gone; if not by our hand, its appointment is called off in public. */
  #leave(pod: PodView, why: StayReason): void {
    const known = this.#appointments.get(podKey(pod));
    this.#evicted.delete(podKey(pod));
    if (known === undefined) return;
    if (!known.announced) this.#options.recorder.record(cancellingDeletion(pod));
    this.#drop(podKey(pod), known, why);
  }

  #drop(key: string, appointment: Appointment, why: StayReason): void {
    this.#appointments.delete(key);
    this.#queue.remove(key);
    this.#options.decisions.note({ kind: 'eviction-cancelled', pod: key, node: appointment.node, why });
    this.#publish();
  }

  /** An appointment has come: look once more, then act. */
  async #keep(key: string): Promise<Outcome> {
    const appointment = this.#appointments.get(key);
    const pod = this.#options.pods.get(key);
    if (appointment === undefined || pod === undefined || pod.uid !== appointment.uid) return forget;
    if (pod.terminating) return this.#miss(key);
    const earlyMs = appointment.leave.atMs - this.#options.clock.monotonicMs();
    if (earlyMs > 0) return { next: 'look-again', afterMs: earlyMs };
    const held = this.#holdOf(appointment);
    if (held !== undefined) return this.#hold(key, appointment, held);
    return this.#evict(pod, appointment);
  }

  /** Somebody else deleted it first. */
  #miss(key: string): Outcome {
    this.#appointments.delete(key);
    this.#publish();
    return forget;
  }

  #holdOf({ leave, node }: Appointment): EvictionHold | undefined {
    return healthTaintKeys.some((key) => key === leave.taint) ? this.#options.holdOf(node) : undefined;
  }

  #hold(key: string, appointment: Appointment, why: EvictionHold): Outcome {
    if (appointment.heldBy !== why) {
      appointment.heldBy = why;
      this.#options.decisions.note({ kind: 'eviction-held', pod: key, node: appointment.node, why });
    }
    return { next: 'look-again', afterMs: holdLookAgainMs };
  }

  async #evict(pod: PodView, appointment: Appointment): Promise<Outcome> {
    const { writer, recorder, clock } = this.#options;
    if (!appointment.announced) recorder.record(markingForDeletion(pod));
    appointment.announced = true;
    if (pod.disruptionReason !== evictedByTaint.reason) {
      const marked = await writer.carryOut({ kind: 'mark-pod-disrupted', pod, atMs: clock.nowMs() });
      if (marked.result !== 'written') return this.#after(pod, appointment, marked);
    }
    if (this.#appointments.get(podKey(pod)) !== appointment) return forget; // cancelled while we marked it
    return this.#after(pod, appointment, await writer.carryOut({ kind: 'delete-pod', pod }));
  }

  #after(pod: PodView, appointment: Appointment, outcome: WriteOutcome): Outcome {
    if (outcome.result === 'failed') return backOffAtLeast(outcome.retryAfterMs);
    if (outcome.result === 'not-leader') return forget;
    if (outcome.result === 'written') this.#count(pod, appointment);
    if (this.#appointments.get(podKey(pod)) === appointment) this.#appointments.delete(podKey(pod));
    this.#publish();
    return forget;
  }

  #count(pod: PodView, { leave }: Appointment): void {
    const { meter, decisions, clock } = this.#options;
    this.#evicted.set(podKey(pod), pod.uid);
    meter.add(podDeletionsTotal, 1);
    meter.observe(podDeletionDuration, Math.max(0, clock.monotonicMs() - leave.atMs) / 1_000);
    const { taint, toleratedSeconds } = leave;
    decisions.note({ kind: 'pod-evicted', pod: podKey(pod), node: pod.nodeName, taint, toleratedSeconds });
  }

  #publish(): void {
    this.#options.meter.set(evictionsScheduled, this.#appointments.size);
  }
}
