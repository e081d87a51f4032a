import type { Node } from '../../../src/machinery/api/node.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import { isReady, readyOf } from '../../../src/simulator/node-fields.ts';
import type { World } from '../../../src/simulator/world.ts';

/**
 * Pods that a kubelet reported as ready again while its node was Unknown: its heartbeats did not arrive, and what it said of its pods did.
 * Each pod is marked once for each silence, so they stay ready until the node is Ready and silent again.
 */
export class PodsReportedReady {
  /** Uid of the pod, and its node. */
  readonly #nodes = new Map<string, string>();

  constructor({ storage }: Pick<World, 'storage'>) {
    storage.onCommit((resource, change, { process }) => {
      if (resource === 'nodes') this.#onNode(change.object.name, storage.get('nodes', { name: change.object.name }));
      if (resource !== 'pods' || process !== 'fleet') return;
      const { metadata, spec }: Pod = storage.decode('pods', change.object);
      const name = spec?.nodeName ?? '';
      const node: Node | undefined = storage.get('nodes', { name });
      if (node === undefined || readyOf(node) !== 'Unknown') return;
      if (isReady(storage.decode('pods', change.object))) this.#nodes.set(metadata.uid ?? '', name);
      else this.#nodes.delete(metadata.uid ?? '');
    });
  }

  has(pod: Pod): boolean {
    return this.#nodes.has(pod.metadata.uid ?? '');
  }

  #onNode(name: string, node: Node | undefined): void {
    if (node !== undefined && readyOf(node) !== 'True') return;
    for (const [uid, of] of this.#nodes) if (of === name) this.#nodes.delete(uid);
  }
}
