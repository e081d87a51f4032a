// Reads the output of a Go test binary with -test.v.
import type { TestResult } from './results.ts';

const line = /^\s*--- (PASS|FAIL|SKIP): (.+) \((\d+(?:\.\d+)?)s\)$/;
const outcomes: Readonly<Record<string, TestResult['outcome']>> = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' };

/** The results of all tests that have no subtests. The message of a failed one is the output of its run. */
export function readGoTestOutput(output: string): readonly TestResult[] {
  const results = output
    .split('\n')
    .map((text) => line.exec(text))
    .filter((match) => match !== null)
    .map(([, outcome = '', name = '', seconds = '']) => ({
      outcome: outcomes[outcome]!,
      name,
      seconds: Number(seconds),
    }));
  const parents = new Set(results.flatMap(({ name }) => parentsOf(name)));
  return results
    .filter(({ name }) => !parents.has(name))
    .map((result) => (result.outcome === 'passed' ? result : { ...result, message: messageOf(output, result.name) }));
}

function parentsOf(name: string): readonly string[] {
  const parts = name.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Lines of `t.Errorf` and `t.Fatalf` between the start of the test and its end. */
function messageOf(output: string, name: string): string {
  const lines = output.split('\n');
  const start = lines.indexOf(`=== RUN   ${name}`);
  const own = lines.slice(start + 1);
  const end = own.findIndex((text) => text.startsWith('=== RUN'));
  return own
    .slice(0, end === -1 ? own.length : end)
    .filter((text) => /^\s+\w+\.go:\d+: /.test(text))
    .map((text) => text.trim())
    .join('\n');
}
