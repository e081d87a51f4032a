/** The conditions of a namespace that is deleted (upstream `pkg/controller/namespace/deletion`). */
import { formatTime } from '../../../../machinery/api/timestamps.ts';
import { type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';

/** What is left in a namespace. */
export interface Remaining {
  /** `pods.`, `leases.coordination.k8s.io`: the group after the dot, empty or not. */
  readonly objects: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
  /** Errors of deletions. */
  readonly failures: readonly string[];
}

interface Problem {
  readonly reason: string;
  readonly message: string;
}

const contentFailure = 'NamespaceDeletionContentFailure';
const contentRemaining = 'NamespaceContentRemaining';
const finalizersRemaining = 'NamespaceFinalizersRemaining';

/** Conditions in the order of upstream, with reason and message of status False. */
const conditionsWhenGood = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  ['NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  [contentFailure, 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
  [contentRemaining, 'ContentRemoved', 'All content successfully removed'],
  [finalizersRemaining, 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
] as const;

/** A condition keeps its transition time while its status stays the same. Others than these five are kept. */
export function buildNamespaceConditions(
  conditions: readonly MutableJsonMap[],
  remaining: Remaining,
  nowMs: number,
): readonly MutableJsonMap[] {
  const problems = problemsOf(remaining);
  const updated = [...conditions];
  for (const [type, reason, message] of conditionsWhenGood) {
    const problem = problems.get(type);
    const status = problem === undefined ? 'False' : 'True';
    const place = updated.findIndex((condition) => condition['type'] === type);
    const known = updated[place];
    const lastTransitionTime = known?.['status'] === status ? textAt(known, 'lastTransitionTime') : formatTime(nowMs);
    updated.splice(place < 0 ? updated.length : place, 1, {
      type,
      status,
      lastTransitionTime,
      ...(problem ?? { reason, message }),
    });
  }
  return updated;
}

function problemsOf({ objects, finalizers, failures }: Remaining): ReadonlyMap<string, Problem> {
  const left = [...objects].map(([resource, count]) => `${resource} has ${count} resource instances`);
  const held = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
  const failed = `Failed to delete all resource types, ${failures.length} remaining`;
  const rows = [
    [contentFailure, 'ContentDeletionFailed', failed, failures],
    [contentRemaining, 'SomeResourcesRemain', 'Some resources are remaining', left],
    [finalizersRemaining, 'SomeFinalizersRemain', 'Some content in the namespace has finalizers remaining', held],
  ] as const;
  const problems = rows.filter(([, , , texts]) => texts.length > 0);
  return new Map(
    problems.map(([type, reason, what, texts]) => [
      type,
      { reason, message: `${what}: ${[...texts].sort().join(', ')}` },
    ]),
  );
}
