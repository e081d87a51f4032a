// Runs the tests that need a real control plane: `npm run test:control-plane [-- --kubernetes VERSION | --load] [FILE...]`. Builds
// it first; if that is not possible, prints that the tests are skipped and passes.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { selectVersion, splitArguments, UnknownVersion } from '../../tools/control-plane/kubernetes-version.ts';
import { runTestFiles, useCompileCache } from '../run-files.ts';

/** A test file may start several control planes and wait for real grace periods. */
const fileTimeoutMs = 600_000;
/** Run only explicitly: a real kubelet has races, and faults take minutes. */
const runByItself: ReadonlySet<string> = new Set([
  'kubelet-parity.test.ts',
  'faults.test.ts',
  'compared-faults.test.ts',
]);

/** What `--load` runs, and nothing else does: memory and takeovers while both cores are busy, for minutes. */
const underLoad: readonly string[] = ['churn.test.ts', 'high-availability.test.ts'];

/** These measure times under load, or use both cores: one at a time. The others wait for most of their time. */
const alone: ReadonlySet<string> = new Set(['faults.test.ts', 'compared-faults.test.ts', ...underLoad]);
/** As many others at a time: the start of a control plane uses two cores for some seconds. */
const together = 4;

/** What `--kubernetes VERSION` runs: what depends on the version of the API server or of kube-controller-manager. */
const versionTests: readonly string[] = [
  'smoke.test.ts',
  'conformance.test.ts',
  'controllers-flag.test.ts',
  'parity.test.ts',
  'unreachable-node.test.ts',
  'events.test.ts',
  'protobuf-informer.test.ts',
  'policy-crd.test.ts',
];
const usageError = 2;

process.exitCode = main(process.argv.slice(2));

function main(args: readonly string[]): number {
  try {
    const { version, others } = splitArguments(args);
    if (version !== undefined) selectVersion(version);
    const files = others.filter((argument) => argument !== '--load');
    if (files.length < others.length) return runTests(files, () => filesNamed(underLoad));
    return runTests(files, version === undefined ? everyFile : () => filesNamed(versionTests));
  } catch (error) {
    if (!(error instanceof UnknownVersion)) throw error;
    console.log(`control plane: ${error.message}`);
    return usageError;
  }
}

function runTests(chosen: readonly string[], byDefault: () => readonly string[]): number {
  useCompileCache();
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
  const files = chosen.length > 0 ? chosen : byDefault();
  const isAlone = (file: string): boolean => alone.has(basename(file));
  const codes = [
    runFiles(
      files.filter((file) => !isAlone(file)),
      together,
    ),
    runFiles(files.filter(isAlone), 1),
  ];
  return codes.find((code) => code !== 0) ?? 0;
}

function runFiles(files: readonly string[], concurrency: number): number {
  return runTestFiles(files, [`--test-concurrency=${concurrency}`, `--test-timeout=${fileTimeoutMs}`]);
}

function filesNamed(names: readonly string[]): readonly string[] {
  return names.map((name) => join(import.meta.dirname, name));
}

function everyFile(): readonly string[] {
  const files = globSync(join(import.meta.dirname, '**', '*.test.ts'));
  const isLeftOut = (file: string): boolean => runByItself.has(basename(file)) || underLoad.includes(basename(file));
  return files.filter((file) => !isLeftOut(file)).sort();
}

function runNode(args: readonly string[]): number {
  const { status, error } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 1;
}
