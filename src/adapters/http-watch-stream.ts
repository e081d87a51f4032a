import type { Readable } from 'node:stream';
import { ApiError } from '../api/api-error.ts';
import type { WatchEvent, WatchStream } from '../ports/kube-reader.ts';
import { answerError } from './http-answers.ts';
import { arrivals } from './http-arrivals.ts';
import { codeOf } from './http-errors.ts';
import type { WatchDecoder } from './wire-format.ts';

export interface WatchBody {
  readonly contentType: string | undefined;
  readonly body: Readable;
  /** Lets go of what belongs to the watch; called once, however it ends. */
  readonly release: () => void;
  /** The caller gave up. */
  readonly aborted: () => boolean;
}

/**
 * The events of a watch, as many at a time as one chunk completes. The socket is read only as fast as the batches are
 * taken. What breaks the stream is `unavailable`; bytes that are no event are `internal`, for then something is wrong
 * with what is said and not with the way to it; half an event at the end is a broken stream and is never looked at.
 */
export async function* watchStream({ body, release, aborted }: WatchBody, decoder: WatchDecoder): WatchStream {
  try {
    for await (const chunks of arrivals(body)) {
      const events: WatchEvent[] = [];
      const failure = decode(decoder, chunks, events);
      // What came whole before it counts.
      if (events.length > 0) yield events;
      if (failure !== undefined) throw failure.error;
    }
    if (decoder.begunBytes > 0) {
      throw new ApiError({ reason: 'unavailable', message: 'the watch ended in the middle of an event' });
    }
  } catch (error) {
    throw streamError(answerError(error), aborted());
  } finally {
    body.destroy();
    release();
  }
}

function decode(
  decoder: WatchDecoder,
  chunks: readonly Buffer[],
  events: WatchEvent[],
): { readonly error: unknown } | undefined {
  try {
    for (const chunk of chunks) decoder.push(chunk, events);
    return undefined;
  } catch (error) {
    return { error };
  }
}

function streamError(error: unknown, aborted: boolean): ApiError {
  if (aborted) return new ApiError({ reason: 'aborted', message: 'the watch was given up', cause: error });
  if (error instanceof ApiError) return error;
  return new ApiError({ reason: 'unavailable', message: `the watch broke off: ${codeOf(error) ?? ''}`, cause: error });
}
