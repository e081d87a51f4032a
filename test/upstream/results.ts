// What is known of the tests of Kubernetes and of their runs; shared by the parts of the command.

export const suiteNames = ['integration', 'e2e', 'e2e-embedded'] as const;
export type SuiteName = (typeof suiteNames)[number];

/** A test of the e2e binary. */
export interface KnownTest {
  /** All texts of the test, joined by spaces, as `--focus` of ginkgo matches them. */
  readonly name: string;
  /** Source file below `test/e2e`. */
  readonly file: string;
}

export interface TestResult {
  readonly name: string;
  /** `skipped` is the test's own decision; its reason is the message. `not run`: the run ended before the test. */
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'not run';
  /** Of the failure or of the skip. */
  readonly message?: string;
  readonly seconds: number;
}

/** Conformance tests of Kubernetes carry this in their name. */
export function isConformance(name: string): boolean {
  return name.includes('[Conformance]');
}
