import { ApiError } from '../api/api-error.ts';

/** Throws an ApiError `internal`; `what` names the text in the message. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError({ reason: 'internal', message: `${what} is not JSON`, cause });
  }
}
