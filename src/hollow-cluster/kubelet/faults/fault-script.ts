import type { Clock } from '../../../machinery/ports/clock.ts';
import type { FaultInjector, FaultOrder } from './fault-injector.ts';

/** One action of a script. */
export type ScriptAction =
  | { readonly kind: 'post'; readonly order: FaultOrder }
  /** Without an id: all faults. */
  | { readonly kind: 'clear'; readonly id?: string | undefined };

export interface ScriptStep {
  /** Time since the start of the script. */
  readonly atMs: number;
  readonly act: ScriptAction;
}

interface ScriptDependencies {
  readonly injector: FaultInjector;
  readonly clock: Clock;
  /** Called after each step; `problem` is set if the step failed. */
  readonly onStep?: (step: ScriptStep, problem: string | undefined) => void;
}

/**
 * Runs a script to its end, or until the signal aborts. Steps of the same time run in the order of the script. A step
 * that fails, for example because its selector matches no node, is reported, and the script continues.
 */
export async function runScript(
  steps: readonly ScriptStep[],
  dependencies: ScriptDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { clock, injector, onStep } = dependencies;
  const startMs = clock.monotonicMs();
  for (const step of [...steps].sort((a, b) => a.atMs - b.atMs)) {
    await clock.sleep(startMs + step.atMs - clock.monotonicMs(), signal);
    if (signal.aborted) return;
    onStep?.(step, runAction(step.act, injector));
  }
}

function runAction(wanted: ScriptAction, injector: FaultInjector): string | undefined {
  try {
    if (wanted.kind === 'post') injector.post(wanted.order);
    else if (wanted.id === undefined) injector.clear();
    else if (!injector.withdraw(wanted.id)) return `no fault has the id ${JSON.stringify(wanted.id)}`;
    return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return error.message;
  }
}
