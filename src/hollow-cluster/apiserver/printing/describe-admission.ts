/** The group admissionregistration.k8s.io (upstream `printMutatingWebhook` and its neighbours). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { isMap, mapAt, mapsAt, textAt, textsAt, valueAt } from '../select-field.ts';
import { ageColumn, column, countColumn, nameColumn, type PrintedColumn } from './describe-columns.ts';

const paramKindColumn = column('ParamKind', 'Kind of the objects with its parameters.', (policy) => {
  const kind = valueAt(policy, 'spec', 'paramKind');
  return isMap(kind) ? `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}` : '<unset>';
});

/** Of both webhook configurations. */
export const webhookColumns: readonly PrintedColumn[] = [
  nameColumn,
  countColumn('Webhooks', 'Number of webhooks.', (configuration) => mapsAt(configuration, 'webhooks').length),
  ageColumn,
];

export const validatingPolicyColumns: readonly PrintedColumn[] = [
  nameColumn,
  countColumn('Validations', 'Number of validation rules.', (policy) => mapsAt(policy, 'spec', 'validations').length),
  paramKindColumn,
  ageColumn,
];

export const mutatingPolicyColumns: readonly PrintedColumn[] = [
  nameColumn,
  countColumn('Mutations', 'Number of mutations.', (policy) => mapsAt(policy, 'spec', 'mutations').length),
  paramKindColumn,
  ageColumn,
];

/** Of the bindings of both kinds of policies. */
export const policyBindingColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('PolicyName', 'Name of the policy.', (binding) => textAt(binding, 'spec', 'policyName')),
  column('ParamRef', 'Object with the parameters of the policy.', describeParam),
  ageColumn,
];

/** Whether the object has a namespace is not known here, so a name without one is printed with `*`. */
function describeParam(binding: JsonMap): string {
  const param = mapAt(binding, 'spec', 'paramRef');
  const name = textAt(param, 'name');
  if (name !== '') return `${textAt(param, 'namespace') || '*'}/${name}`;
  const selector = valueAt(param, 'selector');
  return isMap(selector) ? describeGoSelector(selector) : '<unset>';
}

/** A label selector in the form of Go's debug output, which upstream prints. */
function describeGoSelector(selector: JsonMap): string {
  const labels = mapAt(selector, 'matchLabels');
  const texts = Object.keys(labels)
    .sort()
    .map((key) => `${key}: ${textAt(labels, key)},`);
  const terms = mapsAt(selector, 'matchExpressions').map((term) => {
    const values = textsAt(term, 'values').join(' ');
    return `LabelSelectorRequirement{Key:${textAt(term, 'key')},Operator:${textAt(term, 'operator')},Values:[${values}],},`;
  });
  return `&LabelSelector{MatchLabels:map[string]string{${texts.join('')}},MatchExpressions:[]LabelSelectorRequirement{${terms.join('')}},}`;
}
