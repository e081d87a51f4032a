import pino from 'pino';
import type { LogFields, Logger } from '../ports/logger.ts';

/** Where finished lines go, each with its line end. */
export interface LogSink {
  write(line: string): void;
}

export interface PinoLoggerOptions {
  /** `auto` is text on a terminal and JSON elsewhere. */
  readonly format: 'auto' | 'text' | 'json';
  /** klog's scale: from 4 on, debug lines are written too. */
  readonly verbosity: number;
  /** Standard error when absent. */
  readonly sink?: LogSink;
}

const debugVerbosity = 4;
const standardError = 2;

/**
 * Structured lines by pino, written before the call returns: a line that explains a crash must not be lost in it.
 * JSON lines carry `ts` (RFC 3339), `level`, `msg` and the fields.
 */
export class PinoLogger implements Logger {
  readonly #pino: pino.Logger;
  /** One for a logger and all its children. */
  readonly #scale: { verbosity: number };

  private constructor(inner: pino.Logger, scale: { verbosity: number }) {
    this.#pino = inner;
    this.#scale = scale;
  }

  static create({ format, verbosity, sink }: PinoLoggerOptions): PinoLogger {
    const onTerminal = sink === undefined && process.stderr.isTTY;
    const target = sink ?? pino.destination({ dest: standardError, sync: true });
    const asText = format === 'text' || (format === 'auto' && onTerminal);
    return new PinoLogger(pino(pinoOptions, asText ? new TextLines(target, onTerminal) : target), { verbosity });
  }

  /** From here on, for this logger and all that come from the same one. */
  setVerbosity(verbosity: number): void {
    this.#scale.verbosity = verbosity;
  }

  debug(fields: LogFields, message: string): void {
    if (this.#scale.verbosity >= debugVerbosity) this.#pino.debug(fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#pino.info(fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#pino.warn(fields, message);
  }

  error(fields: LogFields, message: string): void {
    this.#pino.error(fields, message);
  }

  child(fields: LogFields): Logger {
    return new PinoLogger(this.#pino.child(fields), this.#scale);
  }
}

const pinoOptions: pino.LoggerOptions = {
  // A child of pino's keeps the level that it was made with, so the verbosity is asked for outside.
  level: 'debug',
  base: null,
  timestamp: () => `,"ts":"${new Date().toISOString()}"`,
  formatters: { level: (label) => ({ level: label }), log: withPlainErrors },
  // Ours are plain by now; pino's own would write the cause into the message.
  serializers: { err: (value: unknown) => value },
};

/** An Error has no enumerable properties: as it is, JSON would show `{}`. */
function withPlainErrors(fields: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(fields);
  if (!entries.some(([, value]) => value instanceof Error)) return fields;
  return Object.fromEntries(entries.map(([name, value]) => [name, value instanceof Error ? plainError(value) : value]));
}

function plainError(error: Error): Readonly<Record<string, unknown>> {
  const { name, message, stack, cause } = error;
  const own = Object.fromEntries(Object.entries(error).filter(([key]) => key === 'reason' || key === 'code'));
  return { name, message, ...own, ...(cause instanceof Error ? { cause: plainError(cause) } : {}), stack };
}

interface ParsedLine {
  readonly level: string;
  readonly ts: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const colours: Readonly<Record<string, string>> = { debug: '\u001b[90m', warn: '\u001b[33m', error: '\u001b[31m' };
const plain = '\u001b[0m';

/** Turns pino's JSON lines into `12:34:56.789Z INFO  zone is dark  zone=a nodes=12`. */
class TextLines implements LogSink {
  readonly #sink: LogSink;
  readonly #coloured: boolean;

  constructor(sink: LogSink, coloured: boolean) {
    this.#sink = sink;
    this.#coloured = coloured;
  }

  write(line: string): void {
    const { level, ts, msg, ...fields }: ParsedLine = JSON.parse(line);
    const clock = ts.slice(ts.indexOf('T') + 1);
    const head = `${clock} ${level.toUpperCase().padEnd(5)} ${msg}`;
    const colour = this.#coloured ? colours[level] : undefined;
    const text = [head, ...Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`)].join('  ');
    this.#sink.write(colour === undefined ? `${text}\n` : `${colour}${text}${plain}\n`);
  }
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  // A terminal reader wants the sentence; the stack is in the JSON form.
  return JSON.stringify(value, (key: string, part: unknown) => (key === 'stack' ? undefined : part));
}
