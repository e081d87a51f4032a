export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log lines: fields first, then a constant message. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** A logger that adds these fields to each line. */
  child(fields: LogFields): Logger;
}
