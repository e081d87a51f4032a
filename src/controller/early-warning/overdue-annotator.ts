import { overdueAnnotation } from '../../machinery/api/node.ts';
import { forget, type WorkOutcome } from '../../machinery/queueing/work-queue.ts';
import { nextAfterWrite } from '../model/decide-next-step.ts';
import type { StageDependencies } from '../model/dependencies.ts';
import type { OverdueNodes } from './overdue-nodes.ts';

interface OverdueAnnotatorOptions extends Pick<StageDependencies, 'nodes' | 'writer'> {
  readonly overdue: Pick<OverdueNodes, 'wantedAnnotation'>;
}

/** Keeps the annotation of a node equal to the warning about it. */
export class OverdueAnnotator {
  readonly #options: OverdueAnnotatorOptions;

  constructor(options: OverdueAnnotatorOptions) {
    this.#options = options;
  }

  async reconcile(name: string): Promise<WorkOutcome> {
    const { nodes, writer, overdue } = this.#options;
    const node = nodes.get(name);
    const value = node && overdue.wantedAnnotation(node);
    if (node === undefined || value === undefined) return forget;
    const stillWanted = (): boolean => {
      const now = nodes.get(name);
      return now?.uid === node.uid && overdue.wantedAnnotation(now) === value;
    };
    const annotations = { [overdueAnnotation]: value };
    return nextAfterWrite(await writer.carryOut({ kind: 'set-node-metadata', node, annotations }, stillWanted), forget);
  }
}
