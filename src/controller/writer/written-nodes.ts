import type { NodeView } from '../../api/node.ts';
import type { StoreReader } from '../../informer/informer.ts';
import type { NodeSource } from '../commands.ts';

interface Written {
  readonly view: NodeView;
  /** Versions that the watch may still show and that our write has replaced. */
  readonly superseded: ReadonlySet<string>;
}

/**
 * Nodes as the API server has them, our own writes included: between a write and the watch that brings it back, the
 * answer of the write stands in. Without it a decision taken in that moment would be taken twice.
 */
export class WrittenNodes implements NodeSource {
  readonly #store: Pick<StoreReader<NodeView>, 'get'>;
  readonly #written = new Map<string, Written>();

  constructor(store: Pick<StoreReader<NodeView>, 'get'>) {
    this.#store = store;
  }

  get(name: string): NodeView | undefined {
    const seen = this.#store.get(name);
    const written = this.#written.get(name);
    if (written === undefined) return seen;
    if (seen !== undefined && written.superseded.has(seen.resourceVersion)) return written.view;
    this.#written.delete(name);
    return seen;
  }

  /** `view` is what the server has now; it has replaced what `before` showed. */
  remember(before: NodeView, view: NodeView): void {
    if (view.resourceVersion === before.resourceVersion) return;
    const earlier = this.#written.get(before.name)?.superseded ?? [];
    this.#written.set(before.name, { view, superseded: new Set([...earlier, before.resourceVersion]) });
  }
}
