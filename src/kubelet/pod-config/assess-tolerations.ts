import type { FieldReader } from '../../api/field-reader.ts';
import type { JsonMap } from '../../api/json-map.ts';
import { isLabelValue, isQualifiedName } from '../../api/names.ts';

const effects = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const operators = ['', 'Equal', 'Exists'];

export function assessTolerations(fields: FieldReader, value: unknown): void {
  for (const [index, toleration] of fields.items<JsonMap>('spec.tolerations', value, []).entries()) {
    assessToleration(fields, `spec.tolerations[${index}]`, toleration);
  }
}

function assessToleration(fields: FieldReader, path: string, toleration: JsonMap): void {
  const key = fields.text(`${path}.key`, toleration['key']);
  const operator = fields.text(`${path}.operator`, toleration['operator']);
  const effect = fields.text(`${path}.effect`, toleration['effect']);
  const seconds = fields.whole(`${path}.tolerationSeconds`, toleration['tolerationSeconds']);
  if (key !== '' && !isQualifiedName(key)) fields.refuse(`${path}.key`, key, "a taint's key");
  if (!operators.includes(operator)) fields.refuse(`${path}.operator`, operator, "'Equal', 'Exists'");
  if (key === '' && operator !== 'Exists') fields.refuse(`${path}.operator`, operator, "'Exists', as there is no key");
  if (!effects.includes(effect)) fields.refuse(`${path}.effect`, effect, effects.filter(Boolean).join(', '));
  if (seconds !== undefined && effect !== 'NoExecute')
    fields.refuse(`${path}.effect`, effect, "'NoExecute', as tolerationSeconds is set");
  assessValue(fields, `${path}.value`, toleration['value'], operator);
}

function assessValue(fields: FieldReader, path: string, given: unknown, operator: string): void {
  const value = fields.text(path, given);
  if (operator === 'Exists' && value !== '') fields.refuse(path, value, "nothing, as the operator is 'Exists'");
  else if (!isLabelValue(value)) fields.refuse(path, value, "a taint's value");
}
