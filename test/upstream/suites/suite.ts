// What a suite gets and returns.
import type { TestResult } from '../results.ts';

export interface SuiteOptions {
  /** Regular expression for names of tests. */
  readonly focus: string | undefined;
  /** Names of tests that are not run a second time if they fail. */
  readonly knownToFail: ReadonlySet<string>;
  /** Folder for output and logs; kept after the run. */
  readonly logFolder: string;
  readonly say: (line: string) => void;
  /** Aborts when the command is to end: the suite rejects with Interrupted. */
  readonly interrupted: AbortSignal;
}

interface SuiteList {
  readonly name: string;
  readonly title: string;
  readonly results: readonly TestResult[];
}

export interface SuiteRun {
  readonly lists: readonly SuiteList[];
  /** Failures of the run itself, beside those of its tests. */
  readonly failures: readonly string[];
}
