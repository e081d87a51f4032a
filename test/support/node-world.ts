import { type Condition, findCondition, listConditions } from '../../src/machinery/api/conditions.ts';
import type { Node } from '../../src/machinery/api/node.ts';
import { buildMachine } from '../../src/hollow-cluster/kubelet/fleet/build-machine.ts';
import { FaultInjectingClient } from '../../src/hollow-cluster/kubelet/network/fault-injecting-client.ts';
import { NodeManager, type NodeManagerOptions } from '../../src/hollow-cluster/kubelet/node-manager.ts';
import { FakeMachine } from '../../src/hollow-cluster/kubelet/machine/fake-machine.ts';
import { completeProfile, type KubeletProfile, type Machine } from '../../src/hollow-cluster/kubelet/profile.ts';
import { type RuntimeConditions, RuntimeFailure } from '../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';
import { runTogether } from '../../src/hollow-cluster/kubelet/loops/loop-group.ts';
import { Semaphore } from '../../src/hollow-cluster/kubelet/loops/semaphore.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryApi, type MemoryRequest } from './memory-api.ts';
import { RecordingLogger, RecordingRecorder } from './fakes.ts';

const wellAndNetworked: RuntimeConditions = { runtime: { ok: true }, network: { ok: true } };

/** A runtime with scripted results, or none. */
export class ScriptedRuntime {
  asked = 0;
  #answer: RuntimeConditions | 'silent' | 'hanging' = wellAndNetworked;
  readonly #listeners = new Set<() => void>();

  says(answer: RuntimeConditions | 'silent' | 'hanging'): void {
    this.#answer = answer;
    for (const listener of this.#listeners) listener();
  }

  recovers(): void {
    this.says(wellAndNetworked);
  }

  async conditions(signal: AbortSignal): Promise<RuntimeConditions> {
    this.asked += 1;
    if (this.#answer === 'silent') throw new RuntimeFailure('no response');
    while (this.#answer === 'hanging' && !signal.aborted) await this.#change(signal);
    return typeof this.#answer === 'string' ? wellAndNetworked : this.#answer;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const leave = this.onChange(() => {
        leave();
        resolve();
      });
      signal.addEventListener('abort', () => resolve());
    });
  }
}

export interface NodeWorldOptions extends Partial<Omit<NodeManagerOptions, 'profile' | 'machine'>> {
  readonly profile?: Partial<KubeletProfile>;
  readonly machine?: Machine | FakeMachine;
  /** The value of every random number. */
  readonly chance?: number;
}

/** The node part of one kubelet, n1, with an in-memory API server and a manual clock. */
export class NodeWorld {
  readonly clock = new ManualClock();
  readonly api = new MemoryApi(this.clock);
  readonly client: FaultInjectingClient;
  readonly logger = new RecordingLogger();
  readonly recorder = new RecordingRecorder();
  readonly runtime = new ScriptedRuntime();
  /** Number of calls of the repeated-failure hook. */
  hooks = 0;
  chance: number;
  side: NodeManager;
  readonly #options: NodeWorldOptions;
  readonly #startedAtMs = this.clock.monotonicMs();
  #life = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: NodeWorldOptions = {}) {
    this.#options = options;
    this.chance = options.chance ?? 0;
    this.client = new FaultInjectingClient({ api: this.api, clock: this.clock, requestTimeoutMs: 10_000 });
    this.side = this.#assemble();
  }

  get signal(): AbortSignal {
    return this.#life.signal;
  }

  start(): void {
    this.#running = runTogether(this.#life.signal, this.side.loops());
  }

  /** Starts the kubelet and lets this time pass. */
  async startFor(ms: number): Promise<void> {
    this.start();
    await this.clock.advance(ms);
  }

  async restartFor(ms: number): Promise<void> {
    await this.restart();
    await this.clock.advance(ms);
  }

  /** Ends the process: no sleep may be pending. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    this.#life.abort();
    await this.#running;
    if (this.clock.sleeping > 0) throw new Error(`${this.clock.sleeping} sleeps are pending`);
  }

  /** A new process on the same machine. */
  async restart(profile: Partial<KubeletProfile> = this.#options.profile ?? {}): Promise<void> {
    await this.stop();
    const bootId = this.side.machine.bootId;
    this.#life = new AbortController();
    this.side = this.#assemble(profile);
    if (bootId !== this.side.machine.bootId) throw new Error('the machine has been rebooted');
    this.start();
  }

  /** Runs for 15 s until the node is ready and its lease exists; clears the recorded requests and events. */
  async settle(): Promise<void> {
    this.start();
    await this.clock.advance(15_000);
    this.forget();
  }

  forget(): void {
    this.api.requests.length = 0;
    this.recorder.drafts.length = 0;
    this.hooks = 0;
  }

  /** Seconds since the start. */
  seconds(request: MemoryRequest): number {
    return (request.atMs - this.#startedAtMs) / 1_000;
  }

  /** Times of such requests, in seconds since the start. */
  times(verb: MemoryRequest['verb'], resource: MemoryRequest['resource']): readonly number[] {
    return this.api.requests
      .filter((request) => request.verb === verb && request.resource === resource)
      .map((request) => this.seconds(request));
  }

  /** Verbs of the requests about nodes, or about leases. */
  verbs(resource: MemoryRequest['resource']): readonly string[] {
    return this.api.requests.filter((request) => request.resource === resource).map(({ verb }) => verb);
  }

  node(): Node | undefined {
    return this.api.peek('nodes', 'n1');
  }

  conditions(): readonly Condition[] {
    return listConditions(this.node()?.status?.conditions);
  }

  condition(type: string): Condition | undefined {
    return findCondition(this.conditions(), type);
  }

  events(): readonly string[] {
    return this.recorder.drafts.map(({ reason }) => reason);
  }

  /** A write of another client to the node. */
  async edit(body: unknown): Promise<void> {
    await this.api.patch('nodes', { name: 'n1' }, { type: 'strategic-merge', body }, { signal: this.signal });
    this.api.requests.pop();
  }

  async deleteNode(): Promise<void> {
    await this.api.delete('nodes', { name: 'n1' }, { uid: this.node()?.metadata.uid ?? '', signal: this.signal });
    this.api.requests.pop();
  }

  #assemble(profile: Partial<KubeletProfile> = this.#options.profile ?? {}): NodeManager {
    const { machine = buildMachine(0), ...others } = this.#options;
    return new NodeManager({
      name: 'n1',
      labels: {},
      api: this.client,
      nodes: { get: (name) => this.api.peek('nodes', name) },
      registrations: new Semaphore(1),
      runtime: this.runtime,
      recorder: this.recorder,
      clock: this.clock,
      random: { next: () => this.chance },
      logger: this.logger,
      onRepeatedFailure: () => {
        this.hooks += 1;
      },
      activePods: () => [],
      kill: async () => {},
      isCleanedUp: () => true,
      ...others,
      machine: machine instanceof FakeMachine ? machine : new FakeMachine('n1', machine),
      profile: completeProfile({ leasePhase: 'aligned', ...profile }),
    });
  }
}
