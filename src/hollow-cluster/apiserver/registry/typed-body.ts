/** Bodies that are not stored: reviews, evictions, bindings, scales and token requests. */
import { badRequest } from '../api-errors/api-errors.ts';
import { assertBodyKind } from '../codec/body-kind.ts';
import { toWireForm, type WireForm, WireFormError } from '../codec/wire-form.ts';
import { apiVersionOf, type GroupVersionKind } from '../resources.ts';
import { isMap, mapAt, type MutableJsonMap, textAt } from '../select-field.ts';
import { describeUnknown, type FieldValidation } from './body-reader.ts';

interface GivenBody {
  readonly value: unknown;
  /** Messages about keys that occur twice. */
  readonly repeated?: readonly string[];
}

interface TypedBody {
  /** Object without kind and apiVersion. */
  readonly object: MutableJsonMap;
  /** About its fields. */
  readonly warnings: readonly string[];
}

/** Throws a 400 ApiError for a body that is not of the expected kind, or has fields that strict validation refuses. */
export function readTypedBody(
  { value, repeated = [] }: GivenBody,
  expected: GroupVersionKind,
  validation: FieldValidation,
): TypedBody {
  if (!isMap(value)) throw badRequest('the body of the request is not an object');
  assertBodyKind(value, expected);
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = value;
  const { object, unknown } = readForm(fields, expected);
  if (validation === 'Ignore') return { object, warnings: [] };
  const problems = [...repeated, ...unknown.map(describeUnknown)];
  if (validation === 'Warn' || problems.length === 0) return { object, warnings: problems };
  throw unreadable(expected, `strict decoding error: ${problems.join(', ')}`);
}

function readForm(fields: MutableJsonMap, expected: GroupVersionKind): WireForm {
  try {
    return toWireForm(apiVersionOf(expected), expected.kind, fields);
  } catch (error) {
    if (error instanceof WireFormError) throw unreadable(expected, error.message);
    throw error;
  }
}

function unreadable({ kind, version }: GroupVersionKind, why: string): Error {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/**
 * The namespace of the request, unless the body names another one, which is a 400 ApiError; that of an object without a
 * namespace is dropped (upstream `rest.EnsureObjectNamespaceMatchesRequestNamespace`).
 */
export function alignNamespace(object: MutableJsonMap, namespace: string | undefined): void {
  const metadata = mapAt(object, 'metadata');
  const given = textAt(metadata, 'namespace');
  if (namespace === undefined) delete metadata['namespace'];
  else if (given === '') metadata['namespace'] = namespace;
  else if (given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  object['metadata'] = metadata;
}

/** Throws a 400 ApiError unless the object has the name of the URL (upstream `checkName`). */
export function assertNamed(object: MutableJsonMap, name: string): void {
  const given = textAt(object, 'metadata', 'name');
  if (given === '')
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given === name) return;
  throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}
