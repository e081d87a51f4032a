// The actions of the demo's dashboard. They act on the embedded API server, the hollow nodes and the replicas of this process.
import type { Action } from '../actions/action-schema.ts';
import type { ActionResult, Actions } from '../actions/actions.ts';
import { NodeCuts } from '../actions/node-cuts.ts';
import { zoneOf } from '../../../machinery/api/topology.ts';
import { fleetNodes } from './cluster.ts';
import type { DemoEnvironment } from './environment.ts';
import type { ScenarioControl } from './scenario-control.ts';

interface DemoActionsOptions {
  readonly environment: DemoEnvironment;
  /** The first action ends it: its expectations would be about the action. */
  readonly scenario: ScenarioControl;
}

const leaderDownSeconds = 15;

export class DemoActions implements Actions {
  readonly kinds = ['cut', 'stall-api', 'stop-leader', 'undo'] as const;
  readonly #options: DemoActionsOptions;
  readonly #cuts: NodeCuts;

  constructor(options: DemoActionsOptions) {
    this.#options = options;
    this.#cuts = new NodeCuts({
      faults: options.environment.fleet.faults,
      nodes: fleetNodes(),
      zoneOf: ({ labels }) => zoneOf(labels),
    });
  }

  act(action: Action): ActionResult {
    const { environment, scenario } = this.#options;
    const { phase } = scenario;
    if (phase === 'starting') return { conflict: 'the cluster is starting: try again in some seconds' };
    scenario.end();
    // The faults of the scenario are not those of the user.
    if (phase === 'running') environment.undoAll();
    const result = this.#carryOut(action);
    if (phase === 'ended' || 'conflict' in result) return result;
    return { text: `${result.text}; the scenario ends here, and its own faults are undone` };
  }

  #carryOut(action: Action): ActionResult {
    const { environment } = this.#options;
    switch (action.kind) {
      case 'cut':
        return this.#cuts.cut(action);
      case 'stall-api':
        environment.server.stall(action.seconds * 1_000);
        return { text: `the API server answers nothing for ${action.seconds} s` };
      case 'stop-leader':
        return this.#stopLeader();
      case 'undo':
        environment.undoAll();
        return { text: 'all nodes are connected, the API server answers, and all replicas are started' };
    }
  }

  #stopLeader(): ActionResult {
    const leader = this.#options.environment.leader();
    if (leader === undefined) return { conflict: 'no replica leads now' };
    leader.stop(leaderDownSeconds * 1_000);
    return { text: `stopped ${leader.name}, which led; it is started again in ${leaderDownSeconds} s` };
  }
}

/** With `--once`: the exit code reports the scenario, so that nothing else may act. */
export const noActions: Actions = {
  kinds: [],
  act: () => ({ conflict: 'this server has no actions' }),
};
