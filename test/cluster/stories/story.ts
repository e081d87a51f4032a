import type { Stage } from '../stage.ts';

/** Seconds from the fault at which a user sees something, by what it is; another unit is in brackets at the end of that. */
export type Times = Readonly<Record<string, number>>;

/** A fault on real machines, and what must follow from it. */
export interface Story {
  readonly name: string;
  /** What is done, in one sentence. */
  readonly about: string;
  /** Whether it means something for the controllers of kube-controller-manager too. */
  readonly isComparable: boolean;
  /** Does it, and undoes it. Fails if something that must follow does not. */
  readonly run: (stage: Stage) => Promise<Times>;
  /** Upper bounds of times with this controller, on a machine that is not busy otherwise. */
  readonly limits: Times;
}

/** Of nodes without a policy, in seconds: what both sets of controllers have by default. */
const gracePeriod = 50;

/** Seconds from the end of the grace period to what happened so long after the fault; `age`: of the last heartbeat then. */
export function lateness(happened: number, age: number): number {
  return Math.round((happened + age - gracePeriod) * 10) / 10;
}
