import type { ContainerScript } from './build-container-script.ts';
import { type ContainerPlan, buildState } from './build-container-state.ts';

/** Minimum time of a container to stop (upstream `minimumGracePeriodInSeconds`). */
const stopGraceMsMin = 2_000;

/** Exit code of a process that ignores its stop signal: 128 + SIGKILL. */
const killedExitCode = 137;

type StopScript = Pick<ContainerScript, 'preStopMs' | 'stopMs' | 'stopExitCode'>;

interface StopOrder {
  readonly nowMs: number;
  /** The pod's grace period, from now on. */
  readonly graceMs: number;
  /** Time at which preceding containers of the pod have exited; undefined: there are none. */
  readonly afterMs: number | undefined;
}

/**
 * A container's plan after a stop request: its preStop hook and the wait for preceding containers use up the grace
 * period, and at least two seconds remain. A repeated request can only make it exit earlier.
 */
export function planStop(plan: ContainerPlan, script: StopScript, order: StopOrder): ContainerPlan {
  const { nowMs } = order;
  const state = buildState(plan, nowMs);
  if (state === 'exited') return plan;
  // A container that has not run has no process to signal: it exits at once.
  if (state === 'created') return { ...plan, exit: { atMs: nowMs, exitCode: killedExitCode } };
  const exit = planExit(script, order);
  const earlier = plan.exit !== undefined && plan.exit.atMs <= exit.atMs;
  return { ...plan, lost: false, exit: earlier ? plan.exit : exit };
}

function planExit(
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
