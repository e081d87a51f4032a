import type { Node } from '../../api/node.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Machine } from '../profile.ts';
import type { MachineHealth } from './machine-health.ts';
import type { StatusSetter } from './status-setters.ts';

/** Runs the chain of status setters over a node: for registration and for every status after it. */
export class NodeComposer {
  readonly #options: {
    readonly setters: readonly StatusSetter[];
    readonly machine: Machine;
    readonly health: MachineHealth;
    readonly clock: Clock;
    readonly logger: Logger;
  };

  constructor(options: {
    readonly setters: readonly StatusSetter[];
    readonly machine: Machine;
    readonly health: MachineHealth;
    readonly clock: Clock;
    readonly logger: Logger;
  }) {
    this.#options = options;
  }

  /** The node with its status as of now. A setter that fails leaves the node as it was before it. */
  compose(node: Node): Node {
    const { setters, machine, health, clock, logger } = this.#options;
    const input = { machine, health: health.read(clock.monotonicMs()), nowMs: clock.nowMs() };
    let composed = node;
    for (const setter of setters) {
      try {
        composed = setter.set(composed, input);
      } catch (error) {
        logger.error({ setter: setter.name, error: String(error) }, 'a status setter failed');
      }
    }
    return composed;
  }
}
