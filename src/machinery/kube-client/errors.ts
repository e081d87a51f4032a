import { ApiError, type ApiReason, reasonFor } from '../api/api-error.ts';
import type { Status } from '../api/meta.ts';
import { cutText } from '../api/limits.ts';
import { retryAfterMsMax } from '../supervision/request-retry.ts';

/** Characters of a message of the API server that are kept: admission webhooks write them too. */
const messageCharsMax = 1_000;

/** Request as an error names it: `PATCH /api/v1/nodes/n1`. */
interface RequestLine {
  readonly method: string;
  readonly path: string;
}

interface ErrorResponse {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** The Status of a response that is not JSON. */
  readonly status?: Status | undefined;
}

/**
 * The error of a response outside 2xx. A Status decides; without one (a proxy, a plain text 429) the status code decides,
 * and a 409 to a POST means `already-exists` (apimachinery `NewGenericServerResponse`).
 */
export function errorFromResponse(request: RequestLine, response: ErrorResponse, wallMs: number): ApiError {
  const { code, headers, body } = response;
  const status = boundedStatus(response.status ?? parseStatus(body));
  const isUnnamed = status?.reason === undefined;
  const reason = isUnnamed && code === 409 && request.method === 'POST' ? 'already-exists' : reasonFor(code, status);
  const detail = status?.message ?? cutText(body.trim(), messageCharsMax);
  const requestedMs = parseRetryAfter(single(headers['retry-after']), wallMs) ?? retryAfterOf(status);
  // A longer delay is caused by a wrong clock.
  const retryAfterMs = requestedMs === undefined ? undefined : Math.min(requestedMs, retryAfterMsMax);
  return new ApiError({
    reason,
    code,
    status,
    retryAfterMs,
    message: `${lineOf(request)}: ${code} ${detail}`.trimEnd(),
  });
}

function boundedStatus(status: Status | undefined): Status | undefined {
  const message: unknown = status?.message;
  return typeof message === 'string' ? { ...status, message: cutText(message, messageCharsMax) } : status;
}

/** Seconds or an HTTP date, to milliseconds from now; undefined if missing or malformed. */
export function parseRetryAfter(text: string | undefined, wallMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\s*[0-9]+\s*$/.test(text)) return Number(text) * 1_000;
  const untilMs = Date.parse(text);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs - wallMs);
}

/** `details.retryAfterSeconds` in milliseconds; undefined if it is not a positive number. */
function retryAfterOf(status: Status | undefined): number | undefined {
  const seconds: unknown = status?.details?.retryAfterSeconds;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : undefined;
}

interface Failure {
  readonly error: unknown;
  /** The caller aborted the request. */
  readonly aborted: boolean;
  /** The attempt timed out. */
  readonly overdue: boolean;
  /** No connection was established, so the request cannot have arrived. */
  readonly unsent: boolean;
}

/**
 * The error of a request without a response. A failed read is always `unavailable`; a failed write is `unavailable` only
 * if it was certainly not sent, else its outcome is unknown and the reason is `timeout`.
 */
export function errorFromFailure(request: RequestLine, failure: Failure): ApiError {
  const reason = failureReason(request, failure);
  return new ApiError({
    reason,
    message: `${lineOf(request)}: ${failureText(failure)}`,
    cause: failure.error,
  });
}

function failureReason(request: RequestLine, { aborted, overdue, unsent }: Failure): ApiReason {
  if (aborted) return 'aborted';
  if (unsent) return 'unavailable';
  if (overdue) return 'timeout';
  return request.method === 'GET' ? 'unavailable' : 'timeout';
}

function failureText({ error, aborted, overdue }: Failure): string {
  if (aborted) return 'aborted by the caller';
  if (overdue) return 'no complete response before the timeout';
  return error instanceof Error ? `${codeOf(error) ?? error.name} ${error.message}`.trimEnd() : String(error);
}

/** A system or library error code, such as `ECONNREFUSED`. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function lineOf({ method, path }: RequestLine): string {
  return `${method} ${path}`;
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}

function parseStatus(body: string): Status | undefined {
  if (!body.startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    return isStatus(parsed) ? parsed : undefined;
  } catch {
    // Not JSON: the status code decides, and the text goes into the message.
    return undefined;
  }
}

function isStatus(value: unknown): value is Status {
  if (typeof value !== 'object' || value === null || !('kind' in value) || value.kind !== 'Status') return false;
  return ['message', 'reason'].every((field) => ['undefined', 'string'].includes(typeof Reflect.get(value, field)));
}
