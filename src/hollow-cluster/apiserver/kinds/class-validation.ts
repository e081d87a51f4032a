/** StorageClasses and RuntimeClasses (upstream `pkg/apis/storage/validation`, `pkg/apis/node/validation`). */
import { canonicalJson } from '../../../machinery/api/json-map.ts';
import { duplicateField, type FieldError, invalidField, requiredField } from '../api-errors/field-errors.ts';
import { mapAt, mapsAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { checkKept, checkLabels, checkOneOf } from '../validation/field-checks.ts';
import { findRepeated } from '../validation/find-repeated.ts';
import { explainLabel, explainQualifiedName } from '../validation/formats.ts';
import { checkResources } from '../validation/resources.ts';
import { checkTolerations } from '../validation/scheduling.ts';

export function validateStorageClass(draft: Draft): readonly FieldError[] {
  const provisioner = textAt(draft, 'provisioner');
  const problems = explainQualifiedName(provisioner.toLowerCase());
  const ofProvisioner = problems.map((message) => invalidField('provisioner', provisioner.toLowerCase(), message));
  const parameters = Object.keys(mapAt(draft, 'parameters'));
  return [
    ...(provisioner === '' ? [requiredField('provisioner')] : ofProvisioner),
    ...(parameters.includes('') ? [invalidField('parameters', '', 'field can not be empty.')] : []),
    ...checkOneOf(draft, 'reclaimPolicy', '', ['Delete', 'Retain']),
    ...checkOneOf(draft, 'volumeBindingMode', '', ['Immediate', 'WaitForFirstConsumer']),
  ];
}

export function validateStorageClassChange(draft: Draft, stored: Draft): readonly FieldError[] {
  return checkKept([draft, stored], ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'], '');
}

export function validateRuntimeClass(draft: Draft): readonly FieldError[] {
  const handler = textAt(draft, 'handler');
  const ofHandler = explainLabel(handler).map((message) => invalidField('handler', handler, message));
  const scheduling = mapAt(draft, 'scheduling');
  const tolerations = mapsAt(scheduling, 'tolerations');
  const path = 'scheduling.tolerations';
  const repeated = findRepeated(tolerations.map(canonicalJson));
  return [
    ...(handler === '' ? [requiredField('handler')] : ofHandler),
    ...checkResources({ limits: mapAt(draft, 'overhead')['podFixed'] }, 'overhead'),
    ...checkLabels('scheduling.nodeSelector', scheduling['nodeSelector']),
    ...checkTolerations(tolerations, path),
    ...tolerations.flatMap((toleration, index) =>
      repeated.has(index) ? [duplicateField(`${path}[${index}]`, toleration)] : [],
    ),
  ];
}

export function validateRuntimeClassChange(draft: Draft, stored: Draft): readonly FieldError[] {
  return checkKept([draft, stored], ['handler'], '');
}
