import { forget, type WorkOutcome } from '../../machinery/queueing/work-queue.ts';
import { diffLabels, needsLabels } from './diff-labels.ts';
import { retryLater } from '../model/decide-next-step.ts';
import type { StageDependencies } from '../model/dependencies.ts';

type LabelKeeperOptions = Pick<StageDependencies, 'nodes' | 'writer' | 'decisions'>;

/** Keeps the deprecated operating system and architecture labels of a node equal to the current ones. */
export class LabelKeeper {
  readonly #options: LabelKeeperOptions;

  constructor(options: LabelKeeperOptions) {
    this.#options = options;
  }

  async reconcile(name: string): Promise<WorkOutcome> {
    const { nodes, writer, decisions } = this.#options;
    const node = nodes.get(name);
    if (node === undefined || !needsLabels(node)) return forget;
    const labels = diffLabels(node.labels);
    const stillWanted = (): boolean => {
      const now = nodes.get(name);
      return now?.uid === node.uid && needsLabels(now);
    };
    const outcome = await writer.carryOut({ kind: 'set-node-metadata', node, labels }, stillWanted);
    if (outcome.result === 'failed') return retryLater(outcome);
    if (outcome.result === 'written') decisions.note({ kind: 'labels-set', node: name, labels });
    return forget;
  }
}
