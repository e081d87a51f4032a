import pino from 'pino';
import { escapeJsonControls, escapeLine } from '../api/format-safe-text.ts';
import { ownValue } from '../api/json-map.ts';
import type { LogFields, Logger } from '../ports/logger.ts';

/** Destination of finished lines, each with its line end. */
interface LogSink {
  write(line: string): void;
}

interface PinoLoggerOptions {
  /** `auto` is text on a terminal and JSON otherwise. */
  readonly format: 'auto' | 'text' | 'json';
  /** klog's scale: debug lines are logged from 4 on. */
  readonly verbosity: number;
  /** Defaults to standard error. */
  readonly sink?: LogSink;
}

const debugVerbosity = 4;
const standardError = 2;

/**
 * Structured logging with pino, written before the call returns: the line that explains a crash must not be lost. JSON
 * lines have `ts` (RFC 3339), `level`, `msg` and the fields.
 */
export class PinoLogger implements Logger {
  readonly #pino: pino.Logger;
  /** Shared by a logger and all its children. */
  readonly #scale: { verbosity: number };

  private constructor(inner: pino.Logger, scale: { verbosity: number }) {
    this.#pino = inner;
    this.#scale = scale;
  }

  static create({ format, verbosity, sink }: PinoLoggerOptions): PinoLogger {
    const onTerminal = sink === undefined && process.stderr.isTTY;
    const target = sink ?? pino.destination({ dest: standardError, sync: true });
    const asText = format === 'text' || (format === 'auto' && onTerminal);
    return new PinoLogger(pino(pinoOptions, asText ? new TextLines(target, onTerminal) : new JsonLines(target)), {
      verbosity,
    });
  }

  /** Applies to this logger and all loggers that share its root. */
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
  // A child of a pino logger keeps the level of its creation, so the verbosity is checked outside.
  level: 'debug',
  base: null,
  timestamp: () => `,"ts":"${new Date().toISOString()}"`,
  formatters: { level: (label) => ({ level: label }), log: withPlainErrors },
  // `withPlainErrors` has already converted errors; pino's serializer would append the cause to the message.
  serializers: { err: (value: unknown) => value },
};

/** An Error has no enumerable properties: JSON.stringify would produce `{}`. */
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

/** Passes JSON lines on without raw control characters: `kubectl logs` writes them to a terminal. */
class JsonLines implements LogSink {
  readonly #sink: LogSink;

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  write(line: string): void {
    this.#sink.write(escapeJsonControls(line));
  }
}

interface ParsedLine {
  readonly level: string;
  readonly ts: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const colours: Readonly<Record<string, string>> = { debug: '\u001b[90m', warn: '\u001b[33m', error: '\u001b[31m' };
const plain = '\u001b[0m';

/** Converts pino's JSON lines to `12:34:56.789Z INFO  zone fully disrupted  zone=a nodes=12`. */
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
    const colour = this.#coloured ? ownValue(colours, level) : undefined;
    const parts = [head, ...Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`)];
    const text = escapeLine(parts.join('  '));
    this.#sink.write(colour === undefined ? `${text}\n` : `${colour}${text}${plain}\n`);
  }
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  // The text format has no stack; the JSON format has it.
  return JSON.stringify(value, (key: string, part: unknown) => (key === 'stack' ? undefined : part));
}
