// Runs the tests of what is shipped: `npm run test:packaging [-- FILE...]`. Builds helm, kubeconform and kustomize first
// when that is possible; says what it skips where it is not.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findControlPlane } from '../control-plane/binaries.ts';
import { findTools } from './tools.ts';

const fileTimeoutMs = 600_000;

process.exitCode = main(process.argv.slice(2));

function main(chosen: readonly string[]): number {
  const buildCode = runNode([join(import.meta.dirname, 'build-tools.ts'), '--optional']);
  if (buildCode !== 0) return buildCode;
  const files = chosen.length > 0 ? chosen : [...withoutTools(), ...withTools(), ...withControlPlane()];
  return runNode(['--test', '--test-concurrency=1', `--test-timeout=${fileTimeoutMs}`, ...files]);
}

function here(name: string): string {
  return join(import.meta.dirname, name);
}

function withoutTools(): readonly string[] {
  return [here('package.test.ts')];
}

function withTools(): readonly string[] {
  const found = findTools();
  if (!('missing' in found)) return [here('chart.test.ts'), here('manifests.test.ts')];
  console.log(`packaging: the tests of chart and manifests are SKIPPED, ${found.missing}`);
  return [];
}

function withControlPlane(): readonly string[] {
  const found = findControlPlane();
  if ('missing' in findTools()) return [];
  if (!('missing' in found)) return [here('cluster.test.ts')];
  console.log(`packaging: the test on a cluster is SKIPPED, ${found.missing}`);
  return [];
}

function runNode(args: readonly string[]): number {
  const { status, error } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 1;
}
