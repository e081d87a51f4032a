// Whether policies can claim a node, and one node equally, as far as their selectors show it.
import type { LabelRequirement } from '../../machinery/api/label-selector.ts';
import type { NodePolicy } from '../model/policy.ts';

type Claim = Pick<NodePolicy, 'priority' | 'selector'>;

/** Whether a node that matches both would get the default policy, and labels can match both. */
export function canClaimEqually(a: Claim, b: Claim): boolean {
  const areEqual = a.priority === b.priority && a.selector.length === b.selector.length;
  return areEqual && isSatisfiable([...a.selector, ...b.selector]);
}

/** False if no labels meet all of these requirements, such as `a In [x]` and `a NotIn [x]`. */
export function isSatisfiable(requirements: readonly LabelRequirement[]): boolean {
  const byKey = Map.groupBy(requirements, ({ key }) => key);
  return [...byKey.values()].every(isKeySatisfiable);
}

/** `requirements`: all of one key. */
function isKeySatisfiable(requirements: readonly LabelRequirement[]): boolean {
  const mustBeAbsent = requirements.some(({ operator }) => operator === 'DoesNotExist');
  const mustBePresent = requirements.some(({ operator }) => operator === 'Exists' || operator === 'In');
  if (mustBeAbsent) return !mustBePresent;
  const [first, ...others] = requirements.filter(({ operator }) => operator === 'In');
  if (first === undefined) return true;
  const excluded = new Set(valuesOf(requirements.filter(({ operator }) => operator === 'NotIn')));
  return valuesOf([first]).some(
    (value) => !excluded.has(value) && others.every((other) => valuesOf([other]).includes(value)),
  );
}

function valuesOf(requirements: readonly LabelRequirement[]): readonly string[] {
  return requirements.flatMap(({ values }) => values ?? []);
}
