import type { EventType } from '../../../machinery/api/event.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { Labels } from '../../../machinery/api/topology.ts';
import { buildNodeReference } from '../../../machinery/events/build-reference.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { FakeMachine } from '../machine/fake-machine.ts';
import { buildPlatform, withPlatformLabels } from './build-node.ts';
import type { NodeHealth, SetterContext, SetterMemory } from './setter-context.ts';
import { statusSetters } from './status-setters.ts';

interface NodeComposerOptions {
  readonly name: string;
  /** The kubelet's own labels, which override the defaults. */
  readonly labels: Labels;
  readonly machine: FakeMachine;
  readonly health: NodeHealth;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
}

/** Runs the chain of status setters over a node: for registration and for every status update. */
export class NodeComposer {
  readonly #options: NodeComposerOptions;
  readonly #memory: SetterMemory = { unschedulable: false, rebootReported: false };

  constructor(options: NodeComposerOptions) {
    this.#options = options;
  }

  /** The node with its current status. */
  compose(node: Node): Node {
    const context = this.#context();
    return statusSetters.reduce((composed, set) => set(composed, context), withPlatformLabels(node, context.platform));
  }

  #context(): SetterContext {
    const { name, labels, machine, health, recorder, clock } = this.#options;
    const nowMs = clock.nowMs();
    const about = buildNodeReference(name);
    const record = (type: EventType, reason: string, message: string): void => {
      recorder.record({ about, type, reason, message });
    };
    return {
      nodeName: name,
      machine,
      health,
      memory: this.#memory,
      platform: buildPlatform(labels),
      now: () => nowMs,
      recordNodeEvent: record,
      recordNodeStatusEvent: (type, reason) => record(type, reason, `Node ${name} status is now: ${reason}`),
    };
  }
}
