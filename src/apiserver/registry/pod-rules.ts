/** What a pod must be, and what of it may change (upstream `ValidatePodCreate`, `ValidatePodUpdate`). */
import type { Draft, JsonMap } from '../storage/stored-object.ts';
import { isDnsLabel } from './names.ts';
import { validateEffect } from './node-strategy.ts';
import type { FieldError } from './refusals.ts';
import { sameValue } from './same-value.ts';
import { isRecord, mapsOf, textAt } from './strategy.ts';

const restartPolicies: readonly string[] = ['Always', 'OnFailure', 'Never'];
const onlyThese =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

export function validatePodSpec(spec: JsonMap, path = 'spec'): readonly FieldError[] {
  return [
    ...validateContainers(mapsOf(spec['containers']), `${path}.containers`, true),
    ...validateContainers(mapsOf(spec['initContainers']), `${path}.initContainers`, false),
    ...validateRestartPolicy(textAt(spec, 'restartPolicy'), `${path}.restartPolicy`),
    ...validateTolerations(mapsOf(spec['tolerations']), `${path}.tolerations`),
  ];
}

function validateContainers(containers: readonly JsonMap[], path: string, required: boolean): readonly FieldError[] {
  if (required && containers.length === 0) return [{ field: path, problem: 'FieldValueRequired' }];
  const seen = new Set<string>();
  return containers.flatMap((container, index) => {
    const name = textAt(container, 'name');
    const errors = [...validateContainer(container, `${path}[${index}]`)];
    if (seen.has(name)) errors.push({ field: `${path}[${index}].name`, problem: 'FieldValueDuplicate', value: name });
    seen.add(name);
    return errors;
  });
}

function validateContainer(container: JsonMap, path: string): readonly FieldError[] {
  const name = textAt(container, 'name');
  const errors: FieldError[] = [];
  if (name === '') errors.push({ field: `${path}.name`, problem: 'FieldValueRequired' });
  else if (!isDnsLabel(name)) {
    const detail = 'a lowercase RFC 1123 label';
    errors.push({ field: `${path}.name`, problem: 'FieldValueInvalid', value: name, detail });
  }
  if (textAt(container, 'image') === '') errors.push({ field: `${path}.image`, problem: 'FieldValueRequired' });
  return errors;
}

function validateRestartPolicy(value: string, field: string): readonly FieldError[] {
  if (restartPolicies.includes(value)) return [];
  const detail = `supported values: ${restartPolicies.map((word) => `"${word}"`).join(', ')}`;
  return [{ field, problem: 'FieldValueNotSupported', value, detail }];
}

function validateTolerations(tolerations: readonly JsonMap[], path: string): readonly FieldError[] {
  return tolerations.flatMap((toleration, index) => validateToleration(toleration, `${path}[${index}]`));
}

function validateToleration(toleration: JsonMap, path: string): readonly FieldError[] {
  const [key, operator, effect] = [
    textAt(toleration, 'key'),
    textAt(toleration, 'operator'),
    textAt(toleration, 'effect'),
  ];
  const errors = [...validateEffect(effect, `${path}.effect`, true), ...validateOperator(toleration, path)];
  if (key === '' && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push({ field: `${path}.operator`, problem: 'FieldValueInvalid', value: operator, detail });
  }
  if (toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute') {
    const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push({ field: `${path}.effect`, problem: 'FieldValueInvalid', value: effect, detail });
  }
  return errors;
}

function validateOperator(toleration: JsonMap, path: string): readonly FieldError[] {
  const [operator, value] = [textAt(toleration, 'operator'), textAt(toleration, 'value')];
  const field = `${path}.operator`;
  if (operator === 'Exists' && value !== '') {
    return [
      {
        field,
        problem: 'FieldValueInvalid',
        value: operator,
        detail: 'value must be empty when `operator` is "Exists"',
      },
    ];
  }
  if (['', 'Equal', 'Exists'].includes(operator)) return [];
  return [{ field, problem: 'FieldValueNotSupported', value: operator, detail: 'supported values: "Equal", "Exists"' }];
}

