import { type Condition, findCondition, listConditions } from '../../src/machinery/api/conditions.ts';
import type { Node } from '../../src/machinery/api/node.ts';
import type { ContainerStatus, Pod, PodSpec } from '../../src/machinery/api/pod.ts';
import { nodeInformer, podInformer } from '../../src/hollow-cluster/kubelet/fleet/fleet-informers.ts';
import { HollowKubelet } from '../../src/hollow-cluster/kubelet/hollow-kubelet.ts';
import { FaultInjectingClient } from '../../src/hollow-cluster/kubelet/network/fault-injecting-client.ts';
import { apiSource } from '../../src/hollow-cluster/kubelet/pod-config/api-source.ts';
import { PodRouter } from '../../src/hollow-cluster/kubelet/pod-config/pod-router.ts';
import type { PodSource, PodSourceName, SendPods } from '../../src/hollow-cluster/kubelet/pod-config/pod-update.ts';
import { completeProfile, type KubeletProfile, type Machine } from '../../src/hollow-cluster/kubelet/profile.ts';
import { runTogether } from '../../src/hollow-cluster/kubelet/loops/loop-group.ts';
import { Semaphore } from '../../src/hollow-cluster/kubelet/loops/semaphore.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryApi } from './memory-api.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder, SeededRandom } from './fakes.ts';

export const secondMs = 1_000;

/** A pod source that a test fills. */
export class HandSource implements PodSource {
  readonly name: PodSourceName;
  #pods: readonly Pod[];
  #wake: () => void = () => {};

  constructor(name: PodSourceName, pods: readonly Pod[] = []) {
    this.name = name;
    this.#pods = pods.map((pod) => this.#asStatic(pod));
  }

  set(pods: readonly Pod[]): void {
    this.#pods = pods.map((pod) => this.#asStatic(pod));
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

  /** Like the sources of files and URLs: the hash is the uid. */
  #asStatic(pod: Pod): Pod {
    const annotations = { ...pod.metadata.annotations, 'kubernetes.io/config.hash': pod.metadata.uid ?? '' };
    return { ...pod, metadata: { ...pod.metadata, annotations }, status: { phase: 'Pending' } };
  }
}

export interface KubeletWorldOptions {
  readonly profile?: Partial<KubeletProfile>;
  readonly machine?: Partial<Machine>;
  /** In addition to the API server. */
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

/** One kubelet, `n1`, an in-memory API server, and a manual clock. Containers start and stop at once. */
export class KubeletWorld {
  readonly clock = new ManualClock();
  readonly api = new MemoryApi(this.clock);
  readonly logger = new RecordingLogger();
  readonly recorder = new RecordingRecorder();
  readonly client: FaultInjectingClient;
  readonly kubelet: HollowKubelet;
  readonly #life = new AbortController();
  readonly #running: Promise<void>;

  constructor({ profile, machine: changes, sources }: KubeletWorldOptions = {}) {
    const { clock, api, logger } = this;
    const random = new SeededRandom(1);
    const dependencies = { api, clock, random, logger, meter: new RecordingMeter() };
    const [pods, nodes] = [podInformer(dependencies), nodeInformer(dependencies)];
    const router = new PodRouter(pods);
    this.client = new FaultInjectingClient({ api, clock, requestTimeoutMs: 10 * secondMs });
    const { client } = this;
    const bound = (): PodSource => apiSource({ nodeName: 'n1', router, connection: client, clock });
    this.kubelet = new HollowKubelet({
      name: 'n1',
      labels: {},
      machine: { ...machine, ...changes },
      profile: completeProfile({ podStartDelayMs: 0, podStopDelayMs: 0, ...profile }),
      api: client,
      sources: () => [bound(), ...(sources?.() ?? [])],
      nodes: { get: (name) => (client.isCut ? 'frozen' : nodes.store.get(name)) },
      registrations: new Semaphore(1),
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

  /** Stops everything. Rejects if the kubelet failed; returns the number of pending sleeps, which should be 0. */
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

  /** Deletes as a user would: gracefully, or with 0 by force. */
  async remove(name: string, gracePeriodSeconds = 30): Promise<void> {
    const uid = this.pod(name)?.metadata.uid ?? '';
    await this.api.delete('pods', { namespace: 'default', name }, { uid, gracePeriodSeconds, signal: this.signal });
  }

  /** A write of another client to a pod's status. */
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

  /** Number of a pod's running containers on the machine. */
  running(uid: string | undefined): number {
    return this.kubelet.host.live(uid ?? '').length;
  }

  /** The kubelet's requests about pods since `from`, as `verb name`, without those of informers. */
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
