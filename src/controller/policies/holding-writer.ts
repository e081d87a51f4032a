import type { Clock } from '../../ports/clock.ts';
import type { ClosableWriter, Command, StillWanted, WriteOutcome } from '../model/commands.ts';
import type { ActHolds } from './act-holds.ts';
import type { Maintenance } from '../model/policy.ts';
import { addsHealthTaint, classifyAct } from './classify-act.ts';

interface HoldingWriterOptions {
  readonly writer: ClosableWriter;
  readonly holds: Pick<ActHolds, 'check'>;
  readonly maintenanceOf: (node: string) => Maintenance | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Sends no write that a policy or a pause holds, whatever the stages decide: the check is made when a command is given
 * and again immediately before its request. Of maintenance it holds the taint; whether a pod is deleted for the health
 * of its node is known to the stages only.
 */
export class HoldingWriter implements ClosableWriter {
  readonly #options: HoldingWriterOptions;

  constructor(options: HoldingWriterOptions) {
    this.#options = options;
  }

  carryOut(command: Command, stillWanted: StillWanted): Promise<WriteOutcome> {
    const { writer, clock } = this.#options;
    const untilMs = this.#heldUntilMs(command);
    if (untilMs !== undefined) return Promise.resolve({ result: 'held', forMs: untilMs - clock.nowMs() });
    return writer.carryOut(command, () => stillWanted() && this.#heldUntilMs(command) === undefined);
  }

  #heldUntilMs(command: Command): number | undefined {
    const { holds, maintenanceOf } = this.#options;
    const target = classifyAct(command);
    if (target === undefined) return undefined;
    const hold = holds.check(target.node, target.act);
    if (hold !== undefined) return hold.untilMs;
    return addsHealthTaint(command) ? maintenanceOf(target.node)?.untilMs : undefined;
  }

  close(): void {
    this.#options.writer.close();
  }

  drained(): Promise<void> {
    return this.#options.writer.drained();
  }
}
