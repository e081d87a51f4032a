/** Validation of updates of pods (upstream `ValidatePodUpdate`). */
import type { Draft } from '../../storage/stored-object.ts';
import { sameJson } from '../../../../machinery/api/json-values.ts';
import { type FieldError, forbiddenField } from '../../api-errors/field-errors.ts';
import { isMap, mapsAt, type MutableJsonMap, textAt, valueAt } from '../../../../machinery/api/select-field.ts';

const mutableFieldsText =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

export function validatePodUpdate(draft: Draft, stored: Draft): readonly FieldError[] {
  const [spec, before] = [draft.spec ?? {}, stored.spec ?? {}];
  const errors = [...validateKeptTolerations(mapsAt(spec, 'tolerations'), mapsAt(before, 'tolerations'))];
  if (['containers', 'initContainers'].some((field) => mapsAt(spec, field).length !== mapsAt(before, field).length)) {
    return [...errors, forbiddenField('spec.containers', 'pod updates may not add or remove containers')];
  }
  if (!sameJson(fixedPart(spec), fixedPart(before)) || !isTerminationAllowed(spec, before)) {
    errors.push(forbiddenField('spec', mutableFieldsText));
  }
  return errors;
}

/** The spec without its mutable fields. */
function fixedPart(spec: MutableJsonMap): MutableJsonMap {
  const withoutImages = (field: string): readonly MutableJsonMap[] =>
    mapsAt(spec, field).map((container) => ({ ...container, image: '' }));
  return {
    ...spec,
    tolerations: undefined,
    activeDeadlineSeconds: undefined,
    terminationGracePeriodSeconds: undefined,
    schedulingGates: undefined,
    containers: withoutImages('containers'),
    initContainers: withoutImages('initContainers'),
  };
}

/** The deadline may be set or shortened, the grace period only be corrected, gates only be removed. */
function isTerminationAllowed(spec: MutableJsonMap, before: MutableJsonMap): boolean {
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

function gatesAllowed(spec: MutableJsonMap, before: MutableJsonMap): boolean {
  const known = mapsAt(before, 'schedulingGates');
  return mapsAt(spec, 'schedulingGates').every((gate) => known.some((other) => sameJson(gate, other)));
}

function validateKeptTolerations(
  tolerations: readonly MutableJsonMap[],
  before: readonly MutableJsonMap[],
): readonly FieldError[] {
  const lost = before.some(
    (old) => !tolerations.some((now) => sameJson({ ...now, tolerationSeconds: 0 }, { ...old, tolerationSeconds: 0 })),
  );
  if (!lost) return [];
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return [forbiddenField('spec.tolerations', detail)];
}

/** A container that ended permanently stays terminated (upstream `ValidateContainerStateTransition`). */
export function validatePodStatusUpdate(draft: Draft, stored: Draft): readonly FieldError[] {
  const policy = textAt(stored.spec, 'restartPolicy');
  if (policy === 'Always') return [];
  const after = mapsAt(draft.status, 'containerStatuses');
  return mapsAt(stored.status, 'containerStatuses').flatMap((before) => {
    const now = after.find((status) => status['name'] === before['name']);
    if (now === undefined || !endedPermanently(before, policy) || terminated(now) !== undefined) return [];
    const detail = 'may not be transitioned to non-terminated state';
    return [forbiddenField('status.containerStatuses', detail)];
  });
}

function endedPermanently(status: MutableJsonMap, policy: string): boolean {
  const end = terminated(status);
  return end !== undefined && (policy === 'Never' || end['exitCode'] === 0);
}

function terminated(status: MutableJsonMap): MutableJsonMap | undefined {
  const end = valueAt(status, 'state', 'terminated');
  return isMap(end) ? end : undefined;
}
