import type { NodeView } from '../../api/node.ts';
import { healthTaintKeys, type Taint } from '../../api/taints.ts';
import type { CommandWriter } from '../commands.ts';
import type { DecisionSink } from '../decisions.ts';

/** `unsettled`: a write is still wanted and must be tried again. */
export type Settlement = 'settled' | 'unsettled';

/**
 * Takes the other mode's NoExecute taints from nodes that should not have them. A change of mode in the middle of an
 * outage leaves them behind, and nobody else would ever take them from a healthy node.
 */
export class LeftoverTaints {
  readonly #writer: CommandWriter;
  readonly #decisions: DecisionSink;

  constructor({ writer, decisions }: { readonly writer: CommandWriter; readonly decisions: DecisionSink }) {
    this.#writer = writer;
    this.#decisions = decisions;
  }

  async remove(node: NodeView, why: 'node-ready' | 'outage'): Promise<Settlement> {
    const remove = node.taints.filter(isOurs);
    if (remove.length === 0) return 'settled';
    const outcome = await this.#writer.carryOut({ kind: 'change-taints', node, add: [], remove, urgency: 'untaint' });
    if (outcome.result === 'failed') return 'unsettled';
    if (outcome.result === 'written') {
      const removed = remove.map(({ key, effect }) => `${key}:${effect}`);
      this.#decisions.note({ kind: 'taints-changed', node: node.name, added: [], removed, why });
    }
    return 'settled';
  }
}

function isOurs({ key, effect }: Taint): boolean {
  return effect === 'NoExecute' && healthTaintKeys.some((own) => own === key);
}
