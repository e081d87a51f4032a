import type { ContainerScript } from './derive-container-script.ts';
import { type ContainerPlan, deriveState } from './derive-container-state.ts';

/** A container gets at least this long to stop (upstream `minimumGracePeriodInSeconds`). */
export const stopGraceMsMin = 2_000;

/** What a signal to a process that does not heed it comes to: 128 + SIGKILL. */
export const killedExitCode = 137;

type StopScript = Pick<ContainerScript, 'preStopMs' | 'stopMs' | 'stopExitCode'>;

export interface StopOrder {
  readonly nowMs: number;
  /** What the pod grants, from now on. */
  readonly graceMs: number;
  /** Until when others of the pod go first; undefined: nobody does. */
  readonly afterMs: number | undefined;
}

/**
 * A container's plan once it was told to stop: its pre-stop hook and its wait for others use up the grace period, and
 * what is left of it is at least two seconds. Told again, it only ever exits earlier.
 */
export function planStop(plan: ContainerPlan, script: StopScript, order: StopOrder): ContainerPlan {
  const { nowMs } = order;
  const state = deriveState(plan, nowMs);
  if (state === 'exited') return plan;
  // One that has not run yet has no process to signal: it is thrown away as it is.
  if (state === 'created') return { ...plan, exit: { atMs: nowMs, exitCode: killedExitCode } };
  const exit = deriveExit(script, order);
  const earlier = plan.exit !== undefined && plan.exit.atMs <= exit.atMs;
  return { ...plan, lost: false, exit: earlier ? plan.exit : exit };
}

function deriveExit(
  script: StopScript,
  { nowMs, graceMs, afterMs = nowMs }: StopOrder,
): NonNullable<ContainerPlan['exit']> {
  const { preStopMs, stopMs, stopExitCode } = script;
  const hookMs = Math.min(preStopMs, graceMs);
  const waitedMs = Math.min(Math.max(hookMs, afterMs - nowMs), Math.max(graceMs, hookMs));
  const leftMs = Math.max(graceMs - waitedMs, stopGraceMsMin);
  const killed = stopMs === 'never' || stopMs > leftMs;
  const atMs = nowMs + waitedMs + (killed ? leftMs : stopMs);
  return { atMs, exitCode: killed ? killedExitCode : stopExitCode };
}
