/**
 * What the controllers of Deployments, ReplicaSets, StatefulSets and DaemonSets rely on (upstream `pkg/apis/apps/validation`):
 * a selector that selects the pods of the template and stays, and pods that run again.
 */
import { listRequirements, matchesLabels } from '../../../../machinery/api/label-selector.ts';
import { sameJson } from '../../../../machinery/api/json-values.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../../api-errors/field-errors.ts';
import { isMap, mapAt, type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { checkCounts, checkSelector } from '../../validation/field-checks.ts';
import type { ServerGate } from '../feature-gates.ts';
import { checkPodTemplate } from '../pod/pod-spec-validation.ts';
import { type PodValidationOptions, podValidationOptions } from '../pod/pod-validation-options.ts';

/** Fields of a StatefulSet that may not change. */
const fixedFields = ['selector', 'volumeClaimTemplates', 'serviceName', 'podManagementPolicy'] as const;

/** A workload whose pods always run again. */
interface WorkloadWords {
  /** Kind in the message about an empty selector. */
  readonly selectorOf: string;
  /** Kind in the message about a deadline. */
  readonly kind: string;
  /** Text of the message about a selector that cannot be used; absent if there is none. */
  readonly unusable?: string;
  /** Fields of the spec that must not be negative. */
  readonly counts: readonly string[];
}

/** The selector selects something, and the labels of the template; counts are not negative. */
export function validateWorkload(
  gates: ReadonlySet<ServerGate>,
  about: WorkloadWords,
): (draft: Draft, stored?: Draft) => readonly FieldError[] {
  return ({ spec = {} }, stored) => [
    ...checkCounts(spec, about.counts, 'spec'),
    ...validateSelector(spec, about),
    ...validateTemplate(spec, about.kind, podValidationOptions(gates, mapAt(stored?.spec, 'template', 'spec'))),
  ];
}

function validateSelector(spec: MutableJsonMap, about: WorkloadWords): readonly FieldError[] {
  const { selector } = spec;
  if (!isMap(selector))
    return [...(about.kind === 'DaemonSet' ? [] : [requiredField('spec.selector')]), ...unmatched(spec)];
  const problems = checkSelector('spec.selector', selector);
  if (problems.length > 0) {
    return about.unusable === undefined
      ? problems
      : [...problems, invalidField('spec.selector', selector, about.unusable)];
  }
  const requirements = listRequirements(selector);
  if (requirements.length === 0) {
    return [invalidField('spec.selector', selector, `empty selector is invalid for ${about.selectorOf}`)];
  }
  return matchesLabels(requirements, labelsOf(spec)) ? [] : unmatched(spec);
}

function labelsOf(spec: MutableJsonMap): Readonly<Record<string, string>> {
  const labels = mapAt(spec, 'template', 'metadata', 'labels');
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function unmatched(spec: MutableJsonMap): readonly FieldError[] {
  const labels = labelsOf(spec);
  const value = Object.keys(labels).length === 0 ? null : labels;
  return [invalidField('spec.template.metadata.labels', value, '`selector` does not match template `labels`')];
}

function validateTemplate(spec: MutableJsonMap, kind: string, options: PodValidationOptions): readonly FieldError[] {
  const template = mapAt(spec, 'template');
  const path = 'spec.template.spec';
  const pod = mapAt(template, 'spec');
  const errors = [...checkPodTemplate(template, 'spec.template', options)];
  const policy = textAt(pod, 'restartPolicy');
  if (policy !== 'Always') errors.push(unsupportedField(`${path}.restartPolicy`, policy, ['Always']));
  if (pod['activeDeadlineSeconds'] === undefined) return errors;
  return [
    ...errors,
    forbiddenField(`${path}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`),
  ];
}

export function validateStatefulSetChange(draft: Draft, stored: Draft): readonly FieldError[] {
  return validateKept(draft, stored, fixedFields);
}

/** The selector may not change. */
export function validateSelectorKept(draft: Draft, stored: Draft): readonly FieldError[] {
  return validateKept(draft, stored, ['selector']);
}

function validateKept(
  draft: Draft,
  stored: Draft,
  fields: readonly (typeof fixedFields)[number][],
): readonly FieldError[] {
  return fields
    .filter((field) => !sameJson(draft.spec?.[field], stored.spec?.[field]))
    .map((field) => invalidField(`spec.${field}`, draft.spec?.[field] ?? null, 'field is immutable'));
}
