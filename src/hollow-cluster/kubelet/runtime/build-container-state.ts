import type { ContainerKind, RuntimeContainerStatus, RuntimeState } from './pod-runtime.ts';

/** When and how a container exits. */
export interface PlannedExit {
  readonly atMs: number;
  readonly exitCode: number;
  readonly reason?: string;
}

/** When a fake container runs and exits, in monotonic time; its state is computed on request. */
export interface ContainerPlan {
  readonly id: string;
  readonly name: string;
  readonly kind: ContainerKind;
  readonly image: string;
  /** The sandbox it belongs to; its own id for a sandbox. */
  readonly sandboxId: string;
  readonly restartCount: number;
  readonly createdAtMs: number;
  /** Undefined: it was never started. */
  readonly runsAtMs: number | undefined;
  readonly exit: PlannedExit | undefined;
  /** The runtime reports its state as unknown. */
  readonly lost: boolean;
  /** Wall minus monotonic time at its creation: fixed, so that its reported times do not drift with the clocks. */
  readonly wallOffsetMs: number;
}

/** The state of a plan at a time. */
export function buildState({ lost, runsAtMs, exit }: ContainerPlan, nowMs: number): RuntimeState {
  if (lost) return 'unknown';
  if (exit !== undefined && nowMs >= exit.atMs) return 'exited';
  return runsAtMs !== undefined && nowMs >= runsAtMs ? 'running' : 'created';
}

/** The inspection result of a plan at a time. */
export function buildContainerStatus(plan: ContainerPlan, nowMs: number): RuntimeContainerStatus {
  const state = buildState(plan, nowMs);
  const { id, name, kind, image, sandboxId, restartCount, createdAtMs, wallOffsetMs } = plan;
  const identity = { id, name, kind, state, image, imageId: image, sandboxId, restartCount };
  const createdWallMs = createdAtMs + wallOffsetMs;
  return { ...identity, createdAtMs: createdWallMs, message: undefined, ...buildRun(plan, state) };
}

type Run = Pick<RuntimeContainerStatus, 'startedAtMs' | 'finishedAtMs' | 'exitCode' | 'reason'>;

function buildRun({ runsAtMs, exit, wallOffsetMs }: ContainerPlan, state: RuntimeState): Run {
  const notOver = { finishedAtMs: undefined, exitCode: undefined, reason: undefined };
  if (state === 'created' || state === 'unknown') return { ...notOver, startedAtMs: undefined };
  const ran = runsAtMs !== undefined && (exit === undefined || runsAtMs <= exit.atMs);
  const startedAtMs = ran ? runsAtMs + wallOffsetMs : undefined;
  if (state === 'running' || exit === undefined) return { ...notOver, startedAtMs };
  const { exitCode, reason = exitCode === 0 ? 'Completed' : 'Error' } = exit;
  return { startedAtMs, finishedAtMs: exit.atMs + wallOffsetMs, exitCode, reason };
}

/** Monotonic time of the first scheduled change of a plan after `sinceMs`. */
export function planNextStepMs(plan: ContainerPlan, sinceMs: number): number | undefined {
  const { runsAtMs = sinceMs, exit } = plan;
  const exitAtMs = exit?.atMs ?? sinceMs;
  if (runsAtMs <= sinceMs) return exitAtMs > sinceMs ? exitAtMs : undefined;
  return exitAtMs > sinceMs ? Math.min(runsAtMs, exitAtMs) : runsAtMs;
}
