import { finished, type Readable } from 'node:stream';

/** A turn is not longer than that many pieces. */
const piecesMax = 512;

/**
 * The bytes of a body, each time all that has arrived, in the pieces in which it came. A server that sends a hundred small
 * pieces together costs one turn and not a hundred. Throws what breaks the body; lets go of it however the reading ends.
 */
export async function* arrivals(body: Readable): AsyncGenerator<readonly Buffer[]> {
  const state = new BodyState(body);
  try {
    for (;;) {
      const pieces = piecesOf(body);
      if (pieces.length > 0) yield pieces;
      else if (state.ended) return;
      else await state.change();
    }
  } finally {
    state.release();
    body.destroy();
  }
}

function piecesOf(body: Readable): readonly Buffer[] {
  const pieces: Buffer[] = [];
  while (pieces.length < piecesMax) {
    const piece: Buffer | null = body.read();
    if (piece === null) break;
    pieces.push(piece);
  }
  return pieces;
}

/** What a body tells: that there is more, that it has ended, or that it broke. */
class BodyState {
  readonly #body: Readable;
  readonly #forget: () => void;
  #wake: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;
  ended = false;

  constructor(body: Readable) {
    this.#body = body;
    body.on('readable', this.#changed);
    this.#forget = finished(body, { writable: false }, (error) => {
      if (error === null || error === undefined) this.ended = true;
      else this.#failure = { error };
      this.#changed();
    });
  }

  /** Resolves when there is something to read, or nothing more to come. Rejects with what broke the body. */
  async change(): Promise<void> {
    if (this.#failure === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  release(): void {
    this.#body.off('readable', this.#changed);
    this.#forget();
  }

  readonly #changed = (): void => {
    this.#wake?.();
  };
}
