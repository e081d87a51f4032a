/** When a fake container runs and exits, in monotonic time. */
export interface ContainerPlan {
  readonly name: string;
  readonly image: string;
  readonly runsAtMs: number;
  readonly exitsAtMs: number | undefined;
  readonly exitCode: number;
  /** Wall minus monotonic time when it was planned: fixed, so that what was told of it does not drift with the clocks. */
  readonly wallOffsetMs: number;
}

/** What the runtime says about a container at one moment. Times are wall time. */
export type ContainerRecord = { readonly name: string; readonly image: string } & (
  | { readonly state: 'created' }
  | { readonly state: 'running'; readonly startedAtMs: number }
  | {
      readonly state: 'exited';
      /** Undefined for one that never ran. */
      readonly startedAtMs: number | undefined;
      readonly finishedAtMs: number;
      readonly exitCode: number;
    }
);

/** The state that a plan has come to by now (monotonic). */
export function deriveContainerRecord(plan: ContainerPlan, nowMs: number): ContainerRecord {
  const { name, image, runsAtMs, exitsAtMs, exitCode, wallOffsetMs } = plan;
  if (exitsAtMs !== undefined && nowMs >= exitsAtMs) {
    const startedAtMs = exitsAtMs >= runsAtMs ? runsAtMs + wallOffsetMs : undefined;
    return { name, image, state: 'exited', startedAtMs, finishedAtMs: exitsAtMs + wallOffsetMs, exitCode };
  }
  if (nowMs >= runsAtMs) return { name, image, state: 'running', startedAtMs: runsAtMs + wallOffsetMs };
  return { name, image, state: 'created' };
}
