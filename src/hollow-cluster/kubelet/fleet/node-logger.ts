import type { LogFields, Logger } from '../../../machinery/ports/logger.ts';

/** Adds the node to each line. One child logger per node would cost thousands of loggers, most of them never used. */
export class NodeLogger implements Logger {
  readonly #node: string;
  readonly #logger: Logger;

  constructor(node: string, logger: Logger) {
    this.#node = node;
    this.#logger = logger;
  }

  debug(fields: LogFields, message: string): void {
    this.#logger.debug({ node: this.#node, ...fields }, message);
  }

  info(fields: LogFields, message: string): void {
    this.#logger.info({ node: this.#node, ...fields }, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#logger.warn({ node: this.#node, ...fields }, message);
  }

  error(fields: LogFields, message: string): void {
    this.#logger.error({ node: this.#node, ...fields }, message);
  }

  child(fields: LogFields): Logger {
    return this.#logger.child({ node: this.#node, ...fields });
  }
}
