import Bottleneck from 'bottleneck';
import { cutText } from '../api/limits.ts';
import type { Logger } from '../ports/logger.ts';

/** Maximum number of remembered texts: a server that creates a new text each time must not fill the memory or the log. */
const warningsMax = 1_000;
/** Maximum number of log lines per minute. */
export const warningLinesPerMinute = 20;
/** Maximum number of queued lines; a text beyond that is not remembered and may be logged when it is received again. */
export const warningsWaitingMax = 100;
const minuteMs = 60_000;

/**
 * The API server's warnings about requests (`Warning: 299 - "..."`): each text is logged once, at a bounded rate. The
 * limiter uses the wall clock, so a step of it may delay lines; no caller waits for them.
 */
export class HttpWarnings {
  readonly #logger: Logger;
  readonly #seen = new Set<string>();
  #waiting = 0;
  /** Created with the first warning: it holds a timer. */
  #limiter: Bottleneck | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** `header` as received: none, one, or several. Returns at once; lines are logged later. */
  note(header: string | readonly string[] | undefined): void {
    for (const text of parseWarnings(header)) {
      if (this.#seen.has(text) || this.#seen.size >= warningsMax || this.#waiting >= warningsWaitingMax) continue;
      this.#seen.add(text);
      void this.#log(text);
    }
  }

  /** Number of texts that are not logged again. */
  get remembered(): number {
    return this.#seen.size;
  }

  /** Drops queued lines. No timer is left when it resolves. */
  async close(): Promise<void> {
    await this.#limiter?.stop({ dropWaitingJobs: true });
    await this.#limiter?.disconnect();
  }

  async #log(text: string): Promise<void> {
    this.#limiter ??= makeLimiter();
    this.#waiting += 1;
    try {
      await this.#limiter.schedule(async () => this.#logger.warn({ warning: text }, 'warning from API server'));
    } catch {
      // Closed meanwhile: the line is dropped.
    } finally {
      this.#waiting -= 1;
    }
  }
}

function makeLimiter(): Bottleneck {
  return new Bottleneck({
    reservoir: warningLinesPerMinute,
    reservoirRefreshAmount: warningLinesPerMinute,
    reservoirRefreshInterval: minuteMs,
  });
}

/** The texts of code 299, the code that the API server uses (apimachinery `ParseWarningHeader`). */
export function parseWarnings(header: string | readonly string[] | undefined): readonly string[] {
  const joined = typeof header === 'object' ? header.join(', ') : (header ?? '');
  const texts = joined.matchAll(/(?:^|,)\s*299\s+\S+\s+"((?:[^"\\]|\\.)*)"/g);
  return [...texts].map(([, text = '']) => cutText(text.replaceAll(/\\(.)/g, '$1')));
}
