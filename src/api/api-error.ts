import type { Status, StatusCause } from './meta.ts';

/**
 * Why a request to the API server did not succeed, as a closed set. Everything decides on this word, nothing on message
 * text. `unavailable` is any answer or failure that says "not now" (5xx, a lost connection); `timeout` means that we do
 * not know whether a write was carried out.
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
  /** HTTP status code; 0 where no answer arrived. */
  readonly code?: number;
  readonly retryAfterMs?: number | undefined;
  readonly status?: Status | undefined;
  readonly cause?: unknown;
}

/** A request that failed. Carries the server's Status where it sent one. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: ApiReason;
  readonly code: number;
  /** What the server asked for with Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly status: Status | undefined;

  constructor(init: ApiErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.reason = init.reason;
    this.code = init.code ?? 0;
    this.retryAfterMs = init.retryAfterMs;
    this.status = init.status;
  }
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

/** The reason for an HTTP answer: the Status's word first, the code second (client-go `errors.ReasonAndCodeForError`). */
export function reasonFor(code: number, status: Status | undefined): ApiReason {
  if (hasCause(status, 'ResourceVersionTooLarge')) return 'too-large-resource-version';
  const named = status?.reason === undefined ? undefined : reasonByStatusReason[status.reason];
  return named ?? reasonByCode[code] ?? (code >= 500 ? 'unavailable' : 'bad-request');
}

function hasCause(status: Status | undefined, reason: string): boolean {
  return (status?.details?.causes ?? []).some((cause: StatusCause) => cause.reason === reason);
}

/** The reason of whatever was thrown; what is not an {@link ApiError} counts as `internal`. */
export function apiReason(error: unknown): ApiReason {
  return error instanceof ApiError ? error.reason : 'internal';
}
