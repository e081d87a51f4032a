// Nodes, leases and pods on a real API server, kept alive by the test: what kubelets would write, and nothing else.
import { formatMicroTime, formatTime } from '../../src/api/timestamps.ts';
import type { Taint } from '../../src/api/taints.ts';
import type { Toleration } from '../../src/api/tolerations.ts';
import type { RestClient } from './rest-client.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const pods = '/api/v1/namespaces/default/pods';
const renewEveryMs = 1_000;
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

export class ScriptedCluster {
  readonly #client: RestClient;
  readonly #alive = new Set<string>();
  readonly #stop = new AbortController();
  #renewing: Promise<void> | undefined;
  failedRenewals = 0;

  constructor(client: RestClient) {
    this.#client = client;
  }

  async addNode(name: string, zone: string): Promise<void> {
    const labels = {
      'topology.kubernetes.io/region': 'r',
      'topology.kubernetes.io/zone': zone,
      'kubernetes.io/hostname': name,
    };
    await this.#client.must('POST', '/api/v1/nodes', {
      metadata: { name, labels },
      status: { conditions: conditions('True') },
    });
    await this.#client.must('POST', leases, {
      metadata: { name },
      spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(Date.now()) },
    });
    this.#alive.add(name);
    // Born with the admission plugin's not-ready taint: the controller's business to take away.
  }

  async addPod(name: string, nodeName: string, tolerations: readonly Toleration[]): Promise<void> {
    await this.#client.must('POST', pods, {
      metadata: { name },
      spec: { nodeName, terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'i' }], tolerations },
    });
    const status = {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(Date.now()) }],
    };
    await this.#client.must('PATCH', `${pods}/${name}/status`, { status }, strategic);
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

  /** Lease first, then the status, as a kubelet does. */
  async comeBack(name: string): Promise<void> {
    this.#alive.add(name);
    await this.#renew(name);
    await this.#client.must(
      'PATCH',
      `/api/v1/nodes/${name}/status`,
      { status: { conditions: conditions('True') } },
      strategic,
    );
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
    while (!this.#stop.signal.aborted) {
      await Promise.all([...this.#alive].map((name) => this.#tryRenew(name)));
      await pause(renewEveryMs, this.#stop.signal);
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

  async #renew(name: string): Promise<void> {
    await this.#client.must('PATCH', `${leases}/${name}`, { spec: { renewTime: formatMicroTime(Date.now()) } }, merge);
  }
}

function conditions(ready: string): readonly object[] {
  const at = formatTime(Date.now());
  const of = (type: string, status: string, reason: string): object => ({
    type,
    status,
    reason,
    message: 'posted by the test',
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  });
  return [of('Ready', ready, 'KubeletReady'), of('MemoryPressure', 'False', 'KubeletHasSufficientMemory')];
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
