import type { Logger } from '../ports/logger.ts';

/** Texts remembered. A server that makes up a new one each time must not fill the memory, nor the log. */
export const warningsMax = 1_000;

/** What the API server has to say about our requests (`Warning: 299 - "..."`): logged once for each text. */
export class HttpWarnings {
  readonly #logger: Logger;
  readonly #seen = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** `header` as it came: none, one, or several. */
  note(header: string | readonly string[] | undefined): void {
    for (const text of parseWarnings(header)) {
      if (this.#seen.has(text) || this.#seen.size >= warningsMax) continue;
      this.#seen.add(text);
      this.#logger.warn({ warning: text }, 'the API server warns');
    }
  }
}

/** The texts of code 299, which is the one that the API server uses (apimachinery `ParseWarningHeader`). */
export function parseWarnings(header: string | readonly string[] | undefined): readonly string[] {
  const joined = typeof header === 'object' ? header.join(', ') : (header ?? '');
  const texts = joined.matchAll(/(?:^|,)\s*299\s+\S+\s+"((?:[^"\\]|\\.)*)"/g);
  return [...texts].map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
}
