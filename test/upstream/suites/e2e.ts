// Suites e2e and e2e-embedded: the e2e tests of selection.yaml on a cluster, by ginkgo.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Guard } from '../../../src/cli/simulation/programs/guard.ts';
import type { UpstreamTests } from '../../../tools/upstream/build.ts';
import { buildFocusPattern } from '../build-pattern.ts';
import { type Cluster, nodeCount } from '../clusters/cluster.ts';
import { readKnownTests, readResults, readSuiteFailures } from '../read-ginkgo-report.ts';
import type { KnownTest, TestResult } from '../results.ts';
import { runProgram } from './run-program.ts';
import type { SuiteOptions, SuiteRun } from './suite.ts';

/** Tests that run at the same time; most of their time is waits. Those that Kubernetes marks serial run alone, after the others. */
const processes = 8;
/** More failed tests than this are no accident of a busy machine: they are not run again. */
const runAgainMax = 40;
const timeout = '4h';
/** Of the e2e binary. */
const suiteTitle = 'Kubernetes e2e suite';

interface NamedTests {
  readonly name: string;
  readonly title: string;
  readonly tests: readonly KnownTest[];
}

/** All tests of the e2e binary, by a dry run without a cluster. */
export async function listTests(
  tests: UpstreamTests,
  { say, interrupted }: Pick<SuiteOptions, 'say' | 'interrupted'>,
): Promise<readonly KnownTest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-upstream-'));
  const guard = new Guard(folder);
  try {
    const report = join(folder, 'tests.json');
    const args = ['--ginkgo.dry-run', '--ginkgo.silence-skips', `--ginkgo.json-report=${report}`];
    const logFile = join(folder, 'output.log');
    const env = { HOME: folder, PATH: process.env['PATH'] };
    const code = await runProgram({
      name: 'list of the e2e tests',
      file: tests.e2e,
      args,
      cwd: folder,
      env,
      logFile,
      guard,
      say,
      interrupted,
    });
    if (code !== 0) throw new Error(`e2e.test: exit code ${code}: ${readFileSync(logFile, 'utf8').slice(-500)}`);
    return readKnownTests(readFileSync(report, 'utf8'));
  } finally {
    await guard.dismiss();
  }
}

/** Runs the lists on one cluster, and what failed once more, one test at a time. */
export async function runE2e(
  tests: UpstreamTests,
  cluster: Cluster,
  lists: readonly NamedTests[],
  options: SuiteOptions,
): Promise<SuiteRun> {
  const names = lists.flatMap((list) => list.tests.map(({ name }) => name));
  const ginkgo = new GinkgoRuns(tests, cluster, options);
  try {
    const first = await ginkgo.run('first', names, processes);
    const failed = first.results
      .filter(({ name, outcome }) => outcome === 'failed' && !options.knownToFail.has(name))
      .map(({ name }) => name);
    const again = failed.length > 0 && failed.length <= runAgainMax ? await ginkgo.run('second', failed, 1) : undefined;
    const results = new Map([...first.results, ...(again?.results ?? [])].map((result) => [result.name, result]));
    return {
      lists: lists.map((list) => ({
        ...list,
        results: list.tests.map(({ name }) => results.get(name) ?? notRun(name)),
      })),
      failures: [...first.failures, ...(again?.failures ?? [])],
    };
  } finally {
    ginkgo.keepLogs();
  }
}

function notRun(name: string): TestResult {
  return { name, outcome: 'not run', seconds: 0 };
}

interface GinkgoRun {
  readonly results: readonly TestResult[];
  readonly failures: readonly string[];
}

class GinkgoRuns {
  readonly #tests: UpstreamTests;
  readonly #cluster: Cluster;
  readonly #options: SuiteOptions;

  constructor(tests: UpstreamTests, cluster: Cluster, options: SuiteOptions) {
    this.#tests = tests;
    this.#cluster = cluster;
    this.#options = options;
  }

  async run(which: string, names: readonly string[], parallel: number): Promise<GinkgoRun> {
    const { say, logFolder, interrupted } = this.#options;
    const folder = mkdtempSync(join(tmpdir(), 'nlc-upstream-'));
    const guard = new Guard(folder);
    try {
      mkdirSync(logFolder, { recursive: true });
      const logFile = join(logFolder, `${which}.log`);
      const report = join(folder, 'report.json');
      const args = this.#arguments(names, folder, parallel);
      const env = { HOME: folder, PATH: process.env['PATH'] };
      const name = `${which} run of ${names.length} tests`;
      const about = { name, file: this.#tests.ginkgo, args, cwd: folder, env };
      const code = await runProgram({ ...about, logFile, guard, say, interrupted });
      if (!existsSync(report)) throw new Error(`ginkgo: exit code ${code}, no report; output in ${logFile}`);
      copyFileSync(report, join(logFolder, `${which}.json`));
      return this.#read(readFileSync(report, 'utf8'), `${name}; output in ${logFile}`);
    } finally {
      await guard.dismiss();
    }
  }

  /** Copies the logs of the cluster's programs, before its folder is removed. */
  keepLogs(): void {
    const { folder } = this.#cluster;
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.log'))) {
      copyFileSync(join(folder, name), join(this.#options.logFolder, name));
    }
  }

  #read(report: string, name: string): GinkgoRun {
    const results = readResults(report);
    const count = (outcome: TestResult['outcome']): number => results.filter((each) => each.outcome === outcome).length;
    this.#options.say(`${name}: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
    return { results, failures: readSuiteFailures(report) };
  }

  #arguments(names: readonly string[], folder: string, parallel: number): readonly string[] {
    const { kubeconfigFile, kubectl } = this.#cluster;
    return [
      `--procs=${parallel}`,
      '--no-color',
      '--silence-skips',
      '--keep-going',
      `--timeout=${timeout}`,
      '--json-report=report.json',
      `--output-dir=${folder}`,
      `--focus=${buildFocusPattern(suiteTitle, names)}`,
      this.#tests.e2e,
      '--',
      `--kubeconfig=${kubeconfigFile}`,
      `--kubectl-path=${kubectl}`,
      '--provider=skeleton',
      `--num-nodes=${nodeCount}`,
      '--allowed-not-ready-nodes=0',
      // There are no pods in kube-system to wait for, and no machines to read logs from.
      '--minStartupPods=0',
      '--node-os-distro=custom',
      '--dump-logs-on-failure=false',
      '--disable-log-dump=true',
    ];
  }
}
