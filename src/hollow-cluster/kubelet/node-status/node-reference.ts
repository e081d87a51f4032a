import type { ObjectReference } from '../../../machinery/api/meta.ts';
import { buildNodeReference } from '../../../machinery/events/build-reference.ts';
import type { NodeOptions } from './node-options.ts';

/** The node as the object of Events, in one run of its kubelet. */
export class NodeReference {
  readonly #options: Pick<NodeOptions, 'name' | 'nodes'>;
  #known: ObjectReference | undefined;

  constructor(options: Pick<NodeOptions, 'name' | 'nodes'>) {
    this.#options = options;
  }

  /**
   * With the uid of the node once the kubelet has observed the node. It stays the same after that, even if the node is
   * deleted and created again (kubelet `nodeRefWithUID`).
   */
  get(): ObjectReference {
    const { name, nodes } = this.#options;
    if (this.#known !== undefined) return this.#known;
    const node = nodes.get(name);
    const uid = typeof node === 'object' ? node.metadata.uid : undefined;
    if (uid === undefined) return buildNodeReference(name);
    this.#known = buildNodeReference(name, uid);
    return this.#known;
  }
}
