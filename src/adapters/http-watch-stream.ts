import type { Readable } from 'node:stream';
import { ApiError } from '../api/api-error.ts';
import type { WatchEvent, WatchStream } from '../ports/kube-reader.ts';
import { codeOf } from './http-errors.ts';
import { LineSplitter, LineTooLongError } from './http-line-splitter.ts';

export interface WatchBody {
  readonly body: Readable;
  /** Lets go of what belongs to the watch; called once, however it ends. */
  readonly release: () => void;
  /** The caller gave up. */
  readonly aborted: () => boolean;
}

/**
 * The events of a watch, as many at a time as one chunk completes. The socket is read only as fast as the batches are
 * taken. What breaks the stream is `unavailable`; a line that is no JSON is `internal`, for then something is wrong with
 * what is said and not with the way to it; a half line at the end is a broken stream and is never looked at.
 */
export async function* watchStream({ body, release, aborted }: WatchBody): WatchStream {
  const splitter = new LineSplitter();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const lines = splitter.push(chunk);
      if (lines.length > 0) yield lines.map(parseEvent);
    }
    if (splitter.begunBytes > 0) {
      throw new ApiError({ reason: 'unavailable', message: 'the watch ended in the middle of an event' });
    }
  } catch (error) {
    throw streamError(error, aborted());
  } finally {
    body.destroy();
    release();
  }
}

function parseEvent(line: Buffer): WatchEvent {
  const event: unknown = parseJson(line);
  if (isEvent(event)) return event;
  throw new ApiError({ reason: 'internal', message: 'a line of the watch is not an event' });
}

/** The frame only; which types there are, and what an object must have, is the reader's business. */
function isEvent(value: unknown): value is WatchEvent {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('object' in value)) return false;
  return typeof value.type === 'string' && typeof value.object === 'object' && value.object !== null;
}

function parseJson(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch (cause) {
    throw new ApiError({ reason: 'internal', message: 'a line of the watch is not JSON', cause });
  }
}

function streamError(error: unknown, aborted: boolean): ApiError {
  if (aborted) return new ApiError({ reason: 'aborted', message: 'the watch was given up', cause: error });
  if (error instanceof ApiError) return error;
  if (error instanceof LineTooLongError) {
    return new ApiError({ reason: 'too-large', message: error.message, cause: error });
  }
  return new ApiError({ reason: 'unavailable', message: `the watch broke off: ${codeOf(error) ?? ''}`, cause: error });
}
