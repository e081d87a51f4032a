// The taint evictor alone: a test changes the stores, chooses the events that are delivered, and responds to its
// writes.
import { type NodeView, transformNode } from '../../../../src/machinery/api/node.ts';
import { type Pod, podKey, type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';
import type { Toleration } from '../../../../src/machinery/api/tolerations.ts';
import type { Command, StillWanted, WriteOutcome } from '../../../../src/controller/model/commands.ts';
import type { Decision, EvictionHold } from '../../../../src/controller/model/decisions.ts';
import type { LiveNode } from '../../../../src/controller/model/live-node.ts';
import { TaintEvictor } from '../../../../src/controller/taint-eviction/taint-evictor.ts';
import { holdsOf } from '../../../../src/controller/holds/decide-holds.ts';
import { type Act, type Hold, noHolds } from '../../../../src/controller/model/holds.ts';
import { evidenceOfHold } from '../../../support/evidence-of-hold.ts';
import { FakeInformer } from '../../../support/fake-informer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingMeter, RecordingRecorder } from '../../../support/fakes.ts';
import { podsByNode } from '../../../../src/controller/model/indexes.ts';

export class EvictorStand {
  readonly clock = new ManualClock();
  readonly nodes = new Map<string, NodeView>();
  readonly pods = new FakeInformer<PodView>('pods', { [podsByNode]: ({ nodeName }) => [nodeName] });
  readonly recorder = new RecordingRecorder();
  readonly decisions: Decision[] = [];
  /** What was sent, as `kind name`. */
  readonly sent: string[] = [];
  hold: EvictionHold | undefined;
  /** How often it was asked what holds the deletions of a node. */
  asked = 0;
  cacheIsLate = false;
  /** The result of a live read of the node. */
  live: LiveNode | undefined = 'unreadable';
  /** What a write waits for before it is asked whether it is still wanted. */
  lane: Promise<unknown> = Promise.resolve();
  /** What happens when a write has been sent; its answer. */
  answer: (command: Command) => WriteOutcome | Promise<WriteOutcome> = () => ({ result: 'written' });
  readonly evictor = new TaintEvictor({
    nodes: { get: (name) => this.nodes.get(name) },
    pods: this.pods,
    isUndecoded: (pod) => this.pods.isUndecoded(pod),
    writer: { carryOut: (command, stillWanted) => this.#carryOut(command, stillWanted) },
    decisions: { note: (decision) => this.decisions.push(decision) },
    recorder: this.recorder,
    meter: new RecordingMeter(),
    clock: this.clock,
    holds: {
      ask: () => undefined,
      of: (_node, ...acts) => this.#holdsOf(acts),
      ofPod: (_node, _pod, act) => this.#holdsOf([act]),
    },
    isNodeWatchBehind: () => false,
    liveNode: () => this.live,
  });
  readonly #life = new AbortController();
  readonly #running = this.evictor.run(this.#life.signal);
  readonly #createdAt = formatTime(this.clock.nowMs());

  *#holdsOf(acts: readonly Act[]): Iterable<Hold> {
    this.asked += 1;
    const evidence = { ...noHolds, isCacheLate: this.cacheIsLate, ...evidenceOfHold(this.hold) };
    yield* holdsOf(evidence, acts, this.clock.nowMs());
  }

  /** The same, with an event. */
  setPod(...stored: Parameters<EvictorStand['putPod']>): void {
    const previous = this.pods.store.get(`d/${stored[0]}`);
    const object = this.putPod(...stored);
    const change = { key: podKey(object), object };
    this.evictor.onPod(
      previous === undefined ? { kind: 'added', ...change } : { kind: 'modified', previous, ...change },
    );
  }

  /** Why deletions were held, each as often as it was noted. */
  held(): readonly EvictionHold[] {
    return this.decisions.flatMap((decision) => (decision.kind === 'eviction-held' ? [decision.why] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    this.#life.abort();
    await this.clock.advance(0);
    await this.#running;
  }

  advance(seconds: number): Promise<void> {
    return this.clock.advance(seconds * 1_000);
  }

  /** The store contains this node from now on, without an event. */
  putNode(name: string, ...taints: readonly Taint[]): NodeView {
    const metadata = { name, uid: `uid-${name}`, creationTimestamp: this.#createdAt };
    const node = transformNode({ metadata, spec: { taints } });
    this.nodes.set(name, node);
    return node;
  }

  /** The same, with an event. */
  setTaints(name: string, ...taints: readonly Taint[]): void {
    const previous = this.nodes.get(name);
    const object = this.putNode(name, ...taints);
    if (previous === undefined) this.evictor.onNode({ kind: 'added', key: name, object });
    else this.evictor.onNode({ kind: 'modified', key: name, object, previous });
  }

  /** The store contains this pod from now on, without an event. */
  putPod(name: string, tolerations: readonly Toleration[] = [], metadata: Partial<Pod['metadata']> = {}): PodView {
    const identity = { namespace: 'd', name, uid: `uid-${name}`, creationTimestamp: this.#createdAt };
    const pod = transformPod({ metadata: { ...identity, ...metadata }, spec: { nodeName: 'n', tolerations } });
    this.pods.set(podKey(pod), pod);
    return pod;
  }

  /** The pod is deleted, with an event. */
  removePod(name: string): void {
    const key = `d/${name}`;
    const object = this.pods.get(key);
    if (object === undefined) return;
    this.pods.delete(key);
    this.evictor.onPod({ kind: 'deleted', key, object });
  }

  sweep(): void {
    Array.from(this.evictor.sweep());
  }

  events(): readonly string[] {
    return this.recorder.drafts.map(({ message }) => message);
  }

  async #carryOut(command: Command, stillWanted: StillWanted): Promise<WriteOutcome> {
    await this.lane;
    if (!stillWanted()) return { result: 'unwanted' };
    this.sent.push(`${command.kind} ${'pod' in command ? command.pod.name : command.node.name}`);
    return this.answer(command);
  }
}
