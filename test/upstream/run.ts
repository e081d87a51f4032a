// `npm run test:upstream`: tests of Kubernetes against this project. Exit codes: 0 every test passes or has its reason in
// classification.yaml, 1 otherwise, 2 usage error, 3 no Go, 130 or 143 ended by SIGINT or SIGTERM.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { buildUpstreamTests, hasGo, noGoAdvice, release, type UpstreamTests } from '../../tools/upstream/build.ts';
import { classifyResults, type ClassificationRow, knownFailures, parseClassification } from './classify-results.ts';
import { startEmbeddedCluster } from './clusters/embedded-cluster.ts';
import { startRealCluster } from './clusters/real-cluster.ts';
import { Interrupted, Interruption } from './interruption.ts';
import { formatPage, formatTable } from './format-report.ts';
import { parseArguments, usage } from './parse-arguments.ts';
import {
  countList,
  explainAgain,
  mergeSuites,
  noReason,
  parseReport,
  type Report,
  reportUnpassed,
  type SuiteReport,
} from './report.ts';
import type { SuiteName } from './results.ts';
import { parseSelection, type Selected, type Selection, selectTests } from './select-tests.ts';
import { listTests, runE2e } from './suites/e2e.ts';
import { runIntegration } from './suites/integration.ts';
import type { SuiteOptions, SuiteRun } from './suites/suite.ts';

const exitCodes = { explained: 0, failed: 1, usage: 2, noGo: 3 } as const;
const root = join(import.meta.dirname, '..', '..');
const reportFile = join(root, 'docs', 'conformance.json');
const pageFile = join(root, 'docs', 'conformance.md');
const startedMs = performance.now();

process.exitCode = await main();

async function main(): Promise<number> {
  const options = argumentsOrError();
  if (options === undefined) return exitCodes.usage;
  if (options.help) {
    console.log(usage);
    return exitCodes.explained;
  }
  if (options.explain) return explainReport();
  if (!hasGo()) {
    console.error(noGoAdvice);
    return exitCodes.noGo;
  }
  const binaries = findControlPlane();
  if ('missing' in binaries) {
    console.error(`the control plane is needed: ${binaries.missing}`);
    return exitCodes.failed;
  }
  return runSuites(options.suites, options.focus);
}

