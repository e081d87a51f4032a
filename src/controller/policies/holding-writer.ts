import type { Clock } from '../../machinery/ports/clock.ts';
import type { ClosableWriter, Command, StillWanted, WriteOutcome } from '../model/commands.ts';
import { classifyAct, type NodeWrite } from './classify-act.ts';

interface HoldingWriterOptions<Hold> {
  readonly writer: ClosableWriter;
  readonly holds: {
    actHoldOf(write: NodeWrite): Hold | undefined;
    /** Records that the write is about to be made, and what holds it. */
    noteAct(write: NodeWrite, hold: Hold | undefined): void;
  };
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Sends no write that a policy, a pause, a breaker or maintenance holds, whatever the stages decide: the check is made
 * when a command is given and again immediately before its request.
 */
export class HoldingWriter<Hold extends { readonly untilMs: number }> implements ClosableWriter {
  readonly #options: HoldingWriterOptions<Hold>;

  constructor(options: HoldingWriterOptions<Hold>) {
    this.#options = options;
  }

  carryOut(command: Command, stillWanted: StillWanted, signal?: AbortSignal): Promise<WriteOutcome> {
    const { writer, clock } = this.#options;
    const write = classifyAct(command);
    if (write === undefined) return writer.carryOut(command, stillWanted, signal);
    const hold = this.#checkHold(write);
    if (hold !== undefined) return Promise.resolve({ result: 'held', forMs: hold.untilMs - clock.nowMs() });
    const isFree = (): boolean => stillWanted() && this.#checkHold(write) === undefined;
    return writer.carryOut(command, isFree, signal);
  }

  /** What holds a write that is about to be made, which is recorded. */
  #checkHold(write: NodeWrite): Hold | undefined {
    const { holds } = this.#options;
    const hold = holds.actHoldOf(write);
    holds.noteAct(write, hold);
    return hold;
  }

  close(): void {
    this.#options.writer.close();
  }

  drained(): Promise<void> {
    return this.#options.writer.drained();
  }
}
