/**
 * The API errors of the server, as upstream (`apimachinery/pkg/api/errors`): clients evaluate code, reason and causes;
 * the message is for users.
 */
import { ApiError, reasonFor } from '../../../machinery/api/api-error.ts';
import type { ListMeta, Status, StatusCause } from '../../../machinery/api/meta.ts';
import type { FieldError } from './field-errors.ts';

type Details = NonNullable<Status['details']>;

/** A resource or kind in messages and details. */
export interface GroupName {
  readonly group: string;
  /** Plural for a resource, the kind for a kind. */
  readonly name: string;
}

export function statusError(code: number, reason: string, message: string, details?: Details): ApiError {
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

function qualified({ group, name }: GroupName): string {
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
  return statusError(404, 'NotFound', `${qualified(resource)} "${name}" not found`, about(resource, name));
}

export function alreadyExists(resource: GroupName, name: string, terminating: boolean): ApiError {
  const message = `${terminating ? 'object is being deleted: ' : ''}${qualified(resource)} "${name}" already exists`;
  return statusError(409, 'AlreadyExists', message, about(resource, name));
}

/** Eight random names were taken. */
export function noUniqueName(resource: GroupName, name: string): ApiError {
  const message = `${qualified(resource)} "${name}" already exists, the server was not able to generate a unique name for the object`;
  return statusError(409, 'AlreadyExists', message, { ...about(resource, name), retryAfterSeconds: 1 });
}

export function conflict(resource: GroupName, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return statusError(409, 'Conflict', message, about(resource, name));
}

export function objectModified(resource: GroupName, name: string): ApiError {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(resource, name, why);
}

export function badRequest(message: string): ApiError {
  return statusError(400, 'BadRequest', message);
}

export function forbidden(resource: GroupName, name: string, why: string, causes?: readonly StatusCause[]): ApiError {
  const subject = [qualified(resource), name === '' ? '' : `"${name}"`].filter((part) => part !== '').join(' ');
  const message = subject === '' ? `forbidden: ${why}` : `${subject} is forbidden: ${why}`;
  return statusError(403, 'Forbidden', message, about(resource, name, causes));
}

export function methodNotAllowed(): ApiError {
  return statusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

export function notImplemented(message: string): ApiError {
  return statusError(501, 'NotImplemented', message, {});
}

export function pathNotFound(): ApiError {
  return statusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function expired(message: string): ApiError {
  return statusError(410, 'Expired', message);
}

/** A page whose snapshot is gone; the token continues at the current state (upstream `storage/etcd3.handleExpired...`). */
export function continueExpired(token: string): ApiError {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  const error = expired(message);
  const status: Status & { metadata: ListMeta } = { ...error.status, metadata: { continue: token } };
  return new ApiError({ reason: error.reason, message, code: error.code, status });
}

/** A version that was not written within the wait (upstream `storage.NewTooLargeResourceVersionError`). */
export function tooLargeResourceVersion(wanted: number, current: number): ApiError {
  return statusError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** The body of 410, sent as an ERROR event: the watch itself was accepted (upstream `cacher.newErrWatcher`). */
export function watchTooOld(wanted: number, floor: number): ApiError {
  return expired(`too old resource version: ${wanted} (${floor})`);
}

/** 422 with one cause for each field (upstream `errors.NewInvalid`). */
export function invalid(kind: GroupName, name: string, errors: readonly FieldError[]): ApiError {
  // As upstream, each text once.
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))];
  const why = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return statusError(422, 'Invalid', `${qualified(kind)} "${name}" is invalid: ${why}`, about(kind, name, errors));
}

/** Conflicting or invalid options of a list, watch or write. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): ApiError {
  return invalid({ group: 'meta.k8s.io', name: kind }, '', errors);
}
