// Runs test files in processes of their own and prints what came of each test, one JSON object a line. A program of its
// own because Node's test runner refuses to run files from within a test.
import { relative } from 'node:path';
import { run } from 'node:test';

/** What came of one test (a leaf: suites are only their tests). */
export interface Row {
  readonly file: string;
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly why: string;
}

const fileTimeoutMs = 300_000;

if (import.meta.main) await printRows(process.argv.slice(2));

async function printRows(files: readonly string[]): Promise<void> {
  const events = run({ files: [...files], concurrency: 2, timeout: fileTimeoutMs });
  events.on('test:pass', (data) => {
    if (isLeaf(data)) print(data, data.skip === undefined ? 'passed' : 'skipped', String(data.skip ?? ''));
  });
  events.on('test:fail', (data) => {
    if (isLeaf(data) || !failedInside(data.details.error)) print(data, 'failed', reason(data.details.error));
  });
  for await (const event of events) if (event.type === 'test:stderr') process.stderr.write(event.data.message);
}

function isLeaf(data: { readonly details: { readonly type?: string | undefined } }): boolean {
  return data.details.type !== 'suite';
}

/** A suite, or a test with tests in it, that failed because one of those did: they are told themselves. */
function failedInside(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed';
}

function print(data: { readonly file?: string; readonly name: string }, outcome: Row['outcome'], why: string): void {
  const file = data.file === undefined ? '' : relative(process.cwd(), data.file);
  const row: Row = { file, name: data.name, outcome, why };
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

function reason(error: Error): string {
  const cause: unknown = error.cause ?? error;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
