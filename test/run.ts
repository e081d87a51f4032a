// Runs the tests below the folders named as arguments. Unit, scenario and architecture tests share one process (they touch
// neither sockets nor global state); the others get one process a file.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { runTestFiles } from './run-files.ts';

const together = new Set(['unit', 'scenarios', 'simulator', 'architecture', 'vectors']);

function filesBelow(folder: string): readonly string[] {
  return globSync(`${folder}/**/*.test.ts`).sort();
}

function runTogether(files: readonly string[], options: readonly string[]): number {
  if (files.length === 0) return 0;
  const { status, signal } = spawnSync(process.execPath, ['--test', '--test-isolation=none', ...options, ...files], {
    stdio: 'inherit',
  });
  return signal === null ? (status ?? 1) : 1;
}

/** The floor for pure files, in percent; `--coverage` checks it. */
const pureFiles =
  'src/**/{assess,build,classify,correlate,decide,describe,diff,estimate,format,merge,parse,plan,select,validate}-*.ts';
const coverageFloor = [
  '--experimental-test-coverage',
  `--test-coverage-include=${pureFiles}`,
  '--test-coverage-lines=99',
  '--test-coverage-functions=98',
  '--test-coverage-branches=94',
];

const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const options = flags.filter((flag) => flag !== '--coverage');
const coverage = flags.includes('--coverage') ? coverageFloor : [];
const areaOf = (folder: string): string => folder.split('/')[1] ?? '';
const shared = folders.filter((folder) => together.has(areaOf(folder))).flatMap(filesBelow);
const apart = folders.filter((folder) => !together.has(areaOf(folder))).flatMap(filesBelow);
if (shared.length + apart.length === 0) {
  console.error(`no *.test.ts below ${folders.join(', ')}`);
  process.exit(1);
}
const codes = [
  runTogether(shared, [...coverage, ...options]),
  runTestFiles(apart, ['--test-concurrency=2', '--test-timeout=170000', ...options]),
];
process.exit(codes.find((code) => code !== 0) ?? 0);
