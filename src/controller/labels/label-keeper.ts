import { backOffAtLeast, forget, type Outcome } from '../../queueing/work-queue.ts';
import type { CommandWriter, NodeSource } from '../commands.ts';
import type { DecisionSink } from '../decisions.ts';
import { deriveMissingLabels } from './derive-labels.ts';

export interface LabelKeeperOptions {
  readonly nodes: NodeSource;
  readonly writer: CommandWriter;
  readonly decisions: DecisionSink;
}

/** Keeps the older operating system and architecture labels of a node equal to the modern ones. */
export class LabelKeeper {
  readonly #options: LabelKeeperOptions;

  constructor(options: LabelKeeperOptions) {
    this.#options = options;
  }

  async reconcile(name: string): Promise<Outcome> {
    const { nodes, writer, decisions } = this.#options;
    const node = nodes.get(name);
    const labels = node === undefined ? {} : deriveMissingLabels(node.labels);
    if (node === undefined || Object.keys(labels).length === 0) return forget;
    const outcome = await writer.carryOut({ kind: 'set-node-labels', node, labels });
    if (outcome.result === 'failed') return backOffAtLeast(outcome.retryAfterMs);
    if (outcome.result === 'written') decisions.note({ kind: 'labels-set', node: name, labels });
    return forget;
  }
}
