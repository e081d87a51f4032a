import { ApiError } from '../api/api-error.ts';

/** Throws an ApiError `internal`; `what` is what should have been JSON. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError({ reason: 'internal', message: `${what} is not JSON`, cause });
  }
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
