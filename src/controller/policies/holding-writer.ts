import type { Clock } from '../../machinery/ports/clock.ts';
import type { ClosableWriter, Command, StillWanted, WriteOutcome } from '../model/commands.ts';
import type { NodeAct } from '../model/policy.ts';
import { classifyAct } from './classify-act.ts';

interface HoldingWriterOptions {
  readonly writer: ClosableWriter;
  readonly holds: {
    /** What holds this write; `evicts`: see {@link classifyAct}. */
    check(node: string, act: NodeAct, evicts: boolean): { readonly untilMs: number } | undefined;
  };
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Sends no write that a policy, a pause, a breaker or maintenance holds, whatever the stages decide: the check is made
 * when a command is given and again immediately before its request.
 */
export class HoldingWriter implements ClosableWriter {
  readonly #options: HoldingWriterOptions;

  constructor(options: HoldingWriterOptions) {
    this.#options = options;
  }

  carryOut(command: Command, stillWanted: StillWanted, signal?: AbortSignal): Promise<WriteOutcome> {
    const { writer, holds, clock } = this.#options;
    const target = classifyAct(command);
    if (target === undefined) return writer.carryOut(command, stillWanted, signal);
    const { node, act, evicts } = target;
    const hold = holds.check(node, act, evicts);
    if (hold !== undefined) return Promise.resolve({ result: 'held', forMs: hold.untilMs - clock.nowMs() });
    const isFree = (): boolean => stillWanted() && holds.check(node, act, evicts) === undefined;
    return writer.carryOut(command, isFree, signal);
  }

  close(): void {
    this.#options.writer.close();
  }

  drained(): Promise<void> {
    return this.#options.writer.drained();
  }
}
