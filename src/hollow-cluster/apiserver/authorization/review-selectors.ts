/** Selectors of access reviews (upstream `pkg/apis/authorization/validation`, `validateResourceAttributes`). */
import { type FieldError, forbiddenField, invalidField, requiredField } from '../api-errors/field-errors.ts';
import { isMap, mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';
import { explainQualifiedName } from '../validation/formats.ts';

/** Problems of the selectors of resource attributes, which are not considered otherwise. */
export function validateSelectors({ fieldSelector, labelSelector }: MutableJsonMap): readonly FieldError[] {
  const path = 'spec.resourceAttributes';
  return [
    ...validateSelector(fieldSelector, `${path}.fieldSelector`, (key, at) =>
      key === '' ? [requiredField(at, 'must be specified')] : [],
    ),
    ...validateSelector(labelSelector, `${path}.labelSelector`, (key, at) =>
      explainQualifiedName(key).map((detail) => invalidField(at, key, detail)),
    ),
  ];
}

/** Unknown operators are accepted: a later server may know them. */
function validateSelector(
  selector: unknown,
  path: string,
  validateKey: (key: string, path: string) => readonly FieldError[],
): readonly FieldError[] {
  if (!isMap(selector)) return [];
  const raw = textAt(selector, 'rawSelector');
  const requirements = mapsAt(selector, 'requirements');
  const missing = `when ${path} is specified, requirements or rawSelector is required`;
  const both = 'may not specified at the same time as requirements';
  return [
    ...(raw !== '' && requirements.length > 0 ? [invalidField(`${path}.rawSelector`, raw, both)] : []),
    ...(raw === '' && requirements.length === 0 ? [requiredField(`${path}.requirements`, missing)] : []),
    ...requirements.flatMap((requirement, index) => [
      ...validateValues(requirement, `${path}.requirements[${index}].values`),
      ...validateKey(textAt(requirement, 'key'), `${path}.requirements[${index}].key`),
    ]),
  ];
}

function validateValues({ operator, values }: MutableJsonMap, path: string): readonly FieldError[] {
  const isEmpty = !Array.isArray(values) || values.length === 0;
  if ((operator === 'In' || operator === 'NotIn') && isEmpty) {
    return [requiredField(path, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if ((operator !== 'Exists' && operator !== 'DoesNotExist') || isEmpty) return [];
  return [forbiddenField(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
}
