import type { Ending } from './oracle.ts';
import type { Scene, SceneOptions } from './scene.ts';

/** One test of the suite, with exclusive use of a control plane. */
export interface Scenario {
  /** The expected behaviour, as a sentence. */
  readonly title: string;
  /** {@link threeZones} when absent. */
  readonly nodes?: SceneOptions['nodes'];
  readonly args?: readonly string[];
  /** Pods that are created before the controller starts. */
  readonly pods?: readonly Parameters<Scene['addPod']>[];
  /** Creates other objects before the controller starts. */
  readonly prepare?: (scene: Scene) => Promise<void>;
  /** Runs the scenario and returns the expected end state. Throws if an intermediate expectation fails. */
  readonly play: (scene: Scene) => Promise<Ending>;
}

/** Two nodes in each of three zones: one silent node does not disrupt its zone. */
export const threeZones: SceneOptions['nodes'] = { a0: 'a', a1: 'a', b0: 'b', b1: 'b', c0: 'c', c1: 'c' };
