// The writer of shadow mode. It writes nothing: a command is applied to the shadow's view, and recorded as the shadow's
// side of the comparison.
import type { ClosableWriter, Command, StillWanted, WriteOutcome } from '../model/commands.ts';
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

  carryOut(command: Command, stillWanted: StillWanted): Promise<WriteOutcome> {
    if (!stillWanted()) return Promise.resolve({ result: 'unwanted' });
    return Promise.resolve({ result: this.#closed ? 'not-leader' : this.#apply(command) });
  }

  close(): void {
    this.#closed = true;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  #apply(command: Command): 'written' | 'gone' {
    switch (command.kind) {
      case 'set-node-conditions':
        return this.#nodes.applyUnknown(command);
      case 'change-taints':
        return this.#nodes.applyTaints(command);
      case 'set-node-metadata':
        return this.#nodes.applyLabels(command);
      case 'mark-pod-not-ready':
        return this.#pods.applyNotReady(command.pod);
      case 'delete-pod':
      // What it is compared with deletes pods at once.
      case 'evict-pod':
        return this.#pods.applyEviction(command.pod);
      // Written with a deletion, which is compared; or by a controller that does not run here.
      case 'mark-pod-disrupted':
      case 'mark-pod-lost':
      case 'mark-pod-failed':
        return 'written';
    }
  }
}
