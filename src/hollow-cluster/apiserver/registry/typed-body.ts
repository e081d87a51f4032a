/** Bodies that are not stored: reviews, evictions, bindings, scales and token requests. */
import { badRequest } from '../api-errors/api-errors.ts';
import { assertBodyKind } from '../codec/body-kind.ts';
import type { GroupVersionKind } from '../resources.ts';
import { isMap, type MutableJsonMap } from '../../../machinery/api/select-field.ts';
import { bodyError, describeUnknown, type FieldValidation, readForm } from './body-reader.ts';

interface GivenBody {
  readonly value: unknown;
  /** Messages about keys that occur twice. */
  readonly repeated: readonly string[];
}

interface TypedBody {
  /** Object without kind and apiVersion. */
  readonly object: MutableJsonMap;
  /** About its fields. */
  readonly warnings: readonly string[];
}

/** Throws a 400 ApiError for a body that is not of the expected kind, or has fields that strict validation refuses. */
export function readTypedBody(
  { value, repeated }: GivenBody,
  expected: GroupVersionKind,
  validation: FieldValidation,
): TypedBody {
  if (!isMap(value)) throw badRequest('the body of the request is not an object');
  assertBodyKind(value, expected);
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = value;
  const { object, unknown } = readForm(fields, expected, (why) => bodyError(expected, why));
  if (validation === 'Ignore') return { object, warnings: [] };
  const problems = [...repeated, ...unknown.map(describeUnknown)];
  if (validation === 'Warn' || problems.length === 0) return { object, warnings: problems };
  throw bodyError(expected, `strict decoding error: ${problems.join(', ')}`);
}
