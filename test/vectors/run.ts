// Runs vectors against the real code: `npm run vectors -- FILE...`, or all vectors without arguments. Prints one line for
// each that does not pass; the exit code is 1 if one fails that no decision record lists.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, evaluateResult, type VectorResult } from './evaluate-result.ts';
import { runVector } from './run-vector.ts';

const here = import.meta.dirname;
export const recordsFolder = join(here, '../../docs/decisions');

/** Ids of accepted deviations from kube-controller-manager, with their decision records. */
export function readDeviations(): ReadonlyMap<string, string> {
  const text = readFileSync(join(here, 'deviations.json'), 'utf8');
  return new Map(Object.entries(JSON.parse(text) as Readonly<Record<string, string>>));
}

/** The vectors of the project. */
export function givenFiles(): readonly string[] {
  return globSync(join(here, 'given/*.json')).sort();
}

export async function evaluateFile(
  file: string,
  deviations: ReadonlyMap<string, string>,
): Promise<readonly VectorResult[]> {
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const vectors: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  const results: VectorResult[] = [];
  for (const vector of vectors) {
    const isRecorded = (record: string): boolean => existsSync(join(recordsFolder, record));
    results.push(evaluateResult({ vector, failures: await runVector(vector), deviations, isRecorded }));
  }
  return results;
}

async function main(files: readonly string[]): Promise<number> {
  const deviations = readDeviations();
  const account: Account = { passed: 0, failed: 0, deviating: 0 };
  for (const file of files) {
    for (const evaluated of await evaluateFile(file, deviations)) {
      account[evaluated.result] += 1;
      if (evaluated.line !== '') console.log(evaluated.line);
    }
  }
  console.log(`${account.passed} passed, ${account.failed} failed, ${account.deviating} deviating`);
  return account.failed > 0 || account.passed + account.deviating === 0 ? 1 : 0;
}

if (import.meta.main) {
  const named = process.argv.slice(2);
  process.exitCode = await main(named.length > 0 ? named : givenFiles());
}