export function validatePodUpdate(draft: Draft, stored: Draft): readonly FieldError[] {
  const [spec, before] = [draft.spec ?? {}, stored.spec ?? {}];
  const errors = [...validateKeptTolerations(mapsOf(spec['tolerations']), mapsOf(before['tolerations']))];
  if (['containers', 'initContainers'].some((field) => !sameNames(spec[field], before[field]))) {
    const detail = 'pod updates may not add or remove containers';
    return [...errors, { field: 'spec.containers', problem: 'FieldValueForbidden', detail }];
  }
  if (!sameValue(fixedPart(spec), fixedPart(before)) || !mayEndSo(spec, before)) {
    errors.push({ field: 'spec', problem: 'FieldValueForbidden', detail: onlyThese });
  }
  return errors;
}

function sameNames(containers: unknown, before: unknown): boolean {
  return mapsOf(containers).length === mapsOf(before).length;
}

/** The spec without what may change. */
function fixedPart(spec: JsonMap): JsonMap {
  const {
    tolerations: _tolerations,
    activeDeadlineSeconds: _deadline,
    terminationGracePeriodSeconds: _grace,
    schedulingGates: _gates,
    ...rest
  } = spec;
  return {
    ...rest,
    containers: mapsOf(spec['containers']).map(withoutImage),
    initContainers: mapsOf(spec['initContainers']).map(withoutImage),
  };
}

function withoutImage(container: JsonMap): JsonMap {
  return { ...container, image: '' };
}

/** The deadline may appear or come closer, the grace period only be mended, gates only be lifted. */
function mayEndSo(spec: JsonMap, before: JsonMap): boolean {
  const [grace, graceBefore] = [spec['terminationGracePeriodSeconds'], before['terminationGracePeriodSeconds']];
  const graceAllowed = grace === graceBefore || (Number(graceBefore) < 0 && grace === 1);
  return (
    graceAllowed &&
    deadlineAllowed(spec['activeDeadlineSeconds'], before['activeDeadlineSeconds']) &&
    gatesAllowed(spec, before)
  );
}

function deadlineAllowed(deadline: unknown, before: unknown): boolean {
  if (before === undefined || deadline === before) return true;
  return deadline !== undefined && Number(deadline) < Number(before);
}

function gatesAllowed(spec: JsonMap, before: JsonMap): boolean {
  const known = mapsOf(before['schedulingGates']);
  return mapsOf(spec['schedulingGates']).every((gate) => known.some((other) => sameValue(gate, other)));
}

function validateKeptTolerations(tolerations: readonly JsonMap[], before: readonly JsonMap[]): readonly FieldError[] {
  const lost = before.some(
    (old) => !tolerations.some((now) => sameValue({ ...now, tolerationSeconds: 0 }, { ...old, tolerationSeconds: 0 })),
  );
  if (!lost) return [];
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return [{ field: 'spec.tolerations', problem: 'FieldValueForbidden', detail }];
}

/** A container that ended for good does not come back (upstream `ValidateContainerStateTransition`). */
export function validatePodStatusUpdate(draft: Draft, stored: Draft): readonly FieldError[] {
  const policy = textAt(stored.spec, 'restartPolicy');
  if (policy === 'Always') return [];
  const after = mapsOf(draft.status?.['containerStatuses']);
  return mapsOf(stored.status?.['containerStatuses']).flatMap((before): readonly FieldError[] => {
    const now = after.find((status) => status['name'] === before['name']);
    if (now === undefined || !endedForGood(before, policy) || terminated(now) !== undefined) return [];
    const detail = 'may not be transitioned to non-terminated state';
    return [{ field: 'status.containerStatuses', problem: 'FieldValueForbidden', detail }];
  });
}

function endedForGood(status: JsonMap, policy: string): boolean {
  const end = terminated(status);
  return end !== undefined && (policy === 'Never' || end['exitCode'] === 0);
}

function terminated(status: JsonMap): JsonMap | undefined {
  const state = status['state'];
  const end = isRecord(state) ? state['terminated'] : undefined;
  return isRecord(end) ? end : undefined;
}