function argumentsOrError(): ReturnType<typeof parseArguments> | undefined {
  try {
    return parseArguments(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return undefined;
  }
}

interface SuiteOutcome {
  readonly report: SuiteReport;
  /** Everything that makes the command fail. */
  readonly problems: readonly string[];
}

async function runSuites(suites: readonly SuiteName[], focus: string | undefined): Promise<number> {
  const tests = await buildUpstreamTests(say);
  const interruption = new Interruption(say);
  try {
    return await runBuilt(tests, { suites, focus, interrupted: interruption.signal });
  } catch (error) {
    if (interruption.exitCode === undefined) throw error;
    say(error instanceof Interrupted ? error.message : `interrupted: ${String(error)}`);
    return interruption.exitCode;
  }
}

interface RunOptions {
  readonly suites: readonly SuiteName[];
  readonly focus: string | undefined;
  readonly interrupted: AbortSignal;
}

async function runBuilt(tests: UpstreamTests, { suites, focus, interrupted }: RunOptions): Promise<number> {
  const selection = parseSelection(parse(readFileSync(join(import.meta.dirname, 'selection.yaml'), 'utf8')));
  const rows = readRows();
  const selected = selectTests(await listTests(tests, { say, interrupted }), selection);
  const problems = [...problemsOfSelection(selected)];
  const reports: SuiteReport[] = [];
  for (const suite of problems.length > 0 ? [] : suites) {
    const outcome = await runSuite(suite, { tests, selection, selected, rows, focus, interrupted });
    reports.push(outcome.report);
    problems.push(...outcome.problems);
    if (focus === undefined) writeReport(outcome.report, selection, selected);
  }
  console.log(`\n${formatTable(reports)}`);
  for (const problem of problems) console.error(`\n${problem}`);
  return problems.length === 0 ? exitCodes.explained : exitCodes.failed;
}

function problemsOfSelection({ unsorted, unused }: Selected): readonly string[] {
  return [
    ...unsorted.map(({ file, name }) => `selection.yaml: neither a list nor a class matches ${file}: ${name}`),
    ...unused.map((row) => `selection.yaml: no test matches ${row}`),
  ];
}

interface SuiteContext {
  readonly tests: UpstreamTests;
  readonly selection: Selection;
  readonly selected: Selected;
  readonly rows: readonly ClassificationRow[];
  readonly focus: string | undefined;
  readonly interrupted: AbortSignal;
}

async function runSuite(suite: SuiteName, context: SuiteContext): Promise<SuiteOutcome> {
  const suiteStartedMs = performance.now();
  const logFolder = join(context.tests.folder, 'runs', suite);
  rmSync(logFolder, { recursive: true, force: true });
  mkdirSync(logFolder, { recursive: true });
  const toSay = (line: string): void => say(`${suite}: ${line}`);
  const knownToFail = knownFailures(suite, context.rows);
  const { focus, interrupted } = context;
  const run = await runTests(suite, context, { focus, knownToFail, logFolder, say: toSay, interrupted });
  const results = run.lists.flatMap((list) => list.results);
  const { unpassed, passedAgain } = classifyResults(suite, results, context.rows);
  const notRun = results.filter(({ outcome }) => outcome === 'not run').length;
  const unexplained = unpassed.filter(({ reason }) => reason === undefined).map(({ result }) => result);
  return {
    report: {
      suite,
      date: new Date().toISOString().slice(0, 10),
      minutes: Math.round((performance.now() - suiteStartedMs) / 60_000),
      lists: run.lists.map((list) => countList(list.title, list.results)),
      unpassed: reportUnpassed(unpassed),
    },
    problems: [
      ...run.failures.map((failure) => `${suite}: ${failure}`),
      ...(notRun === 0 ? [] : [`${suite}: the run ended before ${notRun} tests`]),
      ...unexplained.map(({ name, message }) => `${suite}: ${noReason}: ${name}\n${message ?? ''}`),
      ...passedAgain.map(({ test }) => `${suite}: passes, but has a row in classification.yaml: ${test}`),
    ],
  };
}

async function runTests(suite: SuiteName, context: SuiteContext, options: SuiteOptions): Promise<SuiteRun> {
  const { tests, selection, selected, focus } = context;
  if (suite === 'integration') return runIntegration(tests, options);
  const pattern = new RegExp(focus ?? '', 'u');
  const lists = selection.suites[suite].map((name) => ({
    name,
    title: selection.lists[name]!.title,
    tests: selected.lists.get(name)!.filter((test) => pattern.test(test.name)),
  }));
  if (lists.every((list) => list.tests.length === 0)) throw new Error(`--focus: no test matches (got ${focus})`);
  await using cluster = suite === 'e2e' ? await startRealCluster() : await startEmbeddedCluster();
  // Awaited here: the cluster ends when this function does.
  return await runE2e(tests, cluster, lists, options);
}

/** Writes the suite into the report and the page. The other suites keep their latest results. */
function writeReport(suite: SuiteReport, { exclusions }: Selection, { excluded }: Selected): void {
  const earlier = existsSync(reportFile) ? parseReport(readFileSync(reportFile, 'utf8')).suites : [];
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  const report: Report = {
    kubernetes: release,
    version: manifest.version,
    suites: [...mergeSuites(earlier, [suite])],
    excluded: exclusions.map(({ class: name, reason }) => ({ class: name, reason, tests: excluded.get(name)!.length })),
  };
  writeFiles(report);
}

/** Writes the reasons of classification.yaml into the report of the last runs. Fails if a test has none. */
function explainReport(): number {
  const report = explainAgain(parseReport(readFileSync(reportFile, 'utf8')), readRows());
  writeFiles(report);
  console.log(formatTable(report.suites));
  const unexplained = report.suites.some(({ unpassed }) => unpassed.some(({ reason }) => reason === noReason));
  return unexplained ? exitCodes.failed : exitCodes.explained;
}

function writeFiles(report: Report): void {
  writeFileSync(reportFile, `${JSON.stringify(report, undefined, 2)}\n`);
  writeFileSync(pageFile, formatPage(report));
}

function readRows(): readonly ClassificationRow[] {
  return parseClassification(parse(readFileSync(join(import.meta.dirname, 'classification.yaml'), 'utf8')));
}

function say(line: string): void {
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  console.log(`${String(seconds).padStart(5)} s  ${line}`);
}
