// Runs vectors against the real code: `npm run vectors -- FILE...`, or all there are without a name. One line for each that
// does not pass; the exit code is 1 if one fails that no decision record accounts for.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, judge, type Verdict } from './judge.ts';
import { runVector } from './run-vector.ts';

const here = import.meta.dirname;
export const recordsFolder = join(here, '../../docs/decisions');

/** Ids whose difference from the reference is meant, with the record that says so. */
export function readDeviations(): ReadonlyMap<string, string> {
  const text = readFileSync(join(here, 'deviations.json'), 'utf8');
  return new Map(Object.entries(JSON.parse(text) as Readonly<Record<string, string>>));
}

/** The files that come with the project. */
export function givenFiles(): readonly string[] {
  return globSync(join(here, 'given/*.json')).sort();
}

export async function judgeFile(file: string, deviations: ReadonlyMap<string, string>): Promise<readonly Verdict[]> {
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const vectors: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  const verdicts: Verdict[] = [];
  for (const vector of vectors) {
    const isRecorded = (record: string): boolean => existsSync(join(recordsFolder, record));
    verdicts.push(judge({ vector, failures: await runVector(vector), deviations, isRecorded }));
  }
  return verdicts;
}

async function main(files: readonly string[]): Promise<number> {
  const deviations = readDeviations();
  const account: Account = { passed: 0, failed: 0, deviating: 0 };
  for (const file of files) {
    for (const verdict of await judgeFile(file, deviations)) {
      account[verdict.result] += 1;
      if (verdict.line !== '') console.log(verdict.line);
    }
  }
  console.log(`${account.passed} passed, ${account.failed} failed, ${account.deviating} deviating`);
  return account.failed > 0 || account.passed + account.deviating === 0 ? 1 : 0;
}

if (import.meta.main) {
  const named = process.argv.slice(2);
  process.exitCode = await main(named.length > 0 ? named : givenFiles());
}
