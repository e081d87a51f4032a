import { readFileSync } from 'node:fs';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';

/** A token expires this long after it was read (client-go `NewCachedFileTokenSource`)... */
const tokenLifeMs = 60_000;
/** ...less this, so that no request is sent with a token that expires in flight. */
const tokenLeewayMs = 10_000;

interface TokenFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/**
 * A bearer token file that is rotated while the process runs, as the kubelet does with service account tokens. Read again
 * every 50 s, and at once when the server rejects it. While the file cannot be read or is empty the last token is kept: it
 * is more likely to be accepted than none.
 */
export class TokenFile {
  readonly #options: TokenFileOptions;
  #token: string | undefined;
  #freshUntilMs = -Infinity;
  #readFailed = false;

  constructor(options: TokenFileOptions) {
    this.#options = options;
  }

  /** Throws read errors, and for an empty file, if no token was ever read. */
  current(): string {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#token !== undefined && nowMs < this.#freshUntilMs) return this.#token;
    try {
      this.#token = readToken(this.#options.path);
      this.#freshUntilMs = nowMs + tokenLifeMs - tokenLeewayMs;
      this.#readFailed = false;
      return this.#token;
    } catch (error) {
      if (this.#token === undefined) throw error;
      this.#logReadFailure(error);
      return this.#token;
    }
  }

  /** The server rejected this token. Unless it was replaced meanwhile, the file is read again. */
  refused(token: string): void {
    if (token === this.#token) this.#freshUntilMs = -Infinity;
  }

  /** Logged once per outage of the file. */
  #logReadFailure(error: unknown): void {
    const { path, logger } = this.#options;
    if (!this.#readFailed) logger?.warn({ path, err: error }, 'failed to reload token; keeping the old one');
    this.#readFailed = true;
  }
}

function readToken(path: string): string {
  const token = readFileSync(path, 'utf8').trim();
  if (token === '') throw new Error(`${path} is empty`);
  return token;
}
