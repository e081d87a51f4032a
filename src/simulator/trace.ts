import type { LogFields, Logger } from '../machinery/ports/logger.ts';
import type { Timeline } from './time/timeline.ts';

const noLog = (): void => undefined;
const silent: Logger = { debug: noLog, info: noLog, warn: noLog, error: noLog, child: () => silent };

/** Occurrences of a run, line by line: the same seed gives the same lines. */
export class Trace {
  readonly #write: ((line: string) => void) | undefined;
  #timeline: Timeline | undefined;

  /** `write` receives every line; without it no line is made. */
  constructor(write?: (line: string) => void) {
    this.#write = write;
  }

  /** Lines are stamped with the virtual time from now on. */
  follow(timeline: Timeline): void {
    this.#timeline = timeline;
  }

  /** `describe` is called only if lines are wanted. */
  add(source: string, describe: () => string): void {
    if (this.#write === undefined) return;
    const seconds = ((this.#timeline?.nowMs ?? 0) / 1_000).toFixed(3);
    this.#write(`${seconds.padStart(9)} ${source} ${describe()}`);
  }

  /** The log of a process. */
  logger(source: string): Logger {
    if (this.#write === undefined) return silent;
    const log =
      (level: string) =>
      (fields: LogFields, message: string): void =>
        this.add(source, () => `${level} ${message} ${formatFields(fields)}`);
    const logger: Logger = {
      debug: noLog,
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
