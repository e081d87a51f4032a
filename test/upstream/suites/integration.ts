// Suite integration: Kubernetes' integration tests of the controllers that this project replaces. Each test starts its own
// kube-apiserver in its process, and a process of `nlc controller` in place of the controllers (tools/upstream/replacements).
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Guard } from '../../../src/cli/simulation/programs/guard.ts';
import type { UpstreamTests } from '../../../tools/upstream/build.ts';
import { findControlPlane } from '../../../tools/control-plane/binaries.ts';
import { freePorts } from '../../../src/cli/simulation/programs/free-ports.ts';
import { etcdArguments } from '../../../src/cli/simulation/programs/control-plane-programs.ts';
import { ProgramRun } from '../../control-plane/program-run.ts';
import { buildRunPattern } from '../build-pattern.ts';
import { readGoTestOutput } from '../read-go-test-output.ts';
import type { TestResult } from '../results.ts';
import { runProgram } from './run-program.ts';
import type { SuiteOptions, SuiteRun } from './suite.ts';

const nlcMain = join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts');
const timeoutMinutes = 30;

/** Runs the test binaries one after the other. Those that fail run once more, alone. */
export async function runIntegration(tests: UpstreamTests, options: SuiteOptions): Promise<SuiteRun> {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-upstream-'));
  const guard = new Guard(folder);
  try {
    const etcdUrl = await startEtcd(folder, guard);
    const results: TestResult[] = [];
    const failures: string[] = [];
    for (const [source, binary] of tests.integration) {
      const run = new BinaryRun({ tests, source, binary, folder, guard, etcdUrl, options });
      const first = await run.run(options.focus, 'first');
      const failed = first.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name);
      const again = failed.length === 0 ? [] : await run.run(buildRunPattern(failed), 'second');
      const passedAlone = new Map(
        again.filter(({ outcome }) => outcome === 'passed').map((result) => [result.name, result]),
      );
      results.push(...first.map((result) => passedAlone.get(result.name) ?? result));
      if (first.length === 0 && options.focus === undefined) failures.push(`${basename(binary)} ran no test`);
    }
    return { lists: [{ name: 'integration', title: 'Integration tests', results }], failures };
  } finally {
    await guard.dismiss();
  }
}

interface BinaryRunOptions {
  readonly tests: UpstreamTests;
  readonly source: string;
  readonly binary: string;
  readonly folder: string;
  readonly guard: Guard;
  readonly etcdUrl: string;
  readonly options: SuiteOptions;
}

class BinaryRun {
  readonly #about: BinaryRunOptions;

  constructor(about: BinaryRunOptions) {
    this.#about = about;
  }

  /** The results of the tests that match the pattern of `-test.run`. */
  async run(pattern: string | undefined, which: string): Promise<readonly TestResult[]> {
    const { tests, source, binary, folder, guard, etcdUrl, options } = this.#about;
    const name = `${basename(binary)} (${which} run)`;
    const logs = join(options.logFolder, `${basename(binary)}-${which}`);
    mkdirSync(logs, { recursive: true });
    const logFile = join(logs, 'output.log');
    const code = await runProgram({
      name,
      file: binary,
      args: ['-test.v', `-test.timeout=${timeoutMinutes}m`, ...(pattern === undefined ? [] : [`-test.run=${pattern}`])],
      // The tests read files of their own folder.
      cwd: join(tests.folder, source),
      env: {
        HOME: folder,
        PATH: process.env['PATH'],
        KUBE_INTEGRATION_ETCD_URL: etcdUrl,
        NLC_UPSTREAM_COMMAND: JSON.stringify([process.execPath, nlcMain, 'controller']),
        NLC_UPSTREAM_LOGS: logs,
      },
      logFile,
      guard,
      say: options.say,
      interrupted: options.interrupted,
    });
    const results = readGoTestOutput(readFileSync(logFile, 'utf8'));
    const count = (outcome: string): number => results.filter((result) => result.outcome === outcome).length;
    options.say(
      `${name}: exit code ${code}; ${count('passed')} passed, ${count('failed')} failed; output in ${logFile}`,
    );
    return results;
  }
}

/** An etcd for all tests. The one that they would start themselves would survive a killed test. */
async function startEtcd(folder: string, guard: Guard): Promise<string> {
  const binaries = findControlPlane();
  if ('missing' in binaries) throw new Error(binaries.missing);
  const [etcdClient = 0, etcdPeer = 0] = await freePorts(2);
  const args = etcdArguments(folder, { etcdClient, etcdPeer, apiServer: 0 });
  await ProgramRun.start({
    name: 'etcd',
    binary: binaries.etcd,
    args,
    folder,
    logFile: join(folder, 'etcd.log'),
    guard,
  });
  return `http://127.0.0.1:${etcdClient}`;
}
