// Runs test files in separate processes and prints the result of each test, one JSON object per line. A separate program,
// because Node's test runner cannot run files from within a test.
import { relative } from 'node:path';
import { run } from 'node:test';

/** The result of one test. Suites have no result of their own. */
export interface Row {
  readonly file: string;
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** The reason of a failure or a skip. */
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

/** A suite or parent test that failed only because a subtest failed; the subtest has its own row. */
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
