import type { Node } from '../../../machinery/api/node.ts';
import { buildPlatform, withPlatformLabels } from './build-node.ts';
import type { NodeOptions } from './node-options.ts';
import type { NodeReference } from './node-reference.ts';
import type { NodeHealth, SetterContext, SetterMemory } from './setter-context.ts';
import { statusSetters } from './status-setters.ts';

interface NodeComposerOptions extends Pick<NodeOptions, 'name' | 'labels' | 'machine' | 'recorder' | 'clock'> {
  /** The object of Events about the node. */
  readonly reference: NodeReference;
}

/** Runs the chain of status setters over a node: for registration and for every status update. */
export class NodeComposer {
  readonly #options: NodeComposerOptions;
  readonly #health: NodeHealth;
  readonly #memory: SetterMemory = { unschedulable: false, rebootReported: false };

  constructor(options: NodeComposerOptions, health: NodeHealth) {
    this.#options = options;
    this.#health = health;
  }

  /** The node with its current status. */
  compose(node: Node): Node {
    const context = this.#context();
    return statusSetters.reduce((composed, set) => set(composed, context), withPlatformLabels(node, context.platform));
  }

  #context(): SetterContext {
    const { name, labels, machine, recorder, clock, reference } = this.#options;
    return {
      nodeName: name,
      machine,
      health: this.#health,
      memory: this.#memory,
      platform: buildPlatform(labels),
      nowMs: clock.nowMs(),
      recordEvent: (type, reason, message = `Node ${name} status is now: ${reason}`) => {
        const about = reference.get();
        recorder.record({ about, type, reason, message });
      },
    };
  }
}
