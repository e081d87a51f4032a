/** Finalizers that decide what the garbage collector does with the dependents of a deleted object. */
import { sameJson } from '../../../machinery/api/json-values.ts';
import type { Draft } from '../storage/stored-object.ts';
import type { Strategy } from './strategy.ts';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

const gcFinalizers: Readonly<Record<string, string>> = { Foreground: 'foregroundDeletion', Orphan: 'orphan' };

/**
 * Sets the finalizers of the policy that the client or, without one, the resource asks for; true if they changed (upstream
 * `deletionFinalizersForGarbageCollection`).
 */
export function applyPropagation(draft: Draft, strategy: Strategy, requested: Propagation | undefined): boolean {
  const propagation = requested ?? (strategy.orphans === true ? 'Orphan' : undefined);
  if (propagation === undefined) return false;
  const before = draft.metadata.finalizers ?? [];
  const others = before.filter((finalizer) => !Object.values(gcFinalizers).includes(finalizer));
  const own = gcFinalizers[propagation];
  const after = own === undefined ? others : [...others, own];
  if (after.length > 0) draft.metadata.finalizers = after;
  else delete draft.metadata.finalizers;
  return !sameJson(before, after);
}
