import type { Clock } from '../../machinery/ports/clock.ts';
import type { ClosableWriter, Command, StillWanted, WriteOutcome } from '../model/commands.ts';
import type { Act, Hold } from '../model/holds.ts';
import { classifyAct, type NodeWrite } from './classify-act.ts';

interface HoldingWriterOptions {
  readonly writer: ClosableWriter;
  /** What holds a write that is about to be made, which is recorded. */
  readonly holds: { ask(node: string, act: Act): Hold | undefined };
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Sends no write that is held, whatever the stages decide: the question is asked when a command is given and again immediately
 * before its request.
 */
export class HoldingWriter implements ClosableWriter {
  readonly #options: HoldingWriterOptions;

  constructor(options: HoldingWriterOptions) {
    this.#options = options;
  }

  carryOut(command: Command, stillWanted: StillWanted, signal?: AbortSignal): Promise<WriteOutcome> {
    const { writer } = this.#options;
    const write = classifyAct(command);
    if (write === undefined) return writer.carryOut(command, stillWanted, signal);
    const hold = this.#ask(write);
    if (hold !== undefined) return Promise.resolve({ result: 'held', forMs: this.#forMs(hold) });
    return writer.carryOut(command, () => stillWanted() && this.#ask(write) === undefined, signal);
  }

  #ask({ node, act }: NodeWrite): Hold | undefined {
    return this.#options.holds.ask(node, act);
  }

  #forMs({ untilMs, askAgainMs }: Hold): number {
    return Math.min(untilMs - this.#options.clock.nowMs(), askAgainMs);
  }

  close(): void {
    this.#options.writer.close();
  }

  drained(): Promise<void> {
    return this.#options.writer.drained();
  }
}
