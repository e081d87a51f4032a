// Of our parts any selection may run in this process. What the others do, here or in another process, is not foreseen.
import type { ControllerSelection } from '../options.ts';
import type { Circumstances } from './facts.ts';
import type { Hold, PartName, Unblocker } from './outlook.ts';

type Part = keyof ControllerSelection;

/** The parts of ours by the names that `--controllers` has for them. */
export const partNames: Readonly<Record<Part, PartName>> = {
  nodeLifecycle: 'node-lifecycle-controller',
  taintEviction: 'taint-eviction-controller',
  podGc: 'pod-garbage-collector-controller',
};

/** The part that deletes the pods of failed nodes. */
export function deriveEvictingPart({ mode }: Circumstances): Part {
  return mode === 'taint' ? 'taintEviction' : 'nodeLifecycle';
}

/** What keeps us from sending pods away, or from foreseeing it: whoever would do it does not run in this process. */
export function deriveEvictionPartHolds(circumstances: Circumstances): readonly Hold[] {
  return derivePartHolds([...new Set<Part>(['nodeLifecycle', deriveEvictingPart(circumstances)])], circumstances);
}

/** Of these parts, the ones that do not run in this process. */
export function derivePartHolds(parts: readonly Part[], { runs }: Circumstances): readonly Hold[] {
  const unblockedBy: readonly Unblocker[] = [{ kind: 'flag', flag: 'controllers', wanted: 'naming it' }];
  return parts.filter((part) => !runs[part]).map((part) => ({ kind: 'not-run', part: partNames[part], unblockedBy }));
}

/** The names of those that run. */
export function deriveRunningNames(runs: ControllerSelection): readonly PartName[] {
  const parts = ['nodeLifecycle', 'taintEviction', 'podGc'] as const;
  return parts.filter((part) => runs[part]).map((part) => partNames[part]);
}
