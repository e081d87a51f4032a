// What the words on a command line can be completed to, in the protocol of cobra, which kubectl uses for its plugins too.
import type { FlagDefinition } from '../flags/flag-definition.ts';

/** A word, and what it means. */
interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** Directives to the shell (cobra `ShellCompDirective`). */
export const directives = { default: 0, noSpace: 2, noFiles: 4 } as const;

export interface Completions {
  readonly candidates: readonly Candidate[];
  /** The sum of {@link directives}. */
  readonly directive: number;
}

/** Position of the current word. */
type Position =
  /** The value of a flag: the text so far, without `--flag=`. */
  | { readonly kind: 'value'; readonly flag: FlagDefinition; readonly typed: string }
  | { readonly kind: 'flag'; readonly typed: string }
  /** `place`: how many arguments stand before it. */
  | { readonly kind: 'argument'; readonly typed: string; readonly place: number };

/** `words` are those after the command; the last one is completed. */
export function selectPosition(words: readonly string[], flags: readonly FlagDefinition[]): Position {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const named = /^--([^=]+)=(.*)$/s.exec(typed);
  const flag = named === null ? selectAwaiting(before.at(-1), flags) : flags.find(({ name }) => name === named[1]);
  if (flag !== undefined) return { kind: 'value', flag, typed: named?.[2] ?? typed };
  if (typed.startsWith('-')) return { kind: 'flag', typed };
  const args = before.filter((word, index) => !word.startsWith('-') && !selectAwaiting(before[index - 1], flags));
  return { kind: 'argument', typed, place: args.length };
}

/** The flag whose value follows this word. */
function selectAwaiting(word: string | undefined, flags: readonly FlagDefinition[]): FlagDefinition | undefined {
  return flags.find(({ name, short, kind }) => {
    return kind !== 'boolean' && (word === `--${name}` || (short !== undefined && word === `-${short}`));
  });
}

export function selectFlags(typed: string, flags: readonly FlagDefinition[]): Completions {
  const all = [...flags, { name: 'help', description: 'Prints the flags of the command' }];
  const candidates = all.map(({ name, description }) => ({ word: `--${name}`, description }));
  return selectMatching(typed, candidates);
}

/** A text without choices may be a file: the shell completes it. */
export function selectValues(typed: string, { kind, choices, description }: FlagDefinition): Completions {
  const words = kind === 'boolean' ? ['true', 'false'] : choices;
  if (words !== undefined)
    return selectMatching(
      typed,
      words.map((word) => ({ word, description: '' })),
    );
  const isFile = kind === 'text' && /\bfile\b|\bfolder\b/i.test(description);
  return { candidates: [], directive: isFile ? directives.default : directives.noFiles };
}

/** Candidates that begin with what is typed; files are not completed. */
export function selectMatching(typed: string, candidates: readonly Candidate[]): Completions {
  const matching = candidates.filter(({ word }) => word.startsWith(typed));
  return { candidates: matching, directive: directives.noFiles };
}

const unsafeName = /[^A-Za-z0-9._/-]/;

/** Names of objects after a prefix such as `node/`. Names that a shell would interpret are left out: they are not valid in Kubernetes. */
export function selectNames(typed: string, prefix: string, names: readonly string[], closing = ''): Completions {
  const safe = names.filter((name) => name !== '' && !unsafeName.test(name));
  const completions = selectMatching(
    typed,
    safe.map((name) => ({ word: `${prefix}${name}${closing}`, description: '' })),
  );
  return closing === '' ? completions : { ...completions, directive: directives.noFiles + directives.noSpace };
}

/**
 * Completions as cobra prints them: one candidate on a line, its description after a tab, and the directive in the last
 * line.
 */
export function formatCompletions({ candidates, directive }: Completions): string {
  const lines = candidates.map(({ word, description }) => (description === '' ? word : `${word}\t${description}`));
  return [...lines, `:${directive}`].map((line) => `${line}\n`).join('');
}
