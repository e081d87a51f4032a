/** The conditions of a namespace that is deleted (upstream `pkg/controller/namespace/deletion`). */
import { formatTime } from '../../../../machinery/api/timestamps.ts';
import { type MutableJsonMap, textAt } from '../../select-field.ts';

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

/** Conditions in the order of upstream, with reason and message of status False. */
const conditionsWhenGood: readonly (readonly [string, Problem])[] = [
  [
    'NamespaceDeletionDiscoveryFailure',
    { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
  ],
  [
    'NamespaceDeletionGroupVersionParsingFailure',
    { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
  ],
  [
    'NamespaceDeletionContentFailure',
    { reason: 'ContentDeleted', message: 'All content successfully deleted, may be waiting on finalization' },
  ],
  ['NamespaceContentRemaining', { reason: 'ContentRemoved', message: 'All content successfully removed' }],
  [
    'NamespaceFinalizersRemaining',
    { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
  ],
];

/** A condition keeps its transition time while its status stays the same. Others than these five are kept. */
export function buildNamespaceConditions(
  conditions: readonly MutableJsonMap[],
  remaining: Remaining,
  nowMs: number,
): readonly MutableJsonMap[] {
  const problems = problemsOf(remaining);
  const updated = [...conditions];
  for (const [type, good] of conditionsWhenGood) {
    const problem = problems.get(type);
    const status = problem === undefined ? 'False' : 'True';
    const place = updated.findIndex((condition) => condition['type'] === type);
    const known = updated[place];
    const lastTransitionTime = known?.['status'] === status ? textAt(known, 'lastTransitionTime') : formatTime(nowMs);
    updated.splice(place < 0 ? updated.length : place, 1, { type, status, lastTransitionTime, ...(problem ?? good) });
  }
  return updated;
}

function problemsOf({ objects, finalizers, failures }: Remaining): ReadonlyMap<string, Problem> {
  const problems = new Map<string, Problem>();
  if (failures.length > 0) {
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`;
    problems.set('NamespaceDeletionContentFailure', { reason: 'ContentDeletionFailed', message });
  }
  if (objects.size > 0) {
    const texts = [...objects].map(([resource, count]) => `${resource} has ${count} resource instances`);
    const message = `Some resources are remaining: ${texts.sort().join(', ')}`;
    problems.set('NamespaceContentRemaining', { reason: 'SomeResourcesRemain', message });
  }
  if (finalizers.size > 0) {
    const texts = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    const message = `Some content in the namespace has finalizers remaining: ${texts.sort().join(', ')}`;
    problems.set('NamespaceFinalizersRemaining', { reason: 'SomeFinalizersRemain', message });
  }
  return problems;
}
