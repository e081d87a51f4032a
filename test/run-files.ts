// Runs test files under node:test, for the suites that measure real time on a machine they share.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** More failed files than this are no accident of a busy machine: they are not run again. */
const filesRunAgain = 3;

/**
 * Runs `files` in processes of their own and returns the exit status: 0 when all passed. The few files that failed are
 * run once more, alone, and are named at the end: these tests wait for real clocks and real servers, and a machine that
 * stood still for seconds fails one of them. What fails twice fails.
 */
export function runTestFiles(files: readonly string[], options: readonly string[]): number {
  if (files.length === 0) return 0;
  const first = runOnce(files, options);
  if (first.status === 0 || first.failed.length === 0 || first.failed.length > filesRunAgain) return first.status;
  console.log(`\n=== second run, one at a time, of what failed:\n${list(first.failed)}`);
  const second = runOnce(first.failed, [...options, '--test-concurrency=1']);
  if (second.status === 0) console.log(`\n=== FLAKY: failed at first, passed alone:\n${list(first.failed)}`);
  return second.status;
}

/**
 * Has each process that is started from now on, also a controller that a test starts, keep its compiled modules below
 * node_modules: an import of the sources costs a fourth of a second instead of half a second.
 */
export function useCompileCache(): void {
  process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled-modules');
}

/** The status of one run, and the files with a failed test. */
function runOnce(files: readonly string[], options: readonly string[]): { status: number; failed: readonly string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-tests-'));
  const failedFiles = join(folder, 'failed');
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'failed-files-reporter.ts')}`,
    `--test-reporter-destination=${failedFiles}`,
  ];
  const { status, error } = spawnSync(process.execPath, ['--test', ...reporters, ...options, ...files], {
    stdio: 'inherit',
  });
  if (error !== undefined) throw error;
  const failed = existsSync(failedFiles) ? readFileSync(failedFiles, 'utf8').split('\n').filter(Boolean) : [];
  rmSync(folder, { recursive: true });
  return { status: status ?? 1, failed };
}

function list(files: readonly string[]): string {
  return files.map((file) => `  ${file}`).join('\n');
}
