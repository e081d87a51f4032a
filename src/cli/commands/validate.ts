import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { type CommandIo, exitSuccess, printNote, usageError } from '../io/command-io.ts';
import { parseControllerConfig } from '../controller/config.ts';
import { readYamlText } from '../../machinery/yaml/yaml-text.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { escapeControls } from '../../machinery/api/format-safe-text.ts';
import { mapOf } from '../../machinery/api/json-map.ts';
import { hasPolicyManifest, readPolicyManifests } from '../../policy/schema/manifest-reader.ts';
import { type PolicyInput, policySchema } from '../../policy/schema/policy-schema.ts';
import { toPolicyManifest } from '../../policy/schema/to-policy-object.ts';
import { validateFlags } from './flags.ts';

type Output = 'crd' | 'config' | undefined;

/** Content of a valid file. */
interface Validated {
  readonly what: string;
  readonly policies: () => readonly PolicyInput[];
  readonly warnings: readonly string[];
}

/**
 * `nlc validate FILE`: checks a config file, its policies included, or NodeLifecyclePolicy manifests, without a cluster; with
 * --output it prints the policies in the other form.
 */
export function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals: files } = parseArgs({
    args: [...argv],
    strict: false,
    options: { output: { type: 'string' } },
  });
  const others = Object.entries(values).map(([name, value]) => `--${name}=${String(value)}`);
  const flags = readFlags(others, validateFlags);
  const [file] = files;
  const got = files.length === 0 ? 'got none' : `got ${files.map((word) => JSON.stringify(word)).join(', ')}`;
  const problems = [
    ...('problems' in flags ? flags.problems : []),
    ...(files.length === 1 ? [] : [`FILE: must be one file (${got})`]),
  ];
  if (file === undefined || 'problems' in flags || problems.length > 0)
    return Promise.resolve(usageError(io, 'validate', problems, 'arguments'));
  return Promise.resolve(validate(file, flags.values.output, io));
}

function validate(file: string, output: Output, io: CommandIo): number {
  const read = readValidated(file, output);
  if ('problems' in read) return usageError(io, 'validate', read.problems, 'configuration');
  for (const warning of read.warnings) printNote(io, 'validate', `warning: ${warning}`);
  io.stdout(output === undefined ? `${read.what}\n` : escapeControls(printed(read.policies(), output)));
  return exitSuccess;
}

function readValidated(file: string, output: Output): Validated | { readonly problems: readonly string[] } {
  const read = readOnce(file);
  const text = 'text' in read ? read.text : '';
  return hasPolicyManifest(text) ? readManifests(file, text) : readConfig(file, read, output);
}

/** Once, because it may be a pipe. The parser of the config reports an error. */
type FileRead = { readonly text: string } | { readonly error: unknown };

function readOnce(file: string): FileRead {
  try {
    return { text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { error };
  }
}

function readManifests(file: string, text: string): ReturnType<typeof readValidated> {
  const read = readPolicyManifests(file, text);
  if ('problems' in read) return read;
  const { policies, warnings } = read;
  const what = policies.length === 1 ? 'the policy is valid' : `the ${policies.length} policies are valid`;
  return { what, policies: () => policies, warnings };
}

function readConfig(file: string, read: FileRead, output: Output): ReturnType<typeof readValidated> {
  // A file that names the other source already still has policies to convert.
  const source = output === undefined ? [] : ['--policy-source=file'];
  const parsed = parseControllerConfig([`--config=${file}`, ...source], () => textOf(read));
  if ('problems' in parsed) return parsed;
  const policies = (): readonly PolicyInput[] => {
    const document = readYamlText(file, textOf(read));
    return policySchema.array().parse('value' in document ? (mapOf(document.value)['policies'] ?? []) : []);
  };
  return { what: 'the configuration is valid', policies, warnings: parsed.warnings };
}

function textOf(read: FileRead): string {
  if ('text' in read) return read.text;
  throw read.error;
}

function printed(policies: readonly PolicyInput[], output: NonNullable<Output>): string {
  if (output === 'config') return stringify({ policies }, { lineWidth: 0 });
  return policies.map((policy) => stringify(toPolicyManifest(policy), { lineWidth: 0 })).join('---\n');
}
