// A handful of nodes of a control plane whose heartbeats stop when a bench says so.
import { setTimeout as sleep } from 'node:timers/promises';
import type { RestClient } from '../control-plane/rest-client.ts';
import { nodeObject, nodeStatus } from './side-by-side/cluster-objects.ts';

const renewEveryMs = 10_000;
const merge = { contentType: 'application/merge-patch+json' };
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

interface NodeState {
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

/** Each renews its lease every 10 s, and posts its status when it is found not to be Ready. */
export class FewNodes {
  readonly #client: RestClient;
  readonly #renewing = new Map<string, { readonly life: AbortController; readonly ended: Promise<void> }>();

  constructor(client: RestClient) {
    this.#client = client;
  }

  /** Creates a node and its lease. It sends no heartbeats yet. */
  async register(node: string): Promise<void> {
    await this.#client.must('POST', '/api/v1/nodes', nodeObject(node, Date.now()));
    const spec = { holderIdentity: node, leaseDurationSeconds: 40, renewTime: microTime() };
    await this.#client.must('POST', leases, { metadata: { name: node }, spec });
  }

  /** Begins to send heartbeats, the first at once. */
  renew(node: string): void {
    const life = new AbortController();
    this.#renewing.set(node, { life, ended: this.#renewUntil(node, life.signal) });
  }

  /** Ends the heartbeats of a node. */
  async silence(node: string): Promise<void> {
    const renewing = this.#renewing.get(node);
    this.#renewing.delete(node);
    renewing?.life.abort();
    await renewing?.ended;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#renewing.keys()].map((node) => this.silence(node)));
  }

  /** Status of its Ready condition. */
  async readyOf(node: string): Promise<string | undefined> {
    const { status } = await this.#client.must<NodeState>('GET', `/api/v1/nodes/${node}`);
    return status.conditions.find(({ type }) => type === 'Ready')?.status;
  }

  /** One heartbeat. Whether it was accepted. */
  async beat(node: string): Promise<boolean> {
    const body = { spec: { renewTime: microTime() } };
    const answer = await this.#client.send('PATCH', `${leases}/${node}`, body, merge).catch(() => undefined);
    return answer?.status === 200;
  }

  async #renewUntil(node: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isUnready = (await this.beat(node)) && (await this.readyOf(node).catch(() => 'True')) !== 'True';
      if (isUnready) await this.#post(node);
      await sleep(renewEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #post(node: string): Promise<void> {
    const body = { status: nodeStatus(Date.now()) };
    await this.#client.send('PATCH', `/api/v1/nodes/${node}/status`, body, merge).catch(() => undefined);
  }
}

function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
