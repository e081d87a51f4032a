// The report of all suites: what docs/conformance.json holds and docs/conformance.md shows.
import * as z from 'zod';
import { isConformance, type SuiteName, suiteNames, type TestResult } from './results.ts';
import { type ClassificationRow, reasonOf, type Unpassed } from './classify-results.ts';

const listSchema = z.strictObject({
  title: z.string(),
  tests: z.number().int(),
  /** Fewer than the tests: the run was ended early. */
  ran: z.number().int(),
  passed: z.number().int(),
  /** Conformance tests that ran. */
  conformance: z.number().int(),
  conformancePassed: z.number().int(),
});
const suiteSchema = z.strictObject({
  suite: z.enum(suiteNames),
  /** Day of the run, UTC. */
  date: z.iso.date(),
  minutes: z.number(),
  lists: z.array(listSchema),
  /** How the run differed from that of the command, in a sentence. */
  note: z.string().optional(),
  /** Tests that did not pass. */
  unpassed: z.array(z.strictObject({ test: z.string(), outcome: z.enum(['failed', 'skipped']), reason: z.string() })),
});
const reportSchema = z.strictObject({
  /** Release of Kubernetes whose tests ran. */
  kubernetes: z.string(),
  /** Version of this project. */
  version: z.string(),
  suites: z.array(suiteSchema),
  /** Tests of the e2e binary that do not run, by class. */
  excluded: z.array(z.strictObject({ class: z.string(), reason: z.string(), tests: z.number().int() })),
});

export type ListReport = z.infer<typeof listSchema>;
export type SuiteReport = z.infer<typeof suiteSchema>;
export type Report = z.infer<typeof reportSchema>;

export const noReason = 'NOT EXPLAINED';

/** Throws an error that names each field that is not accepted. */
export function parseReport(text: string): Report {
  const parsed = reportSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`conformance.json: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Counts the results of one list. */
export function countList(title: string, results: readonly TestResult[]): ListReport {
  const ran = results.filter(({ outcome }) => outcome !== 'not run');
  const passed = results.filter(({ outcome }) => outcome === 'passed');
  return {
    title,
    tests: results.length,
    ran: ran.length,
    passed: passed.length,
    conformance: ran.filter(({ name }) => isConformance(name)).length,
    conformancePassed: passed.filter(({ name }) => isConformance(name)).length,
  };
}

export function reportUnpassed(unpassed: readonly Unpassed[]): SuiteReport['unpassed'] {
  return unpassed.map(({ result, reason }) => ({
    test: result.name,
    outcome: result.outcome === 'skipped' ? 'skipped' : 'failed',
    reason: reason ?? noReason,
  }));
}

/** The report with the suites that just ran in place of their earlier runs, in the usual order. */
export function mergeSuites(earlier: readonly SuiteReport[], ran: readonly SuiteReport[]): readonly SuiteReport[] {
  const find = (name: SuiteName): SuiteReport | undefined => [...ran, ...earlier].find(({ suite }) => suite === name);
  return suiteNames.map(find).filter((suite) => suite !== undefined);
}

/** The report with the reasons that the rows have now. */
export function explainAgain(report: Report, rows: readonly ClassificationRow[]): Report {
  const explain = ({ suite, unpassed, ...rest }: SuiteReport): SuiteReport => ({
    suite,
    ...rest,
    unpassed: unpassed.map((row) => ({ ...row, reason: reasonOf(suite, row.test, rows) ?? noReason })),
  });
  return { ...report, suites: report.suites.map(explain) };
}
