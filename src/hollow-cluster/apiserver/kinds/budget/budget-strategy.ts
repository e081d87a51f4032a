/** PodDisruptionBudgets (upstream `pkg/registry/policy/poddisruptionbudget`, `pkg/apis/policy/validation`). */
import { type FieldError, invalidField, unsupportedField } from '../../api-errors/field-errors.ts';
import { isMap, numberAt, textAt, valueAt } from '../../../../machinery/api/select-field.ts';
import type { JsonMap } from '../../../../machinery/api/json-map.ts';
import { ageColumn, column, countColumn, nameColumn, type PrintedColumn } from '../../printing/describe-columns.ts';
import type { Draft } from '../../storage/stored-object.ts';
import type { KindRules } from '../plain-strategy.ts';
import { checkSelector } from '../../validation/field-checks.ts';

const policies = ['AlwaysAllow', 'IfHealthyBudget'] as const;
const counts = ['currentHealthy', 'desiredHealthy', 'disruptionsAllowed', 'expectedPods'] as const;
const percentage = /^[0-9]+%$/;
const percentMessage =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

export const budgetRules: KindRules = {
  needsVersion: true,
  initialStatus: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  validate: validateBudget,
  validateStatus,
};

function validateBudget({ spec = {} }: Draft): readonly FieldError[] {
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.push(invalidField('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  errors.push(
    ...validateShare('spec.minAvailable', minAvailable),
    ...validateShare('spec.maxUnavailable', maxUnavailable),
  );
  errors.push(...checkSelector('spec.selector', spec['selector']));
  if (policy !== undefined && !policies.some((known) => known === policy)) {
    errors.push(unsupportedField('spec.unhealthyPodEvictionPolicy', policy, policies));
  }
  return errors;
}

function validateShare(field: string, value: unknown): readonly FieldError[] {
  if (value === undefined) return [];
  if (typeof value === 'number') {
    return value >= 0 ? [] : [invalidField(field, value, 'must be greater than or equal to 0')];
  }
  if (typeof value !== 'string' || !percentage.test(value)) return [invalidField(field, value, percentMessage)];
  return Number.parseInt(value, 10) <= 100 ? [] : [invalidField(field, value, 'must not be greater than 100%')];
}

function validateStatus({ status = {} }: Draft): readonly FieldError[] {
  const conditions = valueAt(status, 'conditions');
  const ofConditions = (Array.isArray(conditions) ? conditions : []).flatMap((condition: unknown, index) =>
    isMap(condition) && textAt(condition, 'reason') === ''
      ? [{ reason: 'FieldValueRequired', message: 'Required value', field: `status.conditions[${index}].reason` }]
      : [],
  );
  const ofCounts = counts.flatMap((name) => {
    const value = numberAt(status, name);
    return value >= 0 ? [] : [invalidField(`status.${name}`, value, 'must be greater than or equal to 0')];
  });
  return [...ofConditions, ...ofCounts];
}

/** Columns of `kubectl get poddisruptionbudgets` (upstream `printPodDisruptionBudget`). */
export const budgetColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Min Available', 'Pods that must stay available.', (budget) => describeLimit(budget, 'minAvailable')),
  column('Max Unavailable', 'Pods that may be unavailable.', (budget) => describeLimit(budget, 'maxUnavailable')),
  countColumn('Allowed Disruptions', 'Number of pods that may be evicted now.', (budget) =>
    numberAt(budget, 'status', 'disruptionsAllowed'),
  ),
  ageColumn,
];

function describeLimit(budget: JsonMap, field: string): string {
  const value = valueAt(budget, 'spec', field);
  return typeof value === 'number' || typeof value === 'string' ? String(value) : 'N/A';
}
