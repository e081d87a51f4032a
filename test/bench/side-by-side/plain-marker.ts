// The writes of a controller about a lost zone without a controller: how long the API server takes for them alone. It
// knows each deadline and sends at once, nodes before pods.
import { setTimeout as sleep } from 'node:timers/promises';
import { podNames } from './cluster-names.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';
import { type LastHeartbeats, type MarkedAt, unixMs } from './load-protocol.ts';
import type { LoadRequests } from './load-requests.ts';

const writesAtOnce = 32;

export class PlainMarker {
  readonly #requests: LoadRequests;
  readonly #podsPerNode: number;

  constructor(requests: LoadRequests, podsPerNode: number) {
    this.#requests = requests;
    this.#podsPerNode = podsPerNode;
  }

  async mark(expiresAtMs: LastHeartbeats): Promise<MarkedAt> {
    const nodes = Object.entries(expiresAtMs).toSorted(([, a], [, b]) => a - b);
    const pods: string[] = [];
    let nodesMs = 0;
    const work = async (): Promise<void> => {
      for (let next = nodes[0]; next !== undefined || pods.length > 0; next = nodes[0]) {
        const waitMs = next === undefined ? Infinity : next[1] - unixMs();
        if (next !== undefined && waitMs <= 0) {
          nodes.shift();
          await this.#markNode(next[0]);
          nodesMs = unixMs();
          pods.push(...podNames(next[0], this.#podsPerNode));
        } else if (pods.length > 0) await this.#requests.markPod(pods.shift() ?? '');
        else await sleep(Math.max(1, Math.min(waitMs, 10)));
      }
    };
    await Promise.all(Array.from({ length: writesAtOnce }, work));
    return { nodesMs, podsMs: unixMs() };
  }

  async unmark(nodes: readonly string[]): Promise<void> {
    await forEachConcurrently(nodes, writesAtOnce, (node) => this.#requests.setTaints(node, false));
  }

  async #markNode(node: string): Promise<void> {
    await this.#requests.markNode(node);
    await this.#requests.setTaints(node, true);
  }
}
