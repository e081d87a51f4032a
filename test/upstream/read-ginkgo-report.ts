// Reads the JSON reports of ginkgo, of a run and of a dry run.
import * as z from 'zod';
import type { KnownTest, TestResult } from './results.ts';

const nanosecondsPerSecond = 1e9;
const sources = /^.*\/test\/e2e\//;

const specSchema = z.object({
  ContainerHierarchyTexts: z.array(z.string()).nullish(),
  LeafNodeText: z.string(),
  LeafNodeType: z.string(),
  LeafNodeLocation: z.object({ FileName: z.string() }),
  State: z.string(),
  RunTime: z.number(),
  Failure: z.object({ Message: z.string().optional() }).optional(),
});
const reportSchema = z.array(
  z.object({
    SpecReports: z.array(specSchema).nullish(),
    SpecialSuiteFailureReasons: z.array(z.string()).nullish(),
  }),
);
type Spec = z.infer<typeof specSchema>;

/** All tests of a report, in its order. */
export function readKnownTests(text: string): readonly KnownTest[] {
  return specs(text)
    .filter(isTest)
    .map((spec) => ({ name: nameOf(spec), file: spec.LeafNodeLocation.FileName.replace(sources, '') }));
}

/** The results of the tests that ran, or that decided themselves not to run. Those out of focus have no result. */
export function readResults(text: string): readonly TestResult[] {
  return specs(text)
    .filter((spec) => isTest(spec) && hasRun(spec))
    .map((spec) => ({
      name: nameOf(spec),
      outcome: outcomeOf(spec.State),
      ...(spec.Failure?.Message === undefined ? {} : { message: spec.Failure.Message }),
      seconds: spec.RunTime / nanosecondsPerSecond,
    }));
}

/** Why the run as a whole failed, beside its tests: failures of its set-up, and the reasons that ginkgo gives. */
export function readSuiteFailures(text: string): readonly string[] {
  const reports = reportSchema.parse(JSON.parse(text));
  const setups = specs(text).filter((spec) => !isTest(spec) && outcomeOf(spec.State) === 'failed');
  const failedTests = /^(?:Detected failing test|Suite did not run because)/;
  return [
    ...setups.map((spec) => `${spec.LeafNodeType}: ${spec.Failure?.Message ?? spec.State}`),
    ...reports.flatMap((report) => report.SpecialSuiteFailureReasons ?? []).filter((why) => !failedTests.test(why)),
  ];
}

function specs(text: string): readonly Spec[] {
  return reportSchema.parse(JSON.parse(text)).flatMap((report) => report.SpecReports ?? []);
}

function isTest(spec: Spec): boolean {
  return spec.LeafNodeType === 'It';
}

/** ginkgo reports tests out of focus as skipped too, without a reason. The end of a run interrupts a test. */
function hasRun({ State, Failure }: Spec): boolean {
  return State !== 'pending' && State !== 'interrupted' && (State !== 'skipped' || (Failure?.Message ?? '') !== '');
}

function outcomeOf(state: string): TestResult['outcome'] {
  if (state === 'passed' || state === 'skipped') return state;
  // failed, panicked, timedout, aborted
  return 'failed';
}

function nameOf({ ContainerHierarchyTexts, LeafNodeText }: Spec): string {
  return [...(ContainerHierarchyTexts ?? []), LeafNodeText].filter((text) => text !== '').join(' ');
}
