/** Converts a decoded request body to a draft of the stored form, and validates its kind, names and field names. */
import type { ApiError } from '../../../machinery/api/api-error.ts';
import type { Draft } from '../storage/stored-object.ts';
import { asCoreEvent } from '../kinds/event/event-forms.ts';
import { assertBodyKind } from '../codec/body-kind.ts';
import { toFormOf } from '../codec/custom-form.ts';
import { type WireForm, WireFormError } from '../codec/wire-form.ts';
import { badRequest, invalid } from '../api-errors/api-errors.ts';
import { invalidField } from '../api-errors/field-errors.ts';
import { isMap, mapAt, type MutableJsonMap, textAt } from '../../../machinery/api/select-field.ts';
import { apiVersionOf, type GroupVersionKind } from '../resources.ts';
import { areWellFormed } from '../managed-fields/manager-entry.ts';
import { isEventsV1, type Target } from './request-target.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

interface BodyOptions {
  readonly fieldValidation: FieldValidation;
  /** What is wrong with the text of the body, or of the patch that it was made of: keys that occur twice. */
  readonly problems?: readonly string[] | undefined;
}

interface ReadBody {
  /** Object without `metadata.managedFields`. */
  readonly draft: Draft;
  /** Value of `metadata.managedFields`, which may be anything. */
  readonly given: unknown;
  readonly warnings: readonly string[];
}

/** Builds the error for an invalid body: it depends on how the body was produced. */
type BuildError = (kind: GroupVersionKind, why: string) => ApiError;

/** Throws a 400 ApiError for a body that is not an object of the target's kind. */
export function readBody(
  body: unknown,
  target: Target,
  { fieldValidation: validation, problems: reported = [] }: BodyOptions,
  buildError: BuildError = bodyError,
): ReadBody {
  if (!isMap(body)) throw badRequest('the body of the request is not an object');
  assertKind(body, target, buildError);
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = body;
  const { given, metadata } = splitManagers(fields['metadata'] ?? {});
  const form = readForm({ ...fields, metadata }, target.served, (why) => buildError(target.served, why));
  const problems = validation === 'Ignore' ? [] : [...reported, ...form.unknown.map(describeUnknown)];
  if (validation === 'Strict' && problems.length > 0) {
    throw buildError(target.served, `strict decoding error: ${problems.join(', ')}`);
  }
  const draft = asDraft(form.object);
  return {
    given,
    draft: isEventsV1(target) ? asCoreEvent(draft) : draft,
    warnings: validation === 'Warn' ? problems : [],
  };
}

/** The managers of a body; what else the form of the metadata is read from has them only if something may be wrong with them. */
function splitManagers(metadata: unknown): { readonly given: unknown; readonly metadata: unknown } {
  const given = isMap(metadata) ? metadata['managedFields'] : undefined;
  if (!isMap(metadata) || !areWellFormed(given)) return { given, metadata };
  const { managedFields: _managedFields, ...others } = metadata;
  return { given, metadata: others };
}

/** The message about a field that the kind does not have. */
export function describeUnknown(path: string): string {
  return `unknown field ${JSON.stringify(path)}`;
}

/** The form of the fields of a body; throws the error that `buildError` makes of an invalid one. */
export function readForm(
  fields: MutableJsonMap,
  kind: Parameters<typeof toFormOf>[0],
  buildError: (why: string) => Error,
): WireForm {
  try {
    return toFormOf(kind, fields);
  } catch (error) {
    if (error instanceof WireFormError) throw buildError(error.message);
    throw error;
  }
}

/** The patched object exists only on the server, so the error is about the patch (upstream `patcher`). */
export function patchedObjectError(_kind: GroupVersionKind, why: string): ApiError {
  return invalid({ group: '', name: '' }, '', [invalidField('patch', 'the patched object', why)]);
}

export function bodyError({ kind, version }: GroupVersionKind, why: string): ApiError {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

function assertKind(body: MutableJsonMap, target: Target, buildError: BuildError): void {
  if (target.served.custom === undefined && buildError === bodyError) return assertBodyKind(body, target.served);
  const expected = apiVersionOf(target.served);
  const { apiVersion, kind } = body;
  if (typeof apiVersion === 'string' && apiVersion !== '' && apiVersion !== expected) {
    const why = `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`;
    throw buildError(target.served, why);
  }
  if (typeof kind === 'string' && kind !== '' && kind !== target.served.kind) {
    const why = `the kind in the data (${kind}) does not match the expected kind (${target.served.kind})`;
    throw buildError(target.served, why);
  }
}

function asDraft(object: MutableJsonMap): Draft {
  const draft: Draft = { ...object, metadata: mapAt(object, 'metadata') };
  if (draft.metadata['managedFields'] !== undefined) delete draft.metadata['managedFields'];
  if (draft.metadata['selfLink'] !== undefined) delete draft.metadata['selfLink'];
  return draft;
}

/** Throws a 400 ApiError unless the object has the name of the URL (upstream `checkName`). */
export function assertNamed(object: MutableJsonMap, name = ''): void {
  const given = textAt(object, 'metadata', 'name');
  if (given === '')
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given === name) return;
  throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

/** Throws a 400 ApiError if the body names another object than the URL; fills in names that the body omits. */
export function alignNames(draft: Draft, target: Target): void {
  const { metadata } = draft;
  if (target.name !== undefined) {
    metadata.name ??= target.name;
    assertNamed(draft, target.name);
  }
  alignNamespace(draft, target.namespace);
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
