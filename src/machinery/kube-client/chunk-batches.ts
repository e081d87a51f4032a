import { finished, type Readable } from 'node:stream';

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
