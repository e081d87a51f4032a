import type { Given, Step } from './format.ts';

/** Returns what was found if the expectation is not met; undefined if it is. */
export type Check = (expected: never) => string | undefined;

export interface StepContext {
  /** Whether all expectations of the vector hold at its end. */
  readonly expectationsHold: () => boolean;
}

export type Operation = (step: Step, context: StepContext) => void | Promise<void>;

/** A small cluster, or one data structure, with its operations and expectations. */
export interface World {
  /** Keys of `given` that the world supports. */
  readonly givens: readonly (keyof Given)[];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  /** Ends all running work. */
  readonly stop?: () => Promise<void>;
}

/** A feature of the vector that the code under test, or this runner, does not support. Always a failure of the vector. */
export class NotSupported extends Error {
  constructor(what: string) {
    super(`not supported: ${what}`);
  }
}
