import type { Condition } from '../../src/api/conditions.ts';
import { findCondition, listConditions } from '../../src/api/conditions.ts';
import type { Node } from '../../src/api/node.ts';
import type { ContainerStatus, Pod, PodSpec } from '../../src/api/pod.ts';
import { nodeInformer, podInformer } from '../../src/kubelet/fleet-informers.ts';
import { HollowKubelet } from '../../src/kubelet/hollow-kubelet.ts';
import { Link } from '../../src/kubelet/link.ts';
import { ApiSource } from '../../src/kubelet/pod-config/api-source.ts';
import { PodRouter } from '../../src/kubelet/pod-config/pod-router.ts';
import type { PodSource, SendPods } from '../../src/kubelet/pod-config/pod-source.ts';
import type { PodSourceName } from '../../src/kubelet/pod-config/pod-update.ts';
import { completeProfile, type KubeletProfile, type Machine } from '../../src/kubelet/profile.ts';
import { runTogether } from '../../src/kubelet/run-together.ts';
import { Turnstile } from '../../src/kubelet/turnstile.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryApi } from './memory-api.ts';
import { KeepingLogger, KeepingMeter, KeepingRecorder, SeededRandom } from './quiet.ts';

export const secondMs = 1_000;

/** A source of pods that a test fills by hand. */
export class HandSource implements PodSource {
  readonly name: PodSourceName;
  #pods: readonly Pod[];
  #wake: () => void = () => {};

  constructor(name: PodSourceName, pods: readonly Pod[] = []) {
    this.name = name;
    this.#pods = pods.map((pod) => this.#ours(pod));
  }

  set(pods: readonly Pod[]): void {
    this.#pods = pods.map((pod) => this.#ours(pod));
    this.#wake();
  }

  async run(send: SendPods, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await send(this.#pods, signal);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', () => resolve());
      });
    }
  }

  /** As the sources of files and URLs do: the hash is the uid. */
  #ours(pod: Pod): Pod {
    const annotations = { ...pod.metadata.annotations, 'kubernetes.io/config.hash': pod.metadata.uid ?? '' };
    return { ...pod, metadata: { ...pod.metadata, annotations }, status: { phase: 'Pending' } };
  }
}

export interface KubeletWorldOptions {
  readonly profile?: Partial<KubeletProfile>;
  readonly machine?: Partial<Machine>;
  /** Beside the API server. */
  readonly sources?: () => readonly PodSource[];
}

const machine: Machine = {
  cpuCores: 4,
  memoryMiB: 8_192,
  ephemeralStorageMiB: 10_240,
  podsMax: 110,
  address: '192.0.2.2',
  podSubnet: '10.128.0',
};

/** One kubelet, `n1`, an API server's memory, and a clock that a test moves. Containers start and stop at once. */
export class KubeletWorld {
  readonly clock = new ManualClock();
  readonly api = new MemoryApi(this.clock);
  readonly logger = new KeepingLogger();
  readonly recorder = new KeepingRecorder();
  readonly link: Link;
  readonly kubelet: HollowKubelet;
  readonly #life = new AbortController();
  readonly #running: Promise<void>;

  constructor({ profile, machine: changes, sources }: KubeletWorldOptions = {}) {
    const { clock, api, logger } = this;
    const random = new SeededRandom(1);
    const means = { api, clock, random, logger, meter: new KeepingMeter() };
    const [pods, nodes] = [podInformer(means), nodeInformer(means)];
    const router = new PodRouter(pods);
    this.link = new Link({ api, clock, requestTimeoutMs: 10 * secondMs });
    const { link } = this;
    const apiSource = (): PodSource => new ApiSource({ nodeName: 'n1', router, cable: link, clock });
    this.kubelet = new HollowKubelet({
      name: 'n1',
      labels: {},
      machine: { ...machine, ...changes },
      profile: completeProfile({ podStartDelayMs: 0, podStopDelayMs: 0, ...profile }),
      api: link,
      sources: () => [apiSource(), ...(sources?.() ?? [])],
      nodes: { get: (name) => (link.isCut ? 'frozen' : nodes.store.get(name)) },
      registrations: new Turnstile(1),
      recorder: this.recorder,
      clock,
      random,
      logger,
    });
    const disconnect = router.connect();
    this.#running = runTogether(this.#life.signal, [
      (signal) => pods.run(signal),
      (signal) => nodes.run(signal),
      (signal) => this.kubelet.run(signal),
    ]).finally(disconnect);
    this.#running.catch(() => undefined);
  }

  get signal(): AbortSignal {
    return this.#life.signal;
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  /** Ends everything. Rejects when the kubelet failed; the number of those that sleep on is the answer, and should be 0. */
  async end(): Promise<number> {
    this.#life.abort();
    await this.#running;
    return this.clock.sleeping;
  }

  async bind(name: string, spec: PodSpec = {}, metadata: Pod['metadata'] = {}): Promise<Pod> {
    const wanted: Pod = {
      metadata: { name, namespace: 'default', ...metadata },
      spec: { nodeName: 'n1', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i:1' }], ...spec },
    };
    return await this.api.create('pods', wanted);
  }

  /** As a user would: gracefully, or with 0 by force. */
  async remove(name: string, gracePeriodSeconds = 30): Promise<void> {
    const uid = this.pod(name)?.metadata.uid ?? '';
    await this.api.delete('pods', { namespace: 'default', name }, { uid, gracePeriodSeconds, signal: this.signal });
  }

  /** What another client writes into a pod's status. */
  async write(name: string, status: Readonly<Record<string, unknown>>): Promise<void> {
    const patch = { type: 'strategic-merge', body: { status } } as const;
    await this.api.patch('pods', { namespace: 'default', name }, patch, { signal: this.signal });
  }

  pod(name: string): Pod | undefined {
    return this.api.peek('pods', `default/${name}`);
  }

  node(): Node | undefined {
    return this.api.peek('nodes', 'n1');
  }

  phase(name: string): string | undefined {
    return this.pod(name)?.status?.phase;
  }

  condition(name: string, type: string): Condition | undefined {
    return findCondition(listConditions(this.pod(name)?.status?.conditions), type);
  }

  container(name: string, container = 'c'): ContainerStatus | undefined {
    return this.pod(name)?.status?.containerStatuses?.find((status) => status.name === container);
  }

  /** How many of a pod's containers run on the machine. */
  running(uid: string | undefined): number {
    return this.kubelet.host.live(uid ?? '').length;
  }

  /** The kubelet's requests about pods since `from`, as `verb name`; the informers' left out. */
  podRequests(from = 0): readonly string[] {
    return this.api.requests
      .slice(from)
      .filter(({ resource, verb }) => resource === 'pods' && verb !== 'list' && verb !== 'watch')
      .map(({ verb, name }) => `${verb} ${name}`);
  }

  events(reason: string): readonly string[] {
    return this.recorder.drafts.filter((draft) => draft.reason === reason).map(({ message }) => message);
  }
}
