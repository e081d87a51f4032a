// The command line of `npm run test:upstream`.
import { parseArgs } from 'node:util';
import { type SuiteName, suiteNames } from './results.ts';

export const usage = `npm run test:upstream -- [--suite NAME]... [--focus REGEX]
npm run test:upstream -- --explain

Runs tests of Kubernetes against this project and explains those that do not pass. Needs Go 1.26.

  --suite NAME   one of ${suiteNames.join(', ')}; repeatable. Default: all
  --focus REGEX  only tests whose name matches (for integration: the pattern of go test -run).
                 Then the results are not written to docs/conformance.md
  --explain      run nothing: only write the reasons of classification.yaml into docs/conformance.md
  --help         print this`;

interface Arguments {
  readonly suites: readonly SuiteName[];
  readonly focus: string | undefined;
  readonly explain: boolean;
  readonly help: boolean;
}

/** Throws an error that names the option, its value and what is accepted. */
export function parseArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      suite: { type: 'string', multiple: true },
      focus: { type: 'string' },
      explain: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const suites = values.suite ?? [];
  const unknown = suites.find((name) => !isSuite(name));
  if (unknown !== undefined) throw new Error(`--suite: must be one of ${suiteNames.join(', ')} (got ${unknown})`);
  if (values.focus !== undefined && !isPattern(values.focus))
    throw new Error(`--focus: must be a regular expression (got ${JSON.stringify(values.focus)})`);
  if (values.explain && (suites.length > 0 || values.focus !== undefined))
    throw new Error('--explain: runs nothing, so that --suite and --focus must not be set');
  return {
    suites: suites.length === 0 ? suiteNames : suiteNames.filter((name) => suites.includes(name)),
    focus: values.focus,
    explain: values.explain,
    help: values.help,
  };
}

function isSuite(name: string): name is SuiteName {
  return suiteNames.some((known) => known === name);
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').source !== '(?:)';
  } catch {
    return false;
  }
}
