import { printControllerPage } from '../client/controller-client.ts';
import { type CommandIo, usageError } from '../io/command-io.ts';
import { explainFlags } from '../client/flags.ts';
import type { FlagDefinition } from '../flags/flag-definition.ts';
import { readFlags } from '../flags/flag-schema.ts';

/** `nlc explain node/NAME` or `pod/NAMESPACE/NAME`: the state of the object in a running controller, and its next action. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { subject, flags } = subjectIn(argv);
  const path = subject === undefined ? undefined : pathOf(subject);
  const read = readFlags(flags, explainFlags);
  const problems = path === undefined ? [subjectProblem(subject)] : [];
  if ('problems' in read) return usageError(io, 'explain', [...problems, ...read.problems], 'arguments');
  if (path === undefined) return usageError(io, 'explain', problems, 'arguments');
  return printControllerPage({ command: 'explain', path, values: read.values }, io);
}

/** The first argument that is neither a flag nor a flag's value. */
function subjectIn(argv: readonly string[]): {
  readonly subject: string | undefined;
  readonly flags: readonly string[];
} {
  const place = argv.findIndex((word, index) => !word.startsWith('-') && !takesNext(argv[index - 1] ?? ''));
  return place < 0 ? { subject: undefined, flags: argv } : { subject: argv[place], flags: argv.toSpliced(place, 1) };
}

function takesNext(word: string): boolean {
  if (!word.startsWith('--') || word.includes('=')) return false;
  const flag: FlagDefinition | undefined = explainFlags.find(({ name }) => `--${name}` === word);
  return flag?.kind !== 'boolean';
}

/** The path of `node/NAME` or `pod/NAMESPACE/NAME`; the kind in singular, plural or kubectl's short form. */
function pathOf(subject: string): string | undefined {
  const [kind = '', ...names] = subject.split('/');
  if (names.includes('')) return undefined;
  const encoded = names.map(encodeURIComponent);
  if (['node', 'nodes', 'no'].includes(kind) && names.length === 1) return `/explain/nodes/${encoded.join('/')}`;
  if (['pod', 'pods', 'po'].includes(kind) && names.length === 2) return `/explain/pods/${encoded.join('/')}`;
  return undefined;
}

function subjectProblem(subject: string | undefined): string {
  const got = subject === undefined ? 'got none' : `got ${JSON.stringify(subject)}`;
  return `object: must be node/NAME or pod/NAMESPACE/NAME (${got})`;
}
