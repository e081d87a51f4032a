// The hand that would write. It has nothing to write with: what it is asked for is shown to us as done, and remembered as our
// side of the comparison.
import type { ClosableWriter, Command, WriteOutcome } from '../commands.ts';
import type { ShadowNodes } from './shadow-nodes.ts';
import type { ShadowPods } from './shadow-pods.ts';

export class ShadowWriter implements ClosableWriter {
  readonly #nodes: ShadowNodes;
  readonly #pods: ShadowPods;
  #closed = false;

  constructor(nodes: ShadowNodes, pods: ShadowPods) {
    this.#nodes = nodes;
    this.#pods = pods;
  }

  carryOut(command: Command): Promise<WriteOutcome> {
    return Promise.resolve({ result: this.#closed ? 'not-leader' : this.#wish(command) });
  }

  close(): void {
    this.#closed = true;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  #wish(command: Command): 'written' | 'gone' {
    switch (command.kind) {
      case 'set-node-conditions':
        return this.#nodes.wishUnknown(command);
      case 'change-taints':
        return this.#nodes.wishTaints(command);
      case 'set-node-labels':
        return this.#nodes.wishLabels(command);
      case 'mark-pod-not-ready':
        return this.#pods.wishNotReady(command.pod);
      case 'delete-pod':
        return this.#pods.wishEviction(command.pod);
      // Said with a deletion, which is what is compared; or by a part that does not run here.
      case 'mark-pod-disrupted':
      case 'mark-pod-lost':
      case 'mark-pod-failed':
        return 'written';
    }
  }
}
