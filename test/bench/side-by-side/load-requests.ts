// The requests of kubelets to a real API server, over kept connections.
import { Pool } from 'undici';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import {
  healthTaints,
  leaseBytes,
  nodeObject,
  nodeStatus,
  podObject,
  podStatus,
  unknownStatus,
} from './cluster-objects.ts';
import { podNamespace } from './cluster-names.ts';
import type { LoadTarget } from './load-protocol.ts';

const connections = 32;
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const nodes = '/api/v1/nodes';
const pods = `/api/v1/namespaces/${podNamespace}/pods`;
const contentTypes = {
  json: 'application/json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const;

interface Sent {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly type: keyof typeof contentTypes;
  readonly body: string | Buffer;
}

export class LoadRequests {
  readonly #pool: Pool;
  readonly #token: string;

  constructor({ url, ca, token }: LoadTarget) {
    this.#pool = new Pool(url, { connections, connect: { ca } });
    this.#token = token;
  }

  async createNode(name: string): Promise<void> {
    await this.#send({ method: 'POST', path: nodes, type: 'json', body: JSON.stringify(nodeObject(name, Date.now())) });
  }

  /** Posts the status of a healthy node, which it was before if it is `unchanged`. */
  async postNode(name: string, unchanged: boolean): Promise<void> {
    const body = JSON.stringify({ status: nodeStatus(Date.now(), unchanged) });
    await this.#send({ method: 'PATCH', path: `${nodes}/${name}/status`, type: 'strategic', body });
  }

  /** Returns its resourceVersion. */
  async createLease(node: string): Promise<string> {
    const body = leaseBytes(node, Date.now());
    return versionIn(await this.#send({ method: 'POST', path: leases, type: 'protobuf', body }));
  }

  /** Renews a lease at this version; returns the new version. */
  async renewLease(node: string, version: string): Promise<string> {
    const body = leaseBytes(node, Date.now(), version);
    return versionIn(await this.#send({ method: 'PUT', path: `${leases}/${node}`, type: 'protobuf', body }));
  }

  async createPod(name: string, node: string): Promise<void> {
    await this.#send({ method: 'POST', path: pods, type: 'json', body: JSON.stringify(podObject(name, node)) });
  }

  /** Posts the status of a running pod that is ready. */
  async postPod(name: string): Promise<void> {
    const body = JSON.stringify({ status: podStatus(Date.now()) });
    await this.#send({ method: 'PATCH', path: `${pods}/${name}/status`, type: 'strategic', body });
  }

  /** Marks a node Unknown, as a controller does. */
  async markNode(name: string): Promise<void> {
    const body = JSON.stringify({ status: unknownStatus(Date.now()) });
    await this.#send({ method: 'PATCH', path: `${nodes}/${name}/status`, type: 'strategic', body });
  }

  /** Adds both taints of a node that is unreachable, or removes all. */
  async setTaints(name: string, areWanted: boolean): Promise<void> {
    const body = JSON.stringify({ spec: { taints: areWanted ? healthTaints(Date.now()) : null } });
    await this.#send({ method: 'PATCH', path: `${nodes}/${name}`, type: 'merge', body });
  }

  /** Marks a pod NotReady, as a controller does. */
  async markPod(name: string): Promise<void> {
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: formatTime(Date.now()) }];
    const body = JSON.stringify({ status: { conditions } });
    await this.#send({ method: 'PATCH', path: `${pods}/${name}/status`, type: 'strategic', body });
  }

  async #send({ method, path, type, body }: Sent): Promise<string> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      accept: 'application/json',
      'content-type': contentTypes[type],
      'user-agent': 'bench-kubelets',
    };
    const answer = await this.#pool.request({ method, path, headers, body });
    const text = await answer.body.text();
    if (answer.statusCode >= 200 && answer.statusCode < 300) return text;
    throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`);
  }
}

/** The first one in the JSON is that of the object. */
function versionIn(text: string): string {
  const version = /"resourceVersion":"(\d+)"/u.exec(text)?.[1];
  if (version === undefined) throw new Error(`no resourceVersion in ${text.slice(0, 200)}`);
  return version;
}
