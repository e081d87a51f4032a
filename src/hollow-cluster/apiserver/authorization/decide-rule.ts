/** Rules of roles, and the requests that they allow (upstream `pkg/apis/rbac/v1/evaluation_helpers.go`). */
import { listOf } from '../../../machinery/api/json-map.ts';
import { withoutTrailing } from '../../../machinery/api/without-trailing.ts';
import { mapsAt } from '../../../machinery/api/select-field.ts';
import type { Attributes, ResourceAttributes } from './parse-attributes.ts';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  /** `pods`, `pods/status`, `*`, or `*` with a subresource. */
  readonly resources: readonly string[];
  /** Empty for all objects. */
  readonly resourceNames: readonly string[];
  /** Paths; the last character may be a `*`. */
  readonly nonResourceURLs: readonly string[];
}

const all = '*';

/** A rule that allows nothing. */
export const emptyRule: PolicyRule = {
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
};

/** The rules that allow all. */
export const everything: readonly PolicyRule[] = [
  { ...emptyRule, verbs: [all], apiGroups: [all], resources: [all] },
  { ...emptyRule, verbs: [all], nonResourceURLs: [all] },
];

/** The rules of a stored role. */
export function rulesOf(role: unknown): readonly PolicyRule[] {
  return mapsAt(role, 'rules').map((rule) => ({
    verbs: textsOf(rule['verbs']),
    apiGroups: textsOf(rule['apiGroups']),
    resources: textsOf(rule['resources']),
    resourceNames: textsOf(rule['resourceNames']),
    nonResourceURLs: textsOf(rule['nonResourceURLs']),
  }));
}

/** The texts of a list; other items are dropped. */
export function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((item) => typeof item === 'string');
}

export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false;
  if (attributes.kind === 'path') return rule.nonResourceURLs.some((owner) => pathCovers(owner, attributes.path));
  const isNamed = rule.resourceNames.length === 0 || rule.resourceNames.includes(attributes.name);
  return isNamed && hasOrAll(rule.apiGroups, attributes.group) && allowsResource(rule, attributes);
}

function allowsResource({ resources }: PolicyRule, { resource, subresource }: ResourceAttributes): boolean {
  if (subresource === '') return hasOrAll(resources, resource);
  return hasOrAll(resources, `${resource}/${subresource}`) || resources.includes(`${all}/${subresource}`);
}

function hasOrAll(values: readonly string[], wanted: string): boolean {
  return values.includes(all) || values.includes(wanted);
}

/** Whether a path of a rule contains another, which may itself end in `*`. */
export function pathCovers(owner: string, path: string): boolean {
  return owner === path || (owner.endsWith(all) && path.startsWith(withoutTrailing(owner, all)));
}
