import { ownValue } from './json-map.ts';
import type { Status, StatusCause } from './meta.ts';
import { type ResourceName, resources } from './resources.ts';

/**
 * Why a request to the API server failed, as a closed set. Callers decide on the reason, never on message text.
 * `unavailable` is a response or failure that means "not now" (5xx, a lost connection); `timeout` means that the outcome
 * of a write is unknown.
 */
export type ApiReason =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'unsupported-media-type'
  | 'already-exists'
  | 'conflict'
  | 'expired'
  | 'invalid'
  | 'too-large'
  | 'too-many-requests'
  | 'too-large-resource-version'
  | 'timeout'
  | 'unavailable'
  | 'internal'
  | 'aborted';

export interface ApiErrorInit {
  readonly reason: ApiReason;
  readonly message: string;
  /** HTTP status code; 0 if no response arrived. */
  readonly code?: number;
  readonly retryAfterMs?: number | undefined;
  readonly status?: Status | undefined;
  readonly cause?: unknown;
}

/** The object that a Status refers to. Only the fields that the Status contains. */
interface StatusObject {
  readonly name?: string;
  /** The plural resource name (`pods`); for some conflicts the kind (`Pod`). */
  readonly kind?: string;
  readonly group?: string;
}

/** A failed request. Carries the server's Status if the response contained one. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: ApiReason;
  readonly code: number;
  /** Retry-After of the response, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly status: Status | undefined;
  /** False: the response was not a Kubernetes Status (a proxy's error page), or there was no response. */
  readonly isStatus: boolean;
  /** The object that the Status refers to; undefined without a Status or if it names no object. */
  readonly details: StatusObject | undefined;

  constructor(init: ApiErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.reason = init.reason;
    this.code = init.code ?? 0;
    this.retryAfterMs = init.retryAfterMs;
    this.status = init.status;
    this.isStatus = init.status !== undefined;
    this.details = statusObject(init.status);
  }
}

/**
 * True if a Status from the API server names this object. A 404 or 409 that does not name it may come from a proxy, an
 * admission webhook or another object (the namespace, for instance) and says nothing about this one.
 */
export function namesObject({ details }: ApiError, resource: ResourceName, name: string): boolean {
  const { plural, kind, group } = resources[resource];
  if (details?.name !== name) return false;
  if (details.kind !== undefined && details.kind !== plural && details.kind !== kind) return false;
  return details.group === undefined || details.group === group;
}

/**
 * True if the API server reports that this object does not exist: its Status has the reason NotFound and names the object.
 */
export function isObjectMissing(error: ApiError, resource: ResourceName, name: string): boolean {
  return error.status?.reason === 'NotFound' && namesObject(error, resource, name);
}

/** Why a live read of one object did not return it. `unreadable`: no response, or none that refers to this object. */
export type ReadFailure = 'gone' | 'not-permitted' | 'unreadable';

/** Rethrows an error that is not an {@link ApiError}: a bug, not a response of the API server. */
export function readFailureOf(error: unknown, resource: ResourceName, name: string): ReadFailure {
  if (!(error instanceof ApiError)) throw error;
  if (error.reason === 'forbidden' || error.reason === 'unauthorized') return 'not-permitted';
  return isObjectMissing(error, resource, name) ? 'gone' : 'unreadable';
}

/** A Status arrives from the network: a field of the wrong type is treated as absent. */
function statusObject(status: Status | undefined): StatusObject | undefined {
  const details: unknown = status?.details;
  if (typeof details !== 'object' || details === null) return undefined;
  const fields = ['name', 'kind', 'group'] as const;
  const texts = fields.flatMap((field) => {
    const value: unknown = Reflect.get(details, field);
    return typeof value === 'string' && value !== '' ? [[field, value] as const] : [];
  });
  return texts.length === 0 ? undefined : Object.fromEntries(texts);
}

const reasonByStatusReason: Readonly<Record<string, ApiReason>> = {
  BadRequest: 'bad-request',
  Unauthorized: 'unauthorized',
  Forbidden: 'forbidden',
  NotFound: 'not-found',
  MethodNotAllowed: 'method-not-allowed',
  NotAcceptable: 'not-acceptable',
  UnsupportedMediaType: 'unsupported-media-type',
  AlreadyExists: 'already-exists',
  Conflict: 'conflict',
  Gone: 'expired',
  Expired: 'expired',
  Invalid: 'invalid',
  RequestEntityTooLarge: 'too-large',
  TooManyRequests: 'too-many-requests',
  Timeout: 'timeout',
  ServerTimeout: 'timeout',
  ServiceUnavailable: 'unavailable',
  InternalError: 'internal',
};

const reasonByCode: Readonly<Record<number, ApiReason>> = {
  400: 'bad-request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  406: 'not-acceptable',
  409: 'conflict',
  410: 'expired',
  413: 'too-large',
  415: 'unsupported-media-type',
  422: 'invalid',
  429: 'too-many-requests',
  500: 'internal',
  503: 'unavailable',
  504: 'timeout',
};

/** The reason for an HTTP response: by the Status's reason, else by the code (client-go `errors.ReasonAndCodeForError`). */
export function reasonFor(code: number, status: Status | undefined): ApiReason {
  if (hasCause(status, 'ResourceVersionTooLarge')) return 'too-large-resource-version';
  const named = status?.reason === undefined ? undefined : ownValue(reasonByStatusReason, status.reason);
  return named ?? reasonByCode[code] ?? (code >= 500 ? 'unavailable' : 'bad-request');
}

function hasCause(status: Status | undefined, reason: string): boolean {
  const causes: unknown = status?.details?.causes;
  return Array.isArray(causes) && causes.some((cause: StatusCause | null) => cause?.reason === reason);
}

/** The reason of any thrown value; `internal` if it is not an {@link ApiError}. */
export function apiReason(error: unknown): ApiReason {
  return error instanceof ApiError ? error.reason : 'internal';
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
