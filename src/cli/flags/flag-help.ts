// Renders flag tables as text for `--help`.
import type { FlagDefinition } from './flag-definition.ts';

/** Line width of `--help`, in columns. */
const columnsMax = 100;
const indent = '      ';

const placeholders: Readonly<Record<FlagDefinition['kind'], string>> = {
  boolean: '',
  number: ' NUMBER',
  integer: ' NUMBER',
  duration: ' DURATION',
  text: ' TEXT',
  address: ' ADDRESS',
  map: ' NAME=VALUE,…',
};

/** The flags by group, each with its default, as text for a terminal. */
export function flagHelp(table: readonly FlagDefinition[]): string {
  const sections = [...groupsOf(table)].map(
    ([group, flags]) => `${group}:\n${flags.map((flag) => flagLines(flag)).join('')}`,
  );
  return sections.join('\n');
}

function flagLines(flag: FlagDefinition): string {
  const placeholder = flag.choices === undefined ? placeholders[flag.kind] : ` ${flag.choices.join('|')}`;
  const fallback = flag.default === undefined ? '' : ` (default ${String(flag.default)})`;
  return `  ${nameOf(flag)}${placeholder}${fallback}\n${wrapped(flag.description)}`;
}

/** The flag as it is written, with its short form. */
export function nameOf({ name, short }: FlagDefinition): string {
  return short === undefined ? `--${name}` : `-${short}, --${name}`;
}

function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= columnsMax) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** The flags by their group, in the order of the table. */
export function groupsOf(table: readonly FlagDefinition[]): ReadonlyMap<string, readonly FlagDefinition[]> {
  return Map.groupBy(table, (flag) => flag.group);
}
