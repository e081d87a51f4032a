/**
 * What a set of rules grants that another does not (upstream `component-helpers/auth/rbac/validation.Covers`): a user may
 * grant only permissions that the user has.
 */
import { emptyRule, type PolicyRule, pathCovers } from './decide-rule.ts';

const all = '*';

/** The single permissions of `wanted` that no rule of `owned` covers; those that differ by verb only are one rule. */
export function selectMissingRules(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const missing = wanted.flatMap(splitRule).filter((single) => !owned.some((owner) => covers(owner, single)));
  const joined = new Map<string, PolicyRule>();
  for (const rule of missing) {
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
    const known = rule.nonResourceURLs.length > 0 ? undefined : joined.get(key);
    const unique = rule.nonResourceURLs.length > 0 ? `${key}${rule.verbs.join()}` : key;
    joined.set(unique, known === undefined ? rule : { ...rule, verbs: [...known.verbs, ...rule.verbs] });
  }
  return [...joined.values()];
}

/** A rule as messages show it: `{APIGroups:["apps"], Resources:["pods"], Verbs:["get"]}`. */
export function describeRule(rule: PolicyRule): string {
  const fields = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const;
  const given = fields.filter(([, values]) => values.length > 0);
  return `{${given.map(([name, values]) => `${name}:${describeList(values)}`).join(', ')}}`;
}

/** A list of strings as Go's `%q` prints it. */
export function describeList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

/** Rules of one verb, group, resource and name each. */
function splitRule(rule: PolicyRule): readonly PolicyRule[] {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
  const onResources = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        names.map((resourceNames) => ({
          ...emptyRule,
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          resourceNames,
        })),
      ),
    ),
  );
  const onPaths = rule.nonResourceURLs.flatMap((path) =>
    rule.verbs.map((verb) => ({ ...emptyRule, verbs: [verb], nonResourceURLs: [path] })),
  );
  return [...onResources, ...onPaths];
}

/** `single` has at most one value in each field. */
function covers(owner: PolicyRule, single: PolicyRule): boolean {
  return (
    hasEach(owner.verbs, single.verbs) &&
    hasEach(owner.apiGroups, single.apiGroups) &&
    single.resources.every((resource) => coversResource(owner.resources, resource)) &&
    coversNames(owner.resourceNames, single.resourceNames) &&
    single.nonResourceURLs.every((path) => owner.nonResourceURLs.some((own) => pathCovers(own, path)))
  );
}

function hasEach(owned: readonly string[], wanted: readonly string[]): boolean {
  return owned.includes(all) || wanted.every((value) => owned.includes(value));
}

function coversResource(owned: readonly string[], resource: string): boolean {
  if (owned.includes(all) || owned.includes(resource)) return true;
  const [, subresource] = resource.split('/', 2);
  return subresource !== undefined && owned.includes(`${all}/${subresource}`);
}

/** A rule without names covers every name; one with names does not cover all objects. */
function coversNames(owned: readonly string[], wanted: readonly string[]): boolean {
  if (owned.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => owned.includes(name));
}
