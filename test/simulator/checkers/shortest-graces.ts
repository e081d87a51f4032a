import type { Labels } from '../../../src/machinery/api/topology.ts';
import { policyOf } from '../policy-zones.ts';
import type { World } from '../../../src/simulator/world.ts';

/** The shortest grace period that may have applied to each node so far: by all settings, and all labels that it had. */
export class ShortestGraces {
  readonly #world: World;
  /** By name of the node: its labels, each set of them once, by its text. */
  readonly #labels = new Map<string, Map<string, Labels>>();

  constructor(world: World) {
    this.#world = world;
    world.storage.onCommit((resource, { object }) => {
      if (resource === 'nodes') this.#note(object.name, object.labels);
    });
  }

  of(name: string): number {
    const { settings, graceMsMin } = this.#world;
    const known = [...(this.#labels.get(name)?.values() ?? [])];
    const graces = settings.flatMap(({ options: { policies } }) =>
      policies.length === 0 ? [] : known.flatMap((labels) => shortestOf(policyOf({ name, labels }, policies))),
    );
    return Math.min(graceMsMin, ...graces);
  }

  #note(name: string, labels: Labels): void {
    const known = this.#labels.get(name) ?? new Map<string, Labels>();
    this.#labels.set(name, known);
    const text = JSON.stringify(labels);
    if (!known.has(text)) known.set(text, labels);
  }
}

function shortestOf(policy: ReturnType<typeof policyOf>): readonly number[] {
  const { nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs, detection } = policy ?? {};
  return [nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs, detection?.earliestMs].filter((ms) => ms !== undefined);
}
