/** Roles and their bindings (upstream `pkg/apis/rbac/validation`). */
import { sameJson } from '../../../../machinery/api/json-values.ts';
import { isDnsSubdomain } from '../../../../machinery/api/names.ts';
import { listOf, ownValue } from '../../../../machinery/api/json-map.ts';
import { type FieldError, invalidField, requiredField, unsupportedField } from '../../api-errors/field-errors.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { rbacGroup } from '../../authorization/rbac-tables.ts';
import type { KindRules } from '../plain-strategy.ts';

const shared: KindRules = { createsOnUpdate: true, explainName: explainPathSegment };
const ofBindings: KindRules = { ...shared, setDefaults: defaultBinding, validateUpdate: validateRoleRefKept };

/** Rules of the group, by the table of the kind. */
export const rbacRules: Readonly<Record<string, KindRules>> = {
  [`roles.${rbacGroup}`]: { ...shared, validate: (draft) => validateRules(draft, true) },
  [`clusterroles.${rbacGroup}`]: {
    ...shared,
    validate: (draft) => [...validateRules(draft, false), ...validateAggregation(draft)],
  },
  [`rolebindings.${rbacGroup}`]: { ...ofBindings, validate: (draft) => validateBinding(draft, true) },
  [`clusterrolebindings.${rbacGroup}`]: { ...ofBindings, validate: (draft) => validateBinding(draft, false) },
};

/** Any text that can be one part of a path. */
function explainPathSegment(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}

function validateRules(draft: Draft, isNamespaced: boolean): readonly FieldError[] {
  return listOf(draft['rules']).flatMap((rule, index) => validateRule(mapAt(rule), `rules[${index}]`, isNamespaced));
}

function validateRule(rule: MutableJsonMap, field: string, isNamespaced: boolean): readonly FieldError[] {
  const required = isEmpty(rule['nonResourceURLs']) ? missingOfResources(rule, field) : [];
  const paths = isEmpty(rule['nonResourceURLs']) ? [] : validatePaths(rule, field, isNamespaced);
  return [...paths, ...required, ...(isEmpty(rule['verbs']) ? [requiredField(`${field}.verbs`)] : [])];
}

function missingOfResources(rule: MutableJsonMap, field: string): readonly FieldError[] {
  const needed = [
    ['apiGroups', 'resource rules must supply at least one api group'],
    ['resources', 'resource rules must supply at least one resource'],
  ] as const;
  return needed.filter(([name]) => isEmpty(rule[name])).map(([name, why]) => requiredField(`${field}.${name}`, why));
}

function validatePaths(rule: MutableJsonMap, field: string, isNamespaced: boolean): readonly FieldError[] {
  const paths = rule['nonResourceURLs'];
  const reject = (detail: string): FieldError => invalidField(`${field}.nonResourceURLs`, paths, detail);
  const isMixed = ['apiGroups', 'resources', 'resourceNames'].some((name) => !isEmpty(ownValue(rule, name)));
  return [
    ...(isNamespaced ? [reject('namespaced rules cannot apply to non-resource URLs')] : []),
    ...(isMixed ? [reject('rules cannot apply to both regular resources and non-resource URLs')] : []),
  ];
}

function isEmpty(value: unknown): boolean {
  return listOf(value).length === 0;
}

function validateAggregation(draft: Draft): readonly FieldError[] {
  const aggregation = draft['aggregationRule'];
  if (!isMap(aggregation) || mapsAt(aggregation, 'clusterRoleSelectors').length > 0) return [];
  const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
  return [requiredField('aggregationRule.clusterRoleSelectors', detail)];
}

function defaultBinding(draft: Draft): void {
  if (isMap(draft['roleRef']) && textAt(draft['roleRef'], 'apiGroup') === '') draft['roleRef']['apiGroup'] = rbacGroup;
  for (const subject of mapsAt(draft, 'subjects')) {
    const isAccount = textAt(subject, 'kind') === 'ServiceAccount';
    if (!isAccount && textAt(subject, 'apiGroup') === '') subject['apiGroup'] = rbacGroup;
  }
}

function validateBinding(draft: Draft, isNamespaced: boolean): readonly FieldError[] {
  const subjects = mapsAt(draft, 'subjects');
  return [
    ...validateRoleRef(mapAt(draft, 'roleRef'), isNamespaced ? ['ClusterRole', 'Role'] : ['ClusterRole']),
    ...subjects.flatMap((subject, index) => validateSubject(subject, `subjects[${index}]`, isNamespaced)),
  ];
}

function validateRoleRef(roleRef: MutableJsonMap, kinds: readonly string[]): readonly FieldError[] {
  const [group, kind, name] = [textAt(roleRef, 'apiGroup'), textAt(roleRef, 'kind'), textAt(roleRef, 'name')];
  return [
    ...(group === rbacGroup ? [] : [unsupportedField('roleRef.apiGroup', group, [rbacGroup])]),
    ...(kinds.includes(kind) ? [] : [unsupportedField('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [requiredField('roleRef.name')] : []),
  ];
}

function validateSubject(subject: MutableJsonMap, field: string, isNamespaced: boolean): readonly FieldError[] {
  const name = textAt(subject, 'name');
  const errors = name === '' ? [requiredField(`${field}.name`)] : [];
  const kind = textAt(subject, 'kind');
  if (kind === 'ServiceAccount') return [...errors, ...validateAccount(subject, field, isNamespaced)];
  if (kind !== 'User' && kind !== 'Group') {
    return [...errors, unsupportedField(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
  }
  const group = textAt(subject, 'apiGroup');
  return group === rbacGroup ? errors : [...errors, unsupportedField(`${field}.apiGroup`, group, [rbacGroup])];
}

const subdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function validateAccount(subject: MutableJsonMap, field: string, isNamespaced: boolean): readonly FieldError[] {
  const [name, group] = [textAt(subject, 'name'), textAt(subject, 'apiGroup')];
  return [
    ...(name !== '' && !isDnsSubdomain(name) ? [invalidField(`${field}.name`, name, subdomainMessage)] : []),
    ...(group === '' ? [] : [unsupportedField(`${field}.apiGroup`, group, [''])]),
    ...(isNamespaced || textAt(subject, 'namespace') !== '' ? [] : [requiredField(`${field}.namespace`)]),
  ];
}

function validateRoleRefKept(draft: Draft, stored: Draft): readonly FieldError[] {
  const roleRef = draft['roleRef'];
  if (sameJson(roleRef, stored['roleRef'])) return [];
  const ref = mapAt(draft, 'roleRef');
  const shown = { APIGroup: textAt(ref, 'apiGroup'), Kind: textAt(ref, 'kind'), Name: textAt(ref, 'name') };
  return [invalidField('roleRef', shown, 'field is immutable')];
}
