// Runs the tests in a browser: `npm run test:browser [-- FILE...]`. Where Chromium cannot start, prints that the tests are
// skipped and passes.
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runTestFiles, useCompileCache } from '../run-files.ts';
import { unpackedChromium } from './chromium.ts';

const fileTimeoutMs = 120_000;
/** These measure what a page does while it has a core of its own. */
const alone: ReadonlySet<string> = new Set(['many-nodes.test.ts']);

process.exitCode = main(process.argv.slice(2));

function main(chosen: readonly string[]): number {
  const found = unpackedChromium();
  if ('missing' in found) {
    console.log(`browser: the tests are SKIPPED, ${found.missing}`);
    return 0;
  }
  useCompileCache();
  const files = chosen.length > 0 ? chosen : globSync(join(import.meta.dirname, '*.test.ts')).sort();
  const measuring = files.filter((file) => alone.has(basename(file)));
  const others = files.filter((file) => !alone.has(basename(file)));
  const codes = [run(measuring, 1), run(others, 2)];
  return codes.find((code) => code !== 0) ?? 0;
}

function run(files: readonly string[], concurrency: number): number {
  return runTestFiles(files, [`--test-concurrency=${concurrency}`, `--test-timeout=${fileTimeoutMs}`]);
}
