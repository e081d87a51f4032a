// Runs the tests that need a real control plane: `npm run test:control-plane [-- FILE...]`. Builds it first; if that is not
// possible, prints that the tests are skipped and passes.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { runTestFiles } from '../run-files.ts';

/** A test file may start several control planes and wait for real grace periods. */
const fileTimeoutMs = 600_000;
/** Run only explicitly: a real kubelet has races, and one that is not listed yet is reported as a difference. */
const runByItself: ReadonlySet<string> = new Set(['kubelet-parity.test.ts']);

process.exitCode = main();

function main(): number {
  const buildCode = runNode([
    join(import.meta.dirname, '..', '..', 'tools', 'control-plane', 'build.ts'),
    '--optional',
  ]);
  if (buildCode !== 0) return buildCode;
  const found = findControlPlane();
  if ('missing' in found) {
    console.log(`control plane: the tests are SKIPPED, ${found.missing}`);
    return 0;
  }
  const chosen = process.argv.slice(2);
  const files = chosen.length > 0 ? chosen : everyFile();
  // One file at a time, because the start of a control plane uses two cores.
  return runTestFiles(files, ['--test-concurrency=1', `--test-timeout=${fileTimeoutMs}`]);
}

function everyFile(): readonly string[] {
  const files = globSync(join(import.meta.dirname, '**', '*.test.ts'));
  return files.filter((file) => !runByItself.has(basename(file))).sort();
}

function runNode(args: readonly string[]): number {
  const { status, error } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 1;
}
