import type { Readable } from 'node:stream';
import { ApiError } from '../api/api-error.ts';
import type { WatchEvent, WatchStream } from '../ports/kube-reader.ts';
import { responseError } from './response-decoder.ts';
import { chunkBatches } from './chunk-batches.ts';
import { codeOf } from './errors.ts';
import type { WatchDecoder } from '../wire/wire-format.ts';

export interface WatchBody {
  readonly contentType: string | undefined;
  readonly body: Readable;
  /** To be called with each batch of bytes: without one for some time the watch is aborted. */
  readonly progress: () => void;
  /** Releases the resources of the watch; called once, however it ends. */
  readonly release: () => void;
  /** Whether the caller aborted it. */
  readonly aborted: () => boolean;
}

/**
 * The events of a watch, in batches that one chunk completes. The socket is read only as fast as the batches are
 * consumed. A broken stream is `unavailable`; undecodable bytes are `internal`, because the content and not the connection
 * is faulty; a partial event at the end is a broken stream and is never decoded.
 */
export async function* watchStream(
  { body, progress, release, aborted }: WatchBody,
  decoder: WatchDecoder,
): WatchStream {
  try {
    for await (const chunks of chunkBatches(body)) {
      progress();
      const events: WatchEvent[] = [];
      const failure = decode(decoder, chunks, events);
      // Events decoded before the failure are delivered.
      if (events.length > 0) yield events;
      if (failure !== undefined) throw failure.error;
    }
    if (decoder.begunBytes > 0) {
      throw new ApiError({ reason: 'unavailable', message: 'the watch ended in the middle of an event' });
    }
  } catch (error) {
    throw streamError(responseError(error), aborted());
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
  if (aborted) return new ApiError({ reason: 'aborted', message: 'the watch was aborted', cause: error });
  if (error instanceof ApiError) return error;
  return new ApiError({
    reason: 'unavailable',
    message: `the watch was interrupted: ${codeOf(error) ?? ''}`,
    cause: error,
  });
}
