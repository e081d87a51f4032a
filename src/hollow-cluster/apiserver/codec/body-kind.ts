/** The kind and version that a body names (upstream `serializer/json`, `runtime.NewMissingKindErr`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { badRequest } from '../api-errors/api-errors.ts';
import { apiVersionOf, type GroupVersionKind } from '../resources.ts';
import { isMap, textAt } from '../../../machinery/api/select-field.ts';

/** Another version that kube-apiserver accepts as well. */
const alsoAccepted = 'policy/v1beta1 Eviction';

/** Why kind and version cannot be read from a body; undefined if they can. */
export function findTypeProblem(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (!isMap(value)) return 'must be an object';
  const wrong = ['apiVersion', 'kind'].find((field) => typeof (ownValue(value, field) ?? '') !== 'string');
  return wrong === undefined ? undefined : `${wrong}: must be a string`;
}

/** Throws a 400 ApiError unless the body is of the expected kind; a body that names none is. */
export function assertBodyKind(value: Readonly<Record<string, unknown>>, expected: GroupVersionKind): void {
  const apiVersion = textAt(value, 'apiVersion') || apiVersionOf(expected);
  const kind = textAt(value, 'kind') || expected.kind;
  const given = `${apiVersion} ${kind}`;
  const wanted = `${apiVersionOf(expected)} ${expected.kind}`;
  if (given === wanted || (kind === expected.kind && given === alsoAccepted)) return;
  throw badRequest(`${kind} in version "${apiVersion}" cannot be handled as a ${expected.kind}: must be ${wanted}`);
}
