/** Validation that kinds with a pod template share (upstream `pkg/apis/apps/validation`, `pkg/apis/batch/validation`). */
import { listRequirements, matchesLabels } from '../../api/label-selector.ts';
import { sameJson } from '../../api/same-json.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../api-errors/field-errors.ts';
import { validatePodSpec } from '../registry/pod-rules.ts';
import { isMap, mapAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';

/** A workload whose pods always run again. */
interface ServingWorkload {
  /** In the message about an empty selector. */
  readonly selectorOf: string;
  /** In the message about a deadline. */
  readonly kind: string;
  /** Fields of the spec that must not be negative. */
  readonly counts: readonly string[];
}

const podPath = 'spec.template.spec';

/** The selector is required, matches the labels of the template, and selects something. */
export function validateServing({ spec = {} }: Draft, about: ServingWorkload): readonly FieldError[] {
  return [
    ...validateCounts(spec, about.counts),
    ...validateSelector(spec, about.selectorOf),
    ...validateServingPod(spec, about.kind),
  ];
}

/** A DaemonSet without selector selects its template. */
function validateSelector(spec: MutableJsonMap, selectorOf: string): readonly FieldError[] {
  const { selector } = spec;
  if (!isMap(selector)) return selectorOf === 'daemonset' ? [] : [requiredField('spec.selector')];
  const requirements = listRequirements(selector);
  if (requirements.length === 0) {
    return [invalidField('spec.selector', selector, `empty selector is invalid for ${selectorOf}`)];
  }
  const labels = mapAt(spec, 'template', 'metadata', 'labels');
  return matchesLabels(requirements, textsOf(labels)) ? [] : [unmatched(labels)];
}

function unmatched(labels: MutableJsonMap): FieldError {
  const value = Object.keys(labels).length === 0 ? null : labels;
  return invalidField('spec.template.metadata.labels', value, '`selector` does not match template `labels`');
}

/** The selector of a ReplicationController is a map of labels. */
export function validateLabelsSelected({ spec = {} }: Draft): readonly FieldError[] {
  const selector = mapAt(spec, 'selector');
  if (Object.keys(selector).length === 0) return [requiredField('spec.selector')];
  const labels = mapAt(spec, 'template', 'metadata', 'labels');
  return Object.entries(selector).every(([key, value]) => labels[key] === value) ? [] : [unmatched(labels)];
}

function textsOf(labels: MutableJsonMap): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

export function validateServingPod(spec: MutableJsonMap, kind: string): readonly FieldError[] {
  const pod = mapAt(spec, 'template', 'spec');
  const errors = [...validatePodSpec(pod, podPath)];
  const policy = textAt(pod, 'restartPolicy');
  if (policy !== 'Always') errors.push(unsupportedField(`${podPath}.restartPolicy`, policy, ['Always']));
  if (pod['activeDeadlineSeconds'] === undefined) return errors;
  return [
    ...errors,
    forbiddenField(`${podPath}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`),
  ];
}

/** A pod that is to end must not be restarted forever. */
export function validateEndingPod(owner: MutableJsonMap, path: string): readonly FieldError[] {
  const pod = mapAt(owner, 'template', 'spec');
  const errors = validatePodSpec(pod, `${path}.template.spec`);
  if (textAt(pod, 'restartPolicy') !== 'Always') return errors;
  return [...errors, requiredField(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"')];
}

export function validateCounts(owner: MutableJsonMap, fields: readonly string[], path = 'spec'): readonly FieldError[] {
  return fields.flatMap((field) => {
    const value = owner[field];
    if (typeof value !== 'number' || value >= 0) return [];
    return [invalidField(`${path}.${field}`, value, 'must be greater than or equal to 0')];
  });
}

/** These fields of the spec may not change. */
export function validateKept(draft: Draft, stored: Draft, fields: readonly string[]): readonly FieldError[] {
  return fields.flatMap((field) => {
    const value = draft.spec?.[field];
    return sameJson(value, stored.spec?.[field])
      ? []
      : [invalidField(`spec.${field}`, value ?? null, 'field is immutable')];
  });
}
