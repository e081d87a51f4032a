import type { Given, Step } from './format.ts';

/** Says what was found where the expectation is not met; undefined where it is. */
export type Check = (expected: never) => string | undefined;

export interface StepContext {
  /** Does everything hold that the vector expects at its end? */
  readonly expectationsHold: () => boolean;
}

export type Operation = (step: Step, context: StepContext) => void | Promise<void>;

/** A small cluster, or one data structure, with what can be done to it and what can be seen of it. */
export interface World {
  /** Keys of `given` that were taken up. */
  readonly givens: readonly (keyof Given)[];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  /** Ends what still runs. */
  readonly stop?: () => Promise<void>;
}

/** Something the vector asks for that the code under test, or this runner, cannot do. Always a failure of the vector. */
export class NotSupported extends Error {
  constructor(what: string) {
    super(`not supported: ${what}`);
  }
}
