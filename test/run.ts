// Runs the tests below the folders named as arguments. Unit, scenario and architecture tests share processes, two at a time (they touch
// neither sockets nor global state); the others get one process a file. Files named `*.long.test.ts` take more than some ten
// seconds each: whole outages in real time, random histories, large fleets. `--long` runs only these, else they are left out.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { runTestFiles, useCompileCache } from './run-files.ts';

const together = new Set(['unit', 'scenarios', 'simulator', 'architecture', 'vectors']);

function filesBelow(folder: string): readonly string[] {
  const isLong = (file: string): boolean => file.endsWith('.long.test.ts');
  return globSync(`${folder}/**/*.test.ts`)
    .filter((file) => isLong(file) === onlyLong)
    .sort();
}

/** Several shares for each process, since no two shares take equally long; one process is for coverage, which needs one share. */
const sharesByProcess = 4;

/** `processes` beside each other. What a share prints comes at its end. */
async function runTogether(files: readonly string[], options: readonly string[], processes: number): Promise<number> {
  const count = processes === 1 ? 1 : processes * sharesByProcess;
  const shares = Array.from({ length: count }, (_, place) => files.filter((_file, at) => at % count === place));
  const waiting = shares.filter((share) => share.length > 0);
  const codes: number[] = [];
  const runWaiting = async (): Promise<void> => {
    for (let share = waiting.shift(); share !== undefined; share = waiting.shift())
      codes.push(await ended(startTogether(share, options)));
  };
  await Promise.all(Array.from({ length: processes }, runWaiting));
  return codes.find((code) => code !== 0) ?? 0;
}

function startTogether(files: readonly string[], options: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--test', '--test-isolation=none', ...options, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function ended(child: ChildProcess): Promise<number> {
  const output: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  process.stdout.write(Buffer.concat(output));
  return signal === null ? (code ?? 1) : 1;
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

const onlyLong = process.argv.includes('--long');
const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const options = flags.filter((flag) => flag !== '--coverage' && flag !== '--long');
const coverage = flags.includes('--coverage') ? coverageFloor : [];
const areaOf = (folder: string): string => folder.split('/')[1] ?? '';
const shared = folders.filter((folder) => together.has(areaOf(folder))).flatMap(filesBelow);
const apart = folders.filter((folder) => !together.has(areaOf(folder))).flatMap(filesBelow);
if (shared.length + apart.length === 0) {
  console.error(`no *.test.ts below ${folders.join(', ')}`);
  process.exit(1);
}
// A function of a cached module is not counted in the coverage.
if (coverage.length === 0) useCompileCache();
/** Coverage is counted in one process. */
const processes = coverage.length > 0 ? 1 : 2;
const codes = [
  await runTogether(shared, [...coverage, ...options], processes),
  runTestFiles(apart, ['--test-concurrency=4', '--test-timeout=170000', ...options]),
];
process.exit(codes.find((code) => code !== 0) ?? 0);
