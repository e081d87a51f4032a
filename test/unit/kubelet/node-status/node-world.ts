import type { Condition } from '../../../../src/api/conditions.ts';
import { findCondition, listConditions } from '../../../../src/api/conditions.ts';
import type { Node } from '../../../../src/api/node.ts';
import type { Labels } from '../../../../src/api/topology.ts';
import type { HealthCheck } from '../../../../src/kubelet/machine/runtime-state.ts';
import { deriveMachine } from '../../../../src/kubelet/derive-machine.ts';
import { Link } from '../../../../src/kubelet/link.ts';
import { NodeSide, type NodeSideOptions } from '../../../../src/kubelet/node-status/node-side.ts';
import { completeProfile, type KubeletProfile } from '../../../../src/kubelet/profile.ts';
import { type RuntimeConditions, RuntimeFailure } from '../../../../src/kubelet/runtime/pod-runtime.ts';
import { Turnstile } from '../../../../src/kubelet/turnstile.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryApi, type MemoryRequest } from '../../../support/memory-api.ts';
import { KeepingLogger, KeepingRecorder } from '../../../support/quiet.ts';

const wellAndNetworked: RuntimeConditions = { runtime: { ok: true }, network: { ok: true } };

/** A runtime that says what it is told to say, or nothing. */
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
    if (this.#answer === 'silent') throw new RuntimeFailure('no answer');
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

export interface NodeWorldOptions extends Partial<Omit<NodeSideOptions, 'profile' | 'labels'>> {
  readonly profile?: Partial<KubeletProfile>;
  readonly labels?: Labels;
  readonly healthChecks?: readonly HealthCheck[];
  /** Every chance there is. */
  readonly chance?: number;
}

/** The node side of one kubelet, n1, and an API server's memory, in a time that only the test moves. */
export class NodeWorld {
  readonly clock = new ManualClock();
  readonly api = new MemoryApi(this.clock);
  readonly link: Link;
  readonly logger = new KeepingLogger();
  readonly recorder = new KeepingRecorder();
  readonly runtime = new ScriptedRuntime();
  /** Calls of the repeated-failure hook. */
  hooks = 0;
  chance: number;
  side: NodeSide;
  readonly #options: NodeWorldOptions;
  readonly #startedAtMs = this.clock.monotonicMs();
  #life = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: NodeWorldOptions = {}) {
    this.#options = options;
    this.chance = options.chance ?? 0;
    this.link = new Link({ api: this.api, clock: this.clock, requestTimeoutMs: 10_000 });
    this.side = this.#assemble();
  }

  get signal(): AbortSignal {
    return this.#life.signal;
  }

  start(): void {
    this.#running = this.side.run(this.#life.signal);
  }

  /** Ends the process: nothing may sleep on. */
  async stop(): Promise<void> {
    this.#life.abort();
    await this.#running;
    if (this.clock.sleeping > 0) throw new Error(`${this.clock.sleeping} still sleep`);
  }

  /** Another process on the same machine. */
  async restart(profile: Partial<KubeletProfile> = this.#options.profile ?? {}): Promise<void> {
    await this.stop();
    const bootId = this.side.machine.bootId;
    this.#life = new AbortController();
    this.side = this.#assemble(profile);
    if (bootId !== this.side.machine.bootId) throw new Error('the machine has been rebooted');
    this.start();
  }

  /** Running for 15 s, the node ready and its lease made; the requests and events that this took are forgotten. */
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

  /** Requests about nodes, or about leases. */
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

  /** What somebody else writes on the node. */
  async edit(body: unknown): Promise<void> {
    await this.api.patch('nodes', { name: 'n1' }, { type: 'strategic-merge', body }, { signal: this.signal });
    this.api.requests.pop();
  }

  async deleteNode(): Promise<void> {
    await this.api.delete('nodes', { name: 'n1' }, { uid: this.node()?.metadata.uid ?? '', signal: this.signal });
    this.api.requests.pop();
  }

  #assemble(profile: Partial<KubeletProfile> = this.#options.profile ?? {}): NodeSide {
    return new NodeSide({
      name: 'n1',
      labels: {},
      machine: deriveMachine(0),
      api: this.link,
      nodes: { get: (name) => this.api.peek('nodes', name) },
      registrations: new Turnstile(1),
      runtime: this.runtime,
      recorder: this.recorder,
      clock: this.clock,
      random: { next: () => this.chance },
      logger: this.logger,
      onRepeatedFailure: () => {
        this.hooks += 1;
      },
      ...this.#options,
      profile: completeProfile({ leasePhase: 'aligned', ...profile }),
    });
  }
}
