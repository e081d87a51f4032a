// Runs the packaging tests: `npm run test:packaging [-- FILE...]`. Builds helm, kubeconform, kustomize, promtool and krew first; if
// that is not possible, prints which tests are skipped.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { missingInputs } from '../../tools/packaging/image/cached-inputs.ts';
import { readPins } from '../../tools/packaging/image/pinned-inputs.ts';
import { findKrew } from '../../tools/packaging/krew-programs.ts';
import { findTools } from '../../tools/packaging/programs.ts';
import { findReleasePrograms } from '../../tools/packaging/release-programs.ts';
import { runTestFiles, useCompileCache } from '../run-files.ts';

const fileTimeoutMs = 600_000;
/** All other files need only the tools. */
const needingNothing: ReadonlySet<string> = new Set(['package.test.ts']);
const needingKrew: ReadonlySet<string> = new Set(['krew.test.ts']);
const needingRelease: ReadonlySet<string> = new Set(['workflows.test.ts']);
const needingImage: ReadonlySet<string> = new Set(['image.test.ts']);
const needingControlPlane: ReadonlySet<string> = new Set(['cluster.test.ts', 'modes.test.ts', 'scheduling.test.ts']);

process.exitCode = main(process.argv.slice(2));

function main(chosen: readonly string[]): number {
  useCompileCache();
  const tools = join(import.meta.dirname, '..', '..', 'tools', 'packaging');
  for (const script of ['build-programs.ts', 'build-modules.ts', 'image/fetch-inputs.ts']) {
    const buildCode = runNode([join(tools, script), '--optional']);
    if (buildCode !== 0) return buildCode;
  }
  if (chosen.length > 0) return runFiles(chosen, 1);
  const others = [...withoutTools(), ...withKrew(), ...withRelease(), ...withImage(), ...withTools()];
  // They wait for a demo and for clusters half of their time.
  const codes = [runFiles(others, 3), runFiles(withControlPlane(), 3)];
  return codes.find((code) => code !== 0) ?? 0;
}

function runFiles(files: readonly string[], concurrency: number): number {
  return runTestFiles(files, [`--test-concurrency=${concurrency}`, `--test-timeout=${fileTimeoutMs}`]);
}

function filesThat(are: (name: string) => boolean): readonly string[] {
  const files = globSync(join(import.meta.dirname, '*.test.ts'));
  return files.filter((file) => are(basename(file))).sort();
}

function withoutTools(): readonly string[] {
  return filesThat((name) => needingNothing.has(name));
}

function withKrew(): readonly string[] {
  const found = findKrew();
  if (!('missing' in found)) return filesThat((name) => needingKrew.has(name));
  console.log(`packaging: the tests of the kubectl plugin's package are SKIPPED, ${found.missing}`);
  return [];
}

function withRelease(): readonly string[] {
  const found = findReleasePrograms();
  if (!('missing' in found)) return filesThat((name) => needingRelease.has(name));
  console.log(`packaging: the tests of the release workflows are SKIPPED, ${found.missing}`);
  return [];
}

function withImage(): readonly string[] {
  const found = findReleasePrograms();
  const missing = 'missing' in found ? found.missing : missingInputs(readPins());
  if (missing === undefined) return filesThat((name) => needingImage.has(name));
  console.log(`packaging: the tests of the image are SKIPPED, ${missing}`);
  return [];
}

function withTools(): readonly string[] {
  const found = findTools();
  const others = [needingNothing, needingKrew, needingRelease, needingImage, needingControlPlane];
  if (!('missing' in found)) return filesThat((name) => !others.some((names) => names.has(name)));
  console.log(`packaging: the tests of chart, manifests and rules are SKIPPED, ${found.missing}`);
  return [];
}

function withControlPlane(): readonly string[] {
  const found = findControlPlane();
  if ('missing' in findTools()) return [];
  if (!('missing' in found)) return filesThat((name) => needingControlPlane.has(name));
  console.log(`packaging: the tests on a cluster are SKIPPED, ${found.missing}`);
  return [];
}

function runNode(args: readonly string[]): number {
  const { status, error } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 1;
}
