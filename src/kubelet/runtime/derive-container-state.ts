import type { ContainerKind, RuntimeContainerStatus, RuntimeState } from './pod-runtime.ts';

/** Why a container exits when it does. */
export interface PlannedExit {
  readonly atMs: number;
  readonly exitCode: number;
  readonly reason?: string;
}

/** When a fake container runs and exits, in monotonic time; what state it is in follows from the time somebody asks. */
export interface ContainerPlan {
  readonly id: string;
  readonly name: string;
  readonly kind: ContainerKind;
  readonly image: string;
  /** The sandbox it belongs to; its own id for a sandbox. */
  readonly sandboxId: string;
  readonly restartCount: number;
  readonly createdAtMs: number;
  /** Undefined: it was never told to start. */
  readonly runsAtMs: number | undefined;
  readonly exit: PlannedExit | undefined;
  /** The runtime has lost track of it. */
  readonly lost: boolean;
  /** Wall minus monotonic time when it was created: fixed, so that what was told of it does not drift with the clocks. */
  readonly wallOffsetMs: number;
}

/** The state that a plan has come to by now. */
export function deriveState({ lost, runsAtMs, exit }: ContainerPlan, nowMs: number): RuntimeState {
  if (lost) return 'unknown';
  if (exit !== undefined && nowMs >= exit.atMs) return 'exited';
  return runsAtMs !== undefined && nowMs >= runsAtMs ? 'running' : 'created';
}

/** What an inspection says of it by now. */
export function deriveContainerStatus(plan: ContainerPlan, nowMs: number): RuntimeContainerStatus {
  const state = deriveState(plan, nowMs);
  const { id, name, kind, image, sandboxId, restartCount, createdAtMs, wallOffsetMs } = plan;
  const identity = { id, name, kind, state, image, imageId: image, sandboxId, restartCount };
  const createdWallMs = createdAtMs + wallOffsetMs;
  return { ...identity, createdAtMs: createdWallMs, message: undefined, ...deriveRun(plan, state) };
}

type Run = Pick<RuntimeContainerStatus, 'startedAtMs' | 'finishedAtMs' | 'exitCode' | 'reason'>;

function deriveRun({ runsAtMs, exit, wallOffsetMs }: ContainerPlan, state: RuntimeState): Run {
  const notOver = { finishedAtMs: undefined, exitCode: undefined, reason: undefined };
  if (state === 'created' || state === 'unknown') return { ...notOver, startedAtMs: undefined };
  const ran = runsAtMs !== undefined && (exit === undefined || runsAtMs <= exit.atMs);
  const startedAtMs = ran ? runsAtMs + wallOffsetMs : undefined;
  if (state === 'running' || exit === undefined) return { ...notOver, startedAtMs };
  const { exitCode, reason = exitCode === 0 ? 'Completed' : 'Error' } = exit;
  return { startedAtMs, finishedAtMs: exit.atMs + wallOffsetMs, exitCode, reason };
}

/** Monotonic time of the first step after `sinceMs` that a plan takes by itself. */
export function deriveNextStepMs(plan: ContainerPlan, sinceMs: number): number | undefined {
  const { runsAtMs = sinceMs, exit } = plan;
  const exitAtMs = exit?.atMs ?? sinceMs;
  if (runsAtMs <= sinceMs) return exitAtMs > sinceMs ? exitAtMs : undefined;
  return exitAtMs > sinceMs ? Math.min(runsAtMs, exitAtMs) : runsAtMs;
}
