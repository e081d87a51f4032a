import type { FaultInjector } from '../../../hollow-cluster/kubelet/faults/fault-injector.ts';
import type { FleetNode } from '../../../hollow-cluster/kubelet/faults/select-nodes.ts';
import type { Action } from '../actions/action-schema.ts';
import type { ActionResult, Actions } from '../actions/actions.ts';
import { NodeCuts } from '../actions/node-cuts.ts';
import { selectZone } from './build-fleet-rows.ts';

/** The actions of hollow nodes: on their own connections only. */
export class FleetActions implements Actions {
  readonly kinds = ['cut', 'undo'] as const;
  readonly #faults: FaultInjector;
  readonly #cuts: NodeCuts;

  constructor(faults: FaultInjector, nodes: readonly FleetNode[]) {
    this.#faults = faults;
    this.#cuts = new NodeCuts({ faults, nodes, zoneOf: selectZone });
  }

  act(action: Action): ActionResult {
    if (action.kind === 'cut') return this.#cuts.cut(action);
    if (action.kind !== 'undo') return { conflict: `${action.kind}: hollow nodes have no such action` };
    const count = this.#faults.list().length;
    this.#faults.clear();
    return { text: count === 1 ? 'ended 1 fault' : `ended ${count} faults` };
  }
}
