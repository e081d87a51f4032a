// Nodes, pods and DaemonSets around a real evictor, real health and real queues, on a manual clock. Its writer changes
// the stores as the API server would, and fails on request.
import type { ApiReason } from '../../../../src/machinery/api/api-error.ts';
import type { DaemonSetView } from '../../../../src/machinery/api/daemonset.ts';
import { type NodeView, transformNode } from '../../../../src/machinery/api/node.ts';
import { nodeLostReason, podKey, type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';
import { changeTaints, type Taint } from '../../../../src/machinery/api/taints.ts';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';
import { zoneOf } from '../../../../src/machinery/api/topology.ts';
import type { Command, CommandWriter, WriteOutcome } from '../../../../src/controller/model/commands.ts';
import type { Decision } from '../../../../src/controller/model/decisions.ts';
import { readyOf } from '../../../../src/controller/health/assess-node.ts';
import { HealthTable } from '../../../../src/controller/health/health-table.ts';
import { PodEvictor } from '../../../../src/controller/pod-eviction-mode/pod-evictor.ts';
import { evictionsTotal } from '../../../../src/controller/tainting/metrics.ts';
import { ZoneTaintQueues } from '../../../../src/controller/tainting/zone-taint-queues.ts';
import { aDaemonSetView } from '../../../support/builders.ts';
import { FakeInformer } from '../../../support/fake-informer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingMeter, RecordingRecorder } from '../../../support/fakes.ts';
import { daemonSetsByNamespace } from '../../../../src/controller/model/indexes.ts';

interface Failure {
  readonly kind: Command['kind'];
  readonly pod: string | undefined;
  readonly result: WriteOutcome;
  left: number;
}

export class EvictionWorld {
  readonly clock = new ManualClock();
  readonly meter = new RecordingMeter();
  readonly recorder = new RecordingRecorder();
  readonly nodes = new FakeInformer<NodeView>('nodes');
  readonly pods = new FakeInformer<PodView>('pods', { node: ({ nodeName }) => [nodeName] });
  readonly daemonSets = new FakeInformer<DaemonSetView>('daemonsets', {
    [daemonSetsByNamespace]: ({ namespace }) => [namespace],
  });
  readonly decisions: Decision[] = [];
  readonly commands: Command[] = [];
  readonly lines: ZoneTaintQueues;
  readonly evictor: PodEvictor;
  /** Decided, and about to be sent: what a test does here happens while the write waits for a slot. */
  beforeWrite: (command: Command) => void = () => undefined;
  /** Tried, and not answered yet: what a test does here happens while the request is under way. */
  duringWrite: (command: Command) => void = () => undefined;
  held = false;
  /** Total stale time. */
  staleMs = 0;
  readonly #health = new HealthTable({
    current: () => ({ nodeMonitorGracePeriodMs: 40_000, nodeStartupGracePeriodMs: 60_000 }),
  });
  readonly #failures: Failure[] = [];
  #uid = 0;

  constructor(options: { readonly ratePerSecond?: number; readonly timeoutSeconds?: number } = {}) {
    this.lines = new ZoneTaintQueues(
      () => ({ nodeEvictionRate: options.ratePerSecond ?? 10_000 }),
      this.meter,
      this.clock,
    );
    this.evictor = new PodEvictor({
      options: { current: () => ({ podEvictionTimeoutMs: (options.timeoutSeconds ?? 600) * 1_000 }) },
      nodes: this.nodes,
      pods: this.pods,
      daemonSets: this.daemonSets,
      queues: this.lines,
      zoneOf: ({ labels }) => zoneOf(labels),
      serving: { wakeUp: () => undefined },
      writer: this.#writer(),
      decisions: { note: (decision) => this.decisions.push(decision) },
      recorder: this.recorder,
      meter: this.meter,
      evictionsTotal,
      clock: this.clock,
      readyOf,
      healthOf: (node) => this.#health.get(node),
      healthNowMs: () => this.#healthNow().monotonicMs,
      holds: { isIntended: () => false, isHeldForAll: () => this.held, heldForMs: () => (this.held ? 1 : 0) },
      liveNode: () => 'gone',
      isNodeWatchBehind: () => false,
      fullDisruption: () => true,
    });
    this.pods.onChange('pod-eviction', (change) => {
      this.evictor.onPod(change);
    });
  }

  addNode(
    name: string,
    ready: string,
    options: { readonly zone?: string; readonly taints?: readonly Taint[] } = {},
  ): void {
    const { zone, taints } = options;
    const labels = zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone };
    this.nodes.set(
      name,
      transformNode({
        metadata: { name, uid: `u-${name}-${this.#uid++}`, resourceVersion: '1', labels },
        spec: { taints: taints ?? [] },
        status: { conditions: [this.#ready(ready)] },
      }),
    );
  }

  /** Its kubelet changed its Ready condition: noticed at once, attended to by the next monitor pass. */
  becomes(name: string, ready: string): void {
    const node = { ...this.#node(name), conditions: [this.#ready(ready)] };
    this.nodes.set(name, node);
    this.#health.observe(node, undefined, this.#healthNow());
  }

  moveTo(name: string, zone: string): void {
    this.nodes.set(name, { ...this.#node(name), labels: { 'topology.kubernetes.io/zone': zone } });
  }

  removeNode(name: string): void {
    this.nodes.delete(name);
    this.#health.forget(name);
    this.evictor.forget(name);
  }

  addPod(name: string, nodeName: string, metadata: { readonly labels?: Record<string, string> } = {}): void {
    const identity = { namespace: 'default', name, uid: `u-${name}-${this.#uid++}`, resourceVersion: '1' };
    const pod = transformPod({
      metadata: { ...identity, ...metadata },
      spec: { nodeName },
      status: { phase: 'Running' },
    });
    this.pods.set(podKey(pod), pod);
  }

  changePod(name: string, change: Partial<PodView>): void {
    this.pods.set(`default/${name}`, { ...this.pod(name), ...change });
  }

  addDaemonSet(name: string, matchLabels: Record<string, string>): void {
    this.daemonSets.set(`default/${name}`, aDaemonSetView('default', name, matchLabels));
  }

  fail(
    kind: Command['kind'],
    reason: ApiReason,
    options: { readonly pod?: string; readonly times?: number } = {},
  ): void {
    const result: WriteOutcome = { result: 'failed', reason, retryAfterMs: undefined };
    this.#failures.push({ kind, pod: options.pod, result, left: options.times ?? 1 });
  }

  /** Looks at every node, as a monitor pass has it done. */
  async monitor(): Promise<void> {
    for (const node of this.nodes.values()) {
      this.#health.observe(node, undefined, this.#healthNow());
      await this.evictor.reconcile(node, zoneOf(node.labels));
    }
  }

  /** Serves the lines once and has all pods deleted that are due. */
  async pass(): Promise<void> {
    await this.evictor.pass();
    await this.evictor.drain();
  }

  async passAfter(seconds: number): Promise<void> {
    await this.advance(seconds);
    await this.pass();
  }

  /** Advances time; only heartbeats count for a node, so nothing else changes. */
  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1_000);
  }

  pod(name: string): PodView {
    const pod = this.pods.get(`default/${name}`);
    if (pod === undefined) throw new Error(`no pod ${name}`);
    return pod;
  }

  /** Pods whose deletion the API server accepted, in order. */
  deleted(): readonly string[] {
    return this.commands.flatMap((command) => (command.kind === 'delete-pod' ? [command.pod.name] : []));
  }

  /** Kinds of the writes that the API server accepted, in order. */
  sent(): readonly string[] {
    return this.commands.map(({ kind }) => kind);
  }

  kinds(): readonly string[] {
    return this.decisions.map(({ kind }) => kind);
  }

  events(): readonly string[] {
    return this.recorder.drafts.map(({ about, reason }) => `${about.name}:${reason}`);
  }

  #writer(): CommandWriter {
    return {
      carryOut: async (command, stillWanted) => {
        await Promise.resolve();
        this.beforeWrite(command);
        if (!stillWanted()) return { result: 'unwanted' };
        this.duringWrite(command);
        const failure = this.#failures.find((candidate) => candidate.left > 0 && concerns(candidate, command));
        if (failure !== undefined) {
          failure.left -= 1;
          return failure.result;
        }
        return this.#carryOut(command);
      },
    };
  }

  #carryOut(command: Command): WriteOutcome {
    if ('pod' in command && this.pods.get(podKey(command.pod))?.uid !== command.pod.uid) return { result: 'gone' };
    this.commands.push(command);
    if (command.kind === 'mark-pod-lost') this.changePod(command.pod.name, { reason: nodeLostReason });
    if (command.kind === 'delete-pod') this.changePod(command.pod.name, { terminating: true });
    if (command.kind === 'change-taints') {
      const node = this.#node(command.node.name);
      this.nodes.set(node.name, { ...node, taints: changeTaints(node.taints, command) });
    }
    return { result: 'written' };
  }

  #node(name: string): NodeView {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  #ready(status: string): { type: string; status: string; lastHeartbeatTime: string; lastTransitionTime: string } {
    const at = formatTime(this.clock.nowMs());
    return { type: 'Ready', status, lastHeartbeatTime: at, lastTransitionTime: at };
  }

  #healthNow(): { monotonicMs: number; wallMs: number } {
    return { monotonicMs: this.clock.monotonicMs() - this.staleMs, wallMs: this.clock.nowMs() };
  }
}

function concerns(failure: Failure, command: Command): boolean {
  if (failure.kind !== command.kind) return false;
  return failure.pod === undefined || ('pod' in command && command.pod.name === failure.pod);
}
