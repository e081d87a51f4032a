// Parses flags like pflag (the library of the Kubernetes commands), on top of Node's tokenizer: `--x=v` and `--x v`;
// booleans without a value or with `=`; `-v 2`, `-v=2`, `-v2`; the last of several values wins, maps are merged. Parsing
// continues after an error, so that all errors are reported together.
import { parseArgs } from 'node:util';
import { acceptedBy, type FlagDefinition, keyOf } from './flag-definition.ts';
import { nearestName } from './suggestions.ts';

/** The value given for one setting and its source, for error messages. */
export interface FlagInput {
  /** A number, boolean or record if the text parses as one; otherwise the text. */
  readonly given: unknown;
  /** `--node-monitor-period`, or the file and the key. */
  readonly origin: string;
}

interface ParsedFlags {
  /** By key (`nodeMonitorPeriod`). Only flags that were given: the config file and the defaults are applied later. */
  readonly inputs: ReadonlyMap<string, FlagInput>;
  readonly problems: readonly string[];
}

/** Removed flags, each with its replacement. */
export type RemovedFlags = Readonly<Record<string, string>>;

/** Parses an argument list by a table. Texts become numbers, booleans and records here; ranges are checked later. */
export function parseFlags(
  argv: readonly string[],
  table: readonly FlagDefinition[],
  removed: RemovedFlags = {},
): ParsedFlags {
  const reading = new FlagReader(table, removed, argv);
  for (const token of tokensOf(argv, table)) reading.take(token);
  return { inputs: reading.inputs, problems: reading.problems };
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];
type OptionToken = Extract<Token, { kind: 'option' }>;

function tokensOf(argv: readonly string[], table: readonly FlagDefinition[]): readonly Token[] {
  const options = Object.fromEntries(table.map((flag) => [flag.name, parseArgsOption(flag)]));
  const args = argv.map((argument) => (isUnknownGroup(argument, table) ? `-${argument}` : argument));
  return parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

/**
 * `parseArgs` would read `-node-monitor-period` as nineteen one-letter flags and shift the argument indexes. Such an
 * argument is passed with a second dash; the original text is read from argv afterwards.
 */
function isUnknownGroup(argument: string, table: readonly FlagDefinition[]): boolean {
  return /^-[^-]./s.test(argument) && !table.some((flag) => flag.short === argument[1]);
}

function parseArgsOption(flag: FlagDefinition): { type: 'boolean' | 'string'; short?: string } {
  const type = flag.kind === 'boolean' ? 'boolean' : 'string';
  return flag.short === undefined ? { type } : { type, short: flag.short };
}

class FlagReader {
  readonly inputs = new Map<string, FlagInput>();
  readonly problems: string[] = [];
  readonly #flags: ReadonlyMap<string, FlagDefinition>;
  readonly #removed: ReadonlyMap<string, string>;
  readonly #argv: readonly string[];
  /** Index of the last unknown flag; the argument after it is probably its value. */
  #unknownAt = Number.NEGATIVE_INFINITY;

  constructor(table: readonly FlagDefinition[], removed: RemovedFlags, argv: readonly string[]) {
    this.#argv = argv;
    this.#flags = new Map(table.map((flag) => [flag.name, flag]));
    this.#removed = new Map(Object.entries(removed));
  }

  take(token: Token): void {
    const typed = this.#argv[token.index] ?? '';
    if (token.kind === 'option') this.#takeOption(token, typed);
    else if (token.kind === 'positional' && token.index !== this.#unknownAt + 1) this.#takePositional(typed);
  }

  #takePositional(text: string): void {
    const hint = booleanTexts.has(text) ? '; set a boolean flag with =, as in --flag=false' : '';
    this.problems.push(`unexpected argument ${JSON.stringify(text)}: only flags are accepted${hint}`);
  }

  #takeOption(token: OptionToken, typed: string): void {
    const flag = this.#flags.get(token.name);
    if (flag === undefined || !(typed.startsWith('--') || typed[1] === flag.short)) this.#takeUnknown(token, typed);
    else if (token.value === undefined && flag.kind !== 'boolean') {
      this.problems.push(`--${flag.name}: value required: must be ${acceptedBy(flag)}`);
    } else this.#record(flag, this.#valueOf(token));
  }

  #valueOf(token: OptionToken): string {
    if (token.value === undefined) return 'true';
    if (!token.inlineValue) return this.#argv[token.index + 1] ?? '';
    return token.rawName.startsWith('--') ? token.value : token.value.replace(/^=/, '');
  }

  #takeUnknown(token: OptionToken, typed: string): void {
    if (token.inlineValue !== true) this.#unknownAt = token.index;
    const dashed = typed.replace(/=.*$/s, '');
    const name = dashed.replace(/^-+/, '');
    const near = nearestName(name, this.#flags.keys());
    const hint = near === undefined ? '' : `; did you mean --${near}?`;
    this.problems.push(`${dashed}: ${this.#removed.get(name) ?? `unknown flag${hint}`}`);
  }

  #record(flag: FlagDefinition, text: string): void {
    const key = keyOf(flag.name);
    const origin = `--${flag.name}`;
    const known = this.inputs.get(key)?.given;
    if (text === '' && flag.kind === 'text') this.inputs.delete(key);
    else this.inputs.set(key, { given: merged(flag, known, fromText(flag, text)), origin });
  }
}

function merged(flag: FlagDefinition, known: unknown, given: unknown): unknown {
  const bothRecords = flag.kind === 'map' && typeof known === 'object' && typeof given === 'object';
  return bothRecords ? { ...known, ...given } : given;
}

const numberText = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** The values of Go's `strconv.ParseBool`. */
const booleanTexts: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

/** The text as the type that a config file would have; the text itself if it does not parse, so that the schema rejects it. */
function fromText(flag: FlagDefinition, text: string): unknown {
  if (flag.kind === 'number' || flag.kind === 'integer') return numberText.test(text) ? Number(text) : text;
  if (flag.kind === 'boolean') return booleanTexts.get(text) ?? text;
  return flag.kind === 'map' ? (recordOf(text) ?? text) : text;
}

function recordOf(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text === '' ? [] : text.split(',').map((pair) => /^([^=]+)=(.*)$/s.exec(pair.trim()));
  const entries: [string, string][] = [];
  for (const pair of pairs) {
    if (pair === null) return undefined;
    entries.push([pair[1] ?? '', pair[2] ?? '']);
  }
  return Object.fromEntries(entries);
}
