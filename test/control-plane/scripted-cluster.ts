// Nodes, leases and pods on a real API server. The test writes what kubelets would write.
import { formatMicroTime, formatTime } from '../../src/machinery/api/timestamps.ts';
import type { Taint } from '../../src/machinery/api/taints.ts';
import type { Toleration } from '../../src/machinery/api/tolerations.ts';
import type { RestClient } from './rest-client.ts';
import { waitUntil } from './wait-until.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const pods = '/api/v1/namespaces/default/pods';
const renewEveryMsDefault = 1_000;
const merge = { contentType: 'application/merge-patch+json' } as const;
const strategic = { contentType: 'application/strategic-merge-patch+json' } as const;

export interface NodeJson {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: { readonly taints?: readonly Taint[] };
  readonly status: {
    /** Absent until its kubelet has posted a status. */
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

export interface PodJson {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

interface EventJson {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string };
}

interface ScriptedClusterOptions {
  /** Offset of the nodes' clocks from the local clock, so that a timestamp shows which component wrote it. */
  readonly clockOffsetMs?: number;
  /** Interval of lease renewals; 1 s by default. */
  readonly renewEveryMs?: number;
  /** Number of groups of nodes whose leases are renewed one after another; 1 by default. */
  readonly renewalParts?: number;
}

interface NodeOptions {
  readonly labels?: Readonly<Record<string, string>>;
  /** False: the kubelet registered the node and has posted no status and no lease. */
  readonly posts?: boolean;
}

export interface PodOptions {
  readonly graceSeconds?: number;
  readonly phase?: string;
  /** Undefined: it has no conditions yet. */
  readonly ready?: string | undefined;
}

const running = { phase: 'Running', ready: 'True' } as const;

/** Condition statuses that a kubelet posts, by type. Others are those of a healthy node. */
type Answers = Readonly<Record<string, string>>;

export class ScriptedCluster {
  readonly #client: RestClient;
  readonly #clockOffsetMs: number;
  readonly #renewEveryMs: number;
  readonly #renewalParts: number;
  /** All nodes ever added, so that a node keeps its group. */
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
    // The admission plugin adds the not-ready taint; the controller removes it.
    if (posts) await this.#addLease(name);
  }

  /** Deletes its lease too, as the garbage collector does. */
  async removeNode(name: string): Promise<void> {
    this.stopHeartbeats(name);
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

  /** Posts the status of a pod, as its kubelet does. */
  async postPod(name: string, answer: Pick<PodOptions, 'phase' | 'ready'> = {}): Promise<void> {
    const { phase, ready } = { ...running, ...answer };
    const at = { lastTransitionTime: formatTime(this.#nodeTimeMs()) };
    const status = { phase, ...(ready === undefined ? {} : { conditions: [{ type: 'Ready', status: ready, ...at }] }) };
    await this.#client.must('PATCH', `${pods}/${name}/status`, { status }, strategic);
  }

  /** Binds a pod that was added without a node, as a scheduler does. */
  async bindPod(name: string, nodeName: string): Promise<void> {
    await this.#client.must('POST', `${pods}/${name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { kind: 'Node', name: nodeName },
    });
  }

  /** Renews the leases of all nodes that are alive, until stopped. */
  start(): void {
    this.#renewing = this.#renewForEver();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#renewing;
  }

  stopHeartbeats(name: string): void {
    this.#alive.delete(name);
  }

  /** Renews its lease again without posting a status. */
  async renewAgain(name: string): Promise<void> {
    this.#known.add(name);
    this.#alive.add(name);
    await this.#renew(name);
  }

  /** Renews its lease, then posts its status, as a kubelet does. */
  async resumeHeartbeats(name: string): Promise<void> {
    await this.renewAgain(name);
    await this.post(name, {});
  }

  /** Posts a node status, as its kubelet does. */
  async post(name: string, answers: Answers): Promise<void> {
    const status = { conditions: conditions(answers, this.#nodeTimeMs()) };
    await this.#client.must('PATCH', `/api/v1/nodes/${name}/status`, { status }, strategic);
  }

  /** When the last successful renewal of its lease was sent, on the clock of `performance.now()`. */
  renewedAtMs(name: string): number | undefined {
    return this.#renewedAtMs.get(name);
  }

  node(name: string): Promise<NodeJson> {
    return this.#client.must<NodeJson>('GET', `/api/v1/nodes/${name}`);
  }

  /** The status of its condition Ready. */
  async ready(name: string): Promise<string | undefined> {
    const { conditions = [] } = (await this.node(name)).status;
    return conditions.find(({ type }) => type === 'Ready')?.status;
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

  /** The status of the pod's condition Ready. */
  async podReady(name: string): Promise<string | undefined> {
    return (await this.pod(name))?.status.conditions?.find(({ type }) => type === 'Ready')?.status;
  }

  /** Waits until these nodes have no taints. */
  async untilClean(...names: readonly string[]): Promise<void> {
    for (const name of names)
      await waitUntil(`${name} clean`, { timeoutMs: 60_000 }, async () => (await this.taints(name)).length === 0);
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

  /** A failed renewal is retried at the next interval, as a kubelet does. */
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

/** The condition statuses of a healthy node. */
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
