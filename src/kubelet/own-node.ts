import type { Node } from '../api/node.ts';
import type { NodeLister } from './node-status/status-publisher.ts';

/** A kubelet's own node as its watch shows it, or showed it when it was last alive. */
export class OwnNode {
  readonly #name: string;
  readonly #nodes: NodeLister;
  #seen: Node | undefined;

  constructor(name: string, nodes: NodeLister) {
    this.#name = name;
    this.#nodes = nodes;
  }

  /** Undefined while the API server has none, as far as is known. */
  get(): Node | undefined {
    const listed = this.#nodes.get(this.#name);
    if (listed !== 'frozen') this.#seen = listed;
    return this.#seen;
  }
}
