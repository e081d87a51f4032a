import type { Clock } from '../../ports/clock.ts';
import type { FaultBoard, FaultOrder } from './fault-board.ts';

/** One thing that a script does. */
export type ScriptAct =
  | { readonly kind: 'post'; readonly order: FaultOrder }
  /** Without an id: all there are. */
  | { readonly kind: 'clear'; readonly id?: string | undefined };

export interface ScriptStep {
  /** Since the script began. */
  readonly atMs: number;
  readonly act: ScriptAct;
}

export interface ScriptMeans {
  readonly board: FaultBoard;
  readonly clock: Clock;
  /** Told of each step as it is done, and of one that could not be: then why. */
  readonly onStep?: (step: ScriptStep, problem: string | undefined) => void;
}

/**
 * Plays a script to its end, or until the signal aborts. Steps of the same time go in the order in which they stand. One
 * that cannot be done, as for a selector that fits nobody, is told of, and the script goes on.
 */
export async function playScript(steps: readonly ScriptStep[], means: ScriptMeans, signal: AbortSignal): Promise<void> {
  const { clock, board, onStep } = means;
  const startMs = clock.monotonicMs();
  for (const step of [...steps].sort((a, b) => a.atMs - b.atMs)) {
    await clock.sleep(startMs + step.atMs - clock.monotonicMs(), signal);
    if (signal.aborted) return;
    onStep?.(step, act(step.act, board));
  }
}

function act(wanted: ScriptAct, board: FaultBoard): string | undefined {
  try {
    if (wanted.kind === 'post') board.post(wanted.order);
    else if (wanted.id === undefined) board.clear();
    else if (!board.withdraw(wanted.id)) return `no fault has the id ${JSON.stringify(wanted.id)}`;
    return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return error.message;
  }
}
