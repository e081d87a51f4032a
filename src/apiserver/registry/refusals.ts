/**
 * Every way in which the server says no, as upstream says it (`apimachinery/pkg/api/errors`): clients branch on code,
 * reason and causes, people read the message.
 */
import { ApiError, reasonFor } from '../../api/api-error.ts';
import type { ListMeta, Status, StatusCause } from '../../api/meta.ts';

type Details = NonNullable<Status['details']>;

/** How messages and details name a resource or a kind. */
export interface GroupName {
  readonly group: string;
  /** Plural for a resource, the kind for a kind. */
  readonly name: string;
}

/** Seconds that a client is asked to wait for a version that does not exist yet. */
const futureRetrySeconds = 1;

export function refusal(code: number, reason: string, message: string, details?: Details): ApiError {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
  return new ApiError({ reason: reasonFor(code, status), message, code, status });
}

export function qualified({ group, name }: GroupName): string {
  return group === '' ? name : `${name}.${group}`;
}

function about(resource: GroupName, name: string, causes?: readonly StatusCause[]): Details {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    ...(resource.name === '' ? {} : { kind: resource.name }),
    ...(causes === undefined ? {} : { causes }),
  };
}

export function notFound(resource: GroupName, name: string): ApiError {
  return refusal(404, 'NotFound', `${qualified(resource)} "${name}" not found`, about(resource, name));
}

export function alreadyExists(resource: GroupName, name: string, terminating: boolean): ApiError {
  const prefix = terminating ? 'object is being deleted: ' : '';
  return refusal(
    409,
    'AlreadyExists',
    `${prefix}${qualified(resource)} "${name}" already exists`,
    about(resource, name),
  );
}

/** Eight random names were all taken. */
export function noUniqueName(resource: GroupName, name: string): ApiError {
  const message = `${qualified(resource)} "${name}" already exists, the server was not able to generate a unique name for the object`;
  return refusal(409, 'AlreadyExists', message, { ...about(resource, name), retryAfterSeconds: 1 });
}

export function conflict(resource: GroupName, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return refusal(409, 'Conflict', message, about(resource, name));
}

export function modifiedMeanwhile(resource: GroupName, name: string): ApiError {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(resource, name, why);
}

export function badRequest(message: string): ApiError {
  return refusal(400, 'BadRequest', message);
}

export function forbidden(resource: GroupName, name: string, why: string, causes?: readonly StatusCause[]): ApiError {
  return refusal(
    403,
    'Forbidden',
    `${qualified(resource)} "${name}" is forbidden: ${why}`,
    about(resource, name, causes),
  );
}

export function methodNotAllowed(): ApiError {
  return refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

export function notImplemented(what: string): ApiError {
  return refusal(501, 'NotImplemented', `${what} is not implemented by the embedded API server`, {});
}

export function pathNotFound(): ApiError {
  return refusal(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function expired(message: string): ApiError {
  return refusal(410, 'Expired', message);
}

/** A page whose snapshot is gone; the token in it goes on in the present (upstream `storage/etcd3.handleExpired...`). */
export function continueExpired(token: string): ApiError {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  const error = expired(message);
  const status: Status & { metadata: ListMeta } = { ...error.status, metadata: { continue: token } };
  return new ApiError({ reason: error.reason, message, code: error.code, status });
}

/** A version nobody has written yet, after waiting for it (upstream `storage.NewTooLargeResourceVersionError`). */
export function versionFromTheFuture(wanted: number, current: number): ApiError {
  return refusal(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: futureRetrySeconds,
  });
}

/** The body of 410, sent as an ERROR event: the watch itself was accepted (upstream `cacher.newErrWatcher`). */
export function watchTooOld(wanted: number, floor: number): ApiError {
  return expired(`too old resource version: ${wanted} (${floor})`);
}

export type FieldProblem =
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid';

const problemWords: Readonly<Record<FieldProblem, string>> = {
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTypeInvalid: 'Invalid value',
};

const withoutValue: ReadonlySet<FieldProblem> = new Set([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
]);

/** One thing that is wrong with one field (upstream `field.Error`). */
export interface FieldError {
  readonly field: string;
  readonly problem: FieldProblem;
  readonly value?: unknown;
  readonly detail?: string;
}

function sentence({ problem, value, detail }: FieldError): string {
  const shown = withoutValue.has(problem)
    ? ''
    : `: ${typeof value === 'string' ? `"${value}"` : JSON.stringify(value)}`;
  return `${problemWords[problem]}${shown}${detail === undefined || detail === '' ? '' : `: ${detail}`}`;
}

/** 422 with one cause for each field (upstream `errors.NewInvalid`). */
export function invalid(kind: GroupName, name: string, errors: readonly FieldError[]): ApiError {
  const causes = errors.map((error) => ({ reason: error.problem, message: sentence(error), field: error.field }));
  const told = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const why = told.length === 1 ? told[0] : `[${told.join(', ')}]`;
  return refusal(422, 'Invalid', `${qualified(kind)} "${name}" is invalid: ${why}`, about(kind, name, causes));
}

/** Options of a list, watch or write that contradict each other. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): ApiError {
  return invalid({ group: 'meta.k8s.io', name: kind }, '', errors);
}
