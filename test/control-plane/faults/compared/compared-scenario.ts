import type { Scenario } from '../scenario.ts';
import type { ControllerName, Scene } from '../scene.ts';

/** What a scenario found out of a controller. Compared as a whole, so a time is a fact only as a limit that was kept or not. */
export type Facts = Readonly<Record<string, boolean | number | string>>;

/** A time or number that is printed with the result and not compared. */
type Measure = (what: string, value: number | undefined) => void;

/** One fault that is played on kube-controller-manager and on `nlc controller`, on a control plane each. */
export interface ComparedScenario extends Pick<Scenario, 'nodes' | 'pods'> {
  /** What is true of `nlc controller`, as a sentence. */
  readonly title: string;
  /** Flags of both. */
  readonly args?: readonly string[];
  /** Flags that only `nlc controller` has. */
  readonly ownArgs?: readonly string[];
  readonly play: (scene: Scene, measure: Measure) => Promise<Facts>;
  /** What must be true of each. A kube-controller-manager without the defect fails, so that its row can be removed. */
  readonly facts: Readonly<Record<ControllerName, Facts>>;
}
