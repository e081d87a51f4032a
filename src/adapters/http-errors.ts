import { ApiError, type ApiReason, reasonFor } from '../api/api-error.ts';
import type { Status } from '../api/meta.ts';
import { retryAfterMsMax } from './http-retry.ts';

const messageCharsMax = 1_000;

/** How a request is told in an error: `PATCH /api/v1/nodes/n1`. */
export interface RequestLine {
  readonly method: string;
  readonly path: string;
}

export interface Refusal {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** The Status in it, where it is none of JSON. */
  readonly status?: Status | undefined;
}

/**
 * The error for an answer outside 2xx. A Status is taken at its word; anything else (a proxy, a plain text 429) is
 * judged by its code, and a 409 to a POST means that the name is taken (apimachinery `NewGenericServerResponse`).
 */
export function errorFromResponse(request: RequestLine, refusal: Refusal, wallMs: number): ApiError {
  const { code, headers, body } = refusal;
  const status = refusal.status ?? parseStatus(body);
  const named = status?.reason === undefined;
  const reason = named && code === 409 && request.method === 'POST' ? 'already-exists' : reasonFor(code, status);
  const said = status?.message ?? body.trim().slice(0, messageCharsMax);
  const askedMs = parseRetryAfter(single(headers['retry-after']), wallMs);
  // Whoever waits for longer than that waits for a clock that is wrong.
  const retryAfterMs = askedMs === undefined ? undefined : Math.min(askedMs, retryAfterMsMax);
  return new ApiError({ reason, code, status, retryAfterMs, message: `${lineOf(request)}: ${code} ${said}`.trimEnd() });
}

/** Seconds or an HTTP date, to milliseconds from now; undefined where it is missing or neither. */
export function parseRetryAfter(text: string | undefined, wallMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\s*[0-9]+\s*$/.test(text)) return Number(text) * 1_000;
  const untilMs = Date.parse(text);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs - wallMs);
}

export interface Failure {
  readonly error: unknown;
  /** The caller gave up. */
  readonly aborted: boolean;
  /** The time for one attempt was up. */
  readonly overdue: boolean;
  /** The connection was never there, so the request cannot have arrived. */
  readonly unsent: boolean;
}

/**
 * The error for a request without an answer. A read that failed is `unavailable`, whatever happened to it; a write is
 * only where it surely never left, else its fate is unknown and the word is `timeout`.
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
  if (aborted) return 'given up by the caller';
  if (overdue) return 'no complete answer in time';
  return error instanceof Error ? `${codeOf(error) ?? error.name} ${error.message}`.trimEnd() : String(error);
}

/** A system's or library's error code, as `ECONNREFUSED`. */
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
    // Not JSON after all: then the code alone says what happened, and the text goes into the message.
    return undefined;
  }
}

function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}
