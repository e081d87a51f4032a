// Runs the tests that need a real control plane: `npm run test:control-plane [-- FILE...]`. Builds it first when that is
// possible; says so and passes when it is not.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findControlPlane } from './binaries.ts';

/** A file of tests may start several control planes and wait out real grace periods. */
const fileTimeoutMs = 600_000;
/** Only when asked for: a real kubelet races with itself, and each race that is not listed yet looks like a difference. */
const runByItself: ReadonlySet<string> = new Set(['kubelet-parity.test.ts']);

process.exitCode = main();

function main(): number {
  const buildCode = runNode([join(import.meta.dirname, 'build.ts'), '--optional']);
  if (buildCode !== 0) return buildCode;
  const found = findControlPlane();
  if ('missing' in found) {
    console.log(`control plane: the tests are SKIPPED, ${found.missing}`);
    return 0;
  }
  const chosen = process.argv.slice(2);
  const files = chosen.length > 0 ? chosen : everyFile();
  // One file at a time: each starts a control plane that alone takes two cores for its first seconds.
  return runNode(['--test', '--test-concurrency=1', `--test-timeout=${fileTimeoutMs}`, ...files]);
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
