// Nodes, leases and pods on a real API server, kept alive by the test: what kubelets would write, and nothing else.
import { formatMicroTime, formatTime } from '../../src/api/timestamps.ts';
import type { Taint } from '../../src/api/taints.ts';
import type { Toleration } from '../../src/api/tolerations.ts';
import type { RestClient } from './rest-client.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const pods = '/api/v1/namespaces/default/pods';
const renewEveryMsDefault = 1_000;
const merge = { contentType: 'application/merge-patch+json' } as const;
const strategic = { contentType: 'application/strategic-merge-patch+json' } as const;

export interface NodeJson {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: { readonly taints?: readonly Taint[] };
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

export interface PodJson {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

export interface EventJson {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string };
}

export interface ScriptedClusterOptions {
  /** How far the clocks of the nodes are from ours: a stamp then tells who wrote it. */
  readonly clockOffsetMs?: number;
  /** From one renewal of a lease to the next; 1 s by default. */
  readonly renewEveryMs?: number;
  /** Parts into which the nodes are dealt, renewed one after another; one by default. */
  readonly renewalParts?: number;
}

export interface NodeOptions {
  readonly labels?: Readonly<Record<string, string>>;
  /** False: its kubelet registered it and said nothing since, not even by a lease. */
  readonly posts?: boolean;
}

export interface PodOptions {
  readonly graceSeconds?: number;
  readonly phase?: string;
  /** Undefined: none of its conditions is there yet. */
  readonly ready?: string | undefined;
}

const running = { phase: 'Running', ready: 'True' } as const;

/** Answers of a kubelet by type of condition. Those that are not given are those of a node in good health. */
export type Answers = Readonly<Record<string, string>>;

export class ScriptedCluster {
  readonly #client: RestClient;
  readonly #clockOffsetMs: number;
  readonly #renewEveryMs: number;
  readonly #renewalParts: number;
  /** All there ever were, so that a node keeps its part. */
  readonly #known = new Set<string>();
  readonly #alive = new Set<string>();
  readonly #renewedAtMs = new Map<string, number>();
  readonly #stop = new AbortController();
  #renewing: Promise<void> | undefined;
  failedRenewals = 0;

  constructor(client: RestClient, options: ScriptedClusterOptions = {}) {
    this.#client = client;
    this.#clockOffsetMs = options.clockOffsetMs ?? 0;
    this.#renewEveryMs = options.renewEveryMs ?? renewEveryMsDefault;
    this.#renewalParts = options.renewalParts ?? 1;
  }

  async addNode(name: string, zone: string, { labels = {}, posts = true }: NodeOptions = {}): Promise<void> {
    const ownLabels = {
      'topology.kubernetes.io/region': 'r',
      'topology.kubernetes.io/zone': zone,
      'kubernetes.io/hostname': name,
    };
    await this.#client.must('POST', '/api/v1/nodes', {
      metadata: { name, labels: { ...ownLabels, ...labels } },
      ...(posts
        ? { status: { conditions: conditions({}, this.#nodeTimeMs()), nodeInfo: { bootID: `boot-of-${name}` } } }
        : {}),
    });
    // Born with the admission plugin's not-ready taint: the controller's business to take away.
    if (posts) await this.#addLease(name);
  }

  /** Its lease goes too, as when somebody collects garbage. */
  async removeNode(name: string): Promise<void> {
    this.goDark(name);
    await this.#client.send('DELETE', `${leases}/${name}`);
    await this.#client.must('DELETE', `/api/v1/nodes/${name}`);
  }

  async addPod(
    name: string,
    nodeName: string | undefined,
    tolerations: readonly Toleration[],
    options: PodOptions = {},
  ): Promise<void> {
    const { graceSeconds = 0, phase, ready } = { ...running, ...options };
    await this.#client.must('POST', pods, {
      metadata: { name },
      spec: {
        ...(nodeName === undefined ? {} : { nodeName }),
        terminationGracePeriodSeconds: graceSeconds,
        containers: [{ name: 'c', image: 'i' }],
        tolerations,
      },
    });
    await this.postPod(name, { phase, ready });
  }

