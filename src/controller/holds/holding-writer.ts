import type { Clock } from '../../machinery/ports/clock.ts';
import {
  type ClosableWriter,
  type Command,
  mayHaveBeenDone,
  type StillWanted,
  type WriteOutcome,
} from '../model/commands.ts';
import type { Act, EvictionCount, Hold } from '../model/holds.ts';
import { classifyAct, type NodeWrite } from './classify-act.ts';

interface HoldingWriterOptions {
  readonly writer: ClosableWriter;
  /** What holds a write that is about to be made, which is recorded. */
  readonly holds: {
    /** `pod`: uid of the pod that is to be evicted. */
    ask(node: string, act: Act, pod?: string): Hold | undefined;
    readonly evictions: EvictionCount;
  };
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** `pod`: uid of the pod that is evicted for the health of its node. */
interface PodWrite extends NodeWrite {
  readonly pod: string | undefined;
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
    const write = toPodWrite(command);
    if (write === undefined) return writer.carryOut(command, stillWanted, signal);
    const hold = this.#ask(write);
    if (hold !== undefined) return Promise.resolve({ result: 'held', forMs: this.#forMs(hold) });
    const isWanted = (): boolean => stillWanted() && this.#ask(write) === undefined;
    const { pod } = write;
    if (pod === undefined) return writer.carryOut(command, isWanted, signal);
    return this.#carryOutIn(pod, command, isWanted, signal);
  }

  /** Carries out a command for a pod that has a place. */
  async #carryOutIn(
    pod: string,
    command: Command,
    isWanted: StillWanted,
    signal: AbortSignal | undefined,
  ): Promise<WriteOutcome> {
    let mayBeSent = false;
    const beforeSending = (): boolean => (mayBeSent = isWanted());
    let isDone = true; // unless it is known
    try {
      const outcome = await this.#options.writer.carryOut(command, beforeSending, signal);
      isDone = mayBeSent && (outcome.result === 'written' || mayHaveBeenDone(outcome));
      return outcome;
    } finally {
      const done = command.kind === 'delete-pod' || command.kind === 'evict-pod' ? 'evicted' : 'marked';
      this.#options.holds.evictions.settle(pod, isDone ? done : 'not-done');
    }
  }

  /** A pod that may be evicted has a place from the question on, so that others that ask do not exceed a maximum with it. */
  #ask({ node, act, pod }: PodWrite): Hold | undefined {
    const { holds } = this.#options;
    const hold = holds.ask(node, act, pod);
    if (pod !== undefined && hold === undefined) holds.evictions.reserve(node, pod);
    return hold;
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

function toPodWrite(command: Command): PodWrite | undefined {
  const write = classifyAct(command);
  if (write === undefined) return undefined;
  return { ...write, pod: write.act === 'delete-for-health' && 'pod' in command ? command.pod.uid : undefined };
}
