import { finished, type Readable } from 'node:stream';
import { ApiError } from '../api/api-error.ts';
import type { WatchEvent, WatchStream } from '../ports/kube-reader.ts';
import type { WatchDecoder } from '../wire/wire-format.ts';
import { codeOf } from './errors.ts';
import { responseError } from './response-decoder.ts';

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

/** Maximum number of chunks per batch. */
const chunksMax = 512;

/**
 * Reads a body in batches of all chunks that have arrived, so that a hundred small chunks that a server sent together take
 * one iteration, not a hundred. Throws the error of the body; destroys the body however the reading ends.
 */
export async function* chunkBatches(body: Readable): AsyncGenerator<readonly Buffer[]> {
  const state = new BodyState(body);
  try {
    for (;;) {
      const chunks = readChunks(body);
      if (chunks.length > 0) yield chunks;
      else if (state.ended) return;
      else await state.change();
    }
  } finally {
    state.release();
    body.destroy();
  }
}

function readChunks(body: Readable): readonly Buffer[] {
  const chunks: Buffer[] = [];
  while (chunks.length < chunksMax) {
    const chunk: Buffer | null = body.read();
    if (chunk === null) break;
    chunks.push(chunk);
  }
  return chunks;
}

/** The state of a body: readable, ended, or failed. */
class BodyState {
  readonly #body: Readable;
  readonly #stopTracking: () => void;
  #wake: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;
  ended = false;

  constructor(body: Readable) {
    this.#body = body;
    body.on('readable', this.#changed);
    this.#stopTracking = finished(body, { writable: false }, (error) => {
      if (error === null || error === undefined) this.ended = true;
      else this.#failure = { error };
      this.#changed();
    });
  }

  /** Resolves when data is readable or the body has ended. Rejects with the body's error. */
  async change(): Promise<void> {
    if (this.#failure === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  release(): void {
    this.#body.off('readable', this.#changed);
    this.#stopTracking();
  }

  readonly #changed = (): void => {
    this.#wake?.();
  };
}
