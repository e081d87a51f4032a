import { readFileSync } from 'node:fs';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';

/** A token counts as expired this long after it was read (client-go `NewCachedFileTokenSource`)... */
export const tokenLifeMs = 60_000;
/** ...less this, so that none is sent that expires on its way. */
export const tokenLeewayMs = 10_000;

export interface TokenFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/**
 * A bearer token that somebody else writes anew from time to time, as the kubelet does with a service account's. Read
 * again every 50 s, and at once when the server refuses it. While the file cannot be read or is empty the last token
 * stays: it is more likely to be accepted than none.
 */
export class TokenFile {
  readonly #options: TokenFileOptions;
  #token: string | undefined;
  #freshUntilMs = -Infinity;
  #troubled = false;

  constructor(options: TokenFileOptions) {
    this.#options = options;
  }

  /** Throws what reading throws, and for an empty file, where there never was a token. */
  current(): string {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#token !== undefined && nowMs < this.#freshUntilMs) return this.#token;
    try {
      this.#token = readToken(this.#options.path);
      this.#freshUntilMs = nowMs + tokenLifeMs - tokenLeewayMs;
      this.#troubled = false;
      return this.#token;
    } catch (error) {
      if (this.#token === undefined) throw error;
      this.#complain(error);
      return this.#token;
    }
  }

  /** The server did not accept this token. Unless another one is in use by now, the file is read again. */
  refused(token: string): void {
    if (token === this.#token) this.#freshUntilMs = -Infinity;
  }

  /** Once for each time that it breaks, however often it is asked for. */
  #complain(error: unknown): void {
    const { path, logger } = this.#options;
    if (!this.#troubled) logger?.warn({ path, err: error }, 'the token cannot be read again; the old one stays');
    this.#troubled = true;
  }
}

function readToken(path: string): string {
  const token = readFileSync(path, 'utf8').trim();
  if (token === '') throw new Error(`${path} is empty`);
  return token;
}
