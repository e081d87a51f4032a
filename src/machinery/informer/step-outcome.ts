/** What an answer or a failure means as the end of a step of the reflector. */
import { ApiError, type ApiReason, messageOf } from '../api/api-error.ts';
import type { StepEnd } from './decide-next-step.ts';
import type { ErrorEvent } from './watch-handler.ts';

/** Outcome of a step, with details for the log and the delay. */
export interface StepOutcome {
  readonly end: StepEnd;
  readonly message?: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export function errorOutcome({ reason, retryAfterMs, message }: ErrorEvent): StepOutcome {
  return { end: { kind: 'error-event', reason }, retryAfterMs, message };
}

export function requestFailure(error: unknown, laterPage: boolean): StepOutcome {
  if (!(error instanceof ApiError)) return { end: { kind: 'undecodable' }, message: messageOf(error), cause: error };
  const { reason, retryAfterMs, message } = error;
  return { end: { kind: 'refused', reason, laterPage }, retryAfterMs, message };
}

/** A request without an answer: the server may have received it, and worked on since then. */
export function isSent(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'timeout';
}

const lostReasons: readonly ApiReason[] = ['unavailable', 'timeout', 'aborted'];

/** No answer came to the attempt: an own answer may be what restored contact, and then shows that delays are needed. */
export function isUnanswered(end: StepEnd): boolean {
  return end.kind === 'refused' && !end.laterPage && lostReasons.includes(end.reason);
}

/** Undefined if an open stream broke in a way that leaves the store valid. */
export function streamFailure(error: unknown, opened: boolean, tripped: boolean): StepOutcome | undefined {
  if (tripped) return undefined;
  if (!opened) return requestFailure(error, false);
  const lost = error instanceof ApiError && lostReasons.includes(error.reason);
  return lost ? undefined : { end: { kind: 'undecodable' }, message: messageOf(error), cause: error };
}

/** Value of a metric label: the set of values is bounded. */
export function describeEnd(end: StepEnd): string {
  switch (end.kind) {
    case 'listed':
    case 'undecodable':
      return end.kind;
    case 'ended':
      return end.by === 'server' ? 'brief' : end.by;
    case 'refused':
    case 'error-event':
      return end.reason;
  }
}
