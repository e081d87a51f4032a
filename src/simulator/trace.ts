import type { LogFields, Logger } from '../machinery/ports/logger.ts';
import type { Timeline } from './time/timeline.ts';

/** Lines kept for the report of a violation. */
const recentMax = 4_000;

/** Occurrences of a run, line by line: the same seed gives the same lines. */
export class Trace {
  readonly #write: ((line: string) => void) | undefined;
  #recent: string[] = [];
  #timeline: Timeline | undefined;

  /** `write` receives every line; without it only the last ones are kept. */
  constructor(write?: (line: string) => void) {
    this.#write = write;
  }

  /** Lines are stamped with the virtual time from now on. */
  follow(timeline: Timeline): void {
    this.#timeline = timeline;
  }

  add(source: string, text: string): void {
    const seconds = ((this.#timeline?.nowMs ?? 0) / 1_000).toFixed(3);
    const line = `${seconds.padStart(9)} ${source} ${text}`;
    this.#write?.(line);
    this.#recent.push(line);
    if (this.#recent.length > recentMax) this.#recent = this.#recent.slice(-recentMax / 2);
  }

  /** The last lines that mention the text; all if it is empty. */
  last(count: number, about = ''): readonly string[] {
    return this.#recent.filter((line) => line.includes(about)).slice(-count);
  }

  /** The log of a process. */
  logger(source: string): Logger {
    const log =
      (level: string) =>
      (fields: LogFields, message: string): void =>
        this.add(source, `${level} ${message} ${formatFields(fields)}`);
    const logger: Logger = {
      debug: () => undefined,
      info: log('info'),
      warn: log('warn'),
      error: log('error'),
      child: () => logger,
    };
    return logger;
  }
}

function formatFields(fields: LogFields): string {
  const { err, error, ...rest } = fields;
  const cause = err ?? error;
  const detail = cause instanceof Error ? ` ${cause.stack ?? cause.message}` : '';
  return `${JSON.stringify(rest)}${detail}`;
}
