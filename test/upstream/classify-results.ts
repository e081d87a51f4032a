// Explains the tests that do not pass, by classification.yaml.
import * as z from 'zod';
import { type SuiteName, suiteNames, type TestResult } from './results.ts';

const rowSchema = z.strictObject({
  suite: z.enum(suiteNames),
  /** The whole name of the test. */
  test: z.string(),
  /** The missing component, or the reason. */
  reason: z.string(),
  /** The test passes in some runs: its passing is no error. */
  sometimes: z.boolean().optional(),
});
const rowsSchema = z.array(rowSchema);
export type ClassificationRow = z.infer<typeof rowSchema>;

/** A test that ran and did not pass. */
export interface Unpassed {
  readonly result: TestResult;
  /** Undefined: classification.yaml has no row for it. */
  readonly reason: string | undefined;
}

interface Classified {
  readonly unpassed: readonly Unpassed[];
  /** Rows whose test passed: they are out of date. */
  readonly passedAgain: readonly ClassificationRow[];
}

/** Throws an error that names each field that is not accepted. */
export function parseClassification(value: unknown): readonly ClassificationRow[] {
  const parsed = rowsSchema.safeParse(value ?? []);
  if (!parsed.success) throw new Error(`classification.yaml: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Undefined: no row has the test. */
export function reasonOf(suite: SuiteName, test: string, rows: readonly ClassificationRow[]): string | undefined {
  return rows.find((row) => row.suite === suite && row.test === test)?.reason;
}

/** Names of the tests of the suite that never pass. */
export function knownFailures(suite: SuiteName, rows: readonly ClassificationRow[]): ReadonlySet<string> {
  return new Set(rows.filter((row) => row.suite === suite && row.sometimes !== true).map(({ test }) => test));
}

/** Gives each result of the suite that did not pass its reason. */
export function classifyResults(
  suite: SuiteName,
  results: readonly TestResult[],
  rows: readonly ClassificationRow[],
): Classified {
  const known = new Map(rows.filter((row) => row.suite === suite).map((row) => [row.test, row]));
  const passed = new Set(results.filter(({ outcome }) => outcome === 'passed').map(({ name }) => name));
  return {
    unpassed: results
      .filter(({ outcome }) => outcome === 'failed' || outcome === 'skipped')
      .map((result) => ({ result, reason: reasonOf(suite, result.name, rows) })),
    passedAgain: [...known.values()].filter((row) => passed.has(row.test) && row.sometimes !== true),
  };
}