  /** What its kubelet says about a pod. */
  async postPod(name: string, answer: Pick<PodOptions, 'phase' | 'ready'> = {}): Promise<void> {
    const { phase, ready } = { ...running, ...answer };
    const at = { lastTransitionTime: formatTime(this.#nodeTimeMs()) };
    const status = { phase, ...(ready === undefined ? {} : { conditions: [{ type: 'Ready', status: ready, ...at }] }) };
    await this.#client.must('PATCH', `${pods}/${name}/status`, { status }, strategic);
  }

  /** What a scheduler does with a pod that was added without a node. */
  async bindPod(name: string, nodeName: string): Promise<void> {
    await this.#client.must('POST', `${pods}/${name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { kind: 'Node', name: nodeName },
    });
  }

  /** Renews the lease of every node that is alive, until stopped. */
  start(): void {
    this.#renewing = this.#renewForEver();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#renewing;
  }

  goDark(name: string): void {
    this.#alive.delete(name);
  }

  /** Its lease is renewed again, and no status is posted: not yet, or its kubelet cannot. */
  async renewAgain(name: string): Promise<void> {
    this.#known.add(name);
    this.#alive.add(name);
    await this.#renew(name);
  }

  /** Lease first, then the status, as a kubelet does. */
  async comeBack(name: string): Promise<void> {
    await this.renewAgain(name);
    await this.post(name, {});
  }

  /** A status update of its kubelet. */
  async post(name: string, answers: Answers): Promise<void> {
    const status = { conditions: conditions(answers, this.#nodeTimeMs()) };
    await this.#client.must('PATCH', `/api/v1/nodes/${name}/status`, { status }, strategic);
  }

  /** When the last renewal of its lease that succeeded was sent, on the clock of `performance.now()`. */
  renewedAtMs(name: string): number | undefined {
    return this.#renewedAtMs.get(name);
  }

  node(name: string): Promise<NodeJson> {
    return this.#client.must<NodeJson>('GET', `/api/v1/nodes/${name}`);
  }

  async taints(name: string): Promise<readonly string[]> {
    const node = await this.node(name);
    return (node.spec.taints ?? [])
      .map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`)
      .sort();
  }

  async pod(name: string): Promise<PodJson | undefined> {
    const { status, body } = await this.#client.send<PodJson>('GET', `${pods}/${name}`);
    return status === 404 ? undefined : body;
  }

  async events(): Promise<readonly EventJson[]> {
    const list = await this.#client.must<{ readonly items: readonly EventJson[] }>(
      'GET',
      '/api/v1/namespaces/default/events',
    );
    return list.items;
  }

  async #renewForEver(): Promise<void> {
    for (let part = 0; !this.#stop.signal.aborted; part = (part + 1) % this.#renewalParts) {
      const names = [...this.#known].filter(
        (name, place) => place % this.#renewalParts === part && this.#alive.has(name),
      );
      await Promise.all(names.map((name) => this.#tryRenew(name)));
      await pause(this.#renewEveryMs / this.#renewalParts, this.#stop.signal);
    }
  }

  /** As a kubelet does: what fails now is tried again next time. */
  async #tryRenew(name: string): Promise<void> {
    try {
      await this.#renew(name);
    } catch {
      this.failedRenewals += 1;
    }
  }

  async #addLease(name: string): Promise<void> {
    await this.#client.must('POST', leases, {
      metadata: { name },
      spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(this.#nodeTimeMs()) },
    });
    this.#known.add(name);
    this.#alive.add(name);
  }

  async #renew(name: string): Promise<void> {
    const sentAtMs = performance.now();
    const spec = { renewTime: formatMicroTime(this.#nodeTimeMs()) };
    await this.#client.must('PATCH', `${leases}/${name}`, { spec }, merge);
    this.#renewedAtMs.set(name, sentAtMs);
  }

  #nodeTimeMs(): number {
    return Date.now() + this.#clockOffsetMs;
  }
}

/** What a node in good health says. */
const healthy: Answers = { MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False', Ready: 'True' };

function conditions(answers: Answers, atMs: number): readonly object[] {
  const at = formatTime(atMs);
  return Object.entries({ ...healthy, ...answers }).map(([type, status]) => ({
    type,
    status,
    reason: `KubeletSays${status}`,
    message: 'posted by the test',
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  }));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
  });
}
