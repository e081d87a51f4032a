// Flags as pflag reads them (the library behind every Kubernetes command), on top of Node's tokenizer: `--x=v` and
// `--x v`; booleans bare or with `=`; `-v 2`, `-v=2`, `-v2`; the last of several wins, maps are merged. Nothing stops at
// the first mistake: whoever starts a control plane would rather read all of them at once.
import { parseArgs } from 'node:util';
import { acceptedBy, type FlagDefinition, keyOf } from './flag-definition.ts';
import { nearestName } from './near-miss.ts';

/** What was typed for one setting, and where, for whoever has to be told that it is wrong. */
export interface Input {
  /** A number, boolean or record where the text is one; otherwise the text. */
  readonly given: unknown;
  /** `--node-monitor-period`, or the file and the key. */
  readonly origin: string;
}

export interface ParsedFlags {
  /** By key (`nodeMonitorPeriod`). Only what was typed: defaults come later, a config file in between. */
  readonly inputs: ReadonlyMap<string, Input>;
  readonly problems: readonly string[];
}

/** Flags that once existed, each with what to do instead. */
export type RemovedFlags = Readonly<Record<string, string>>;

/** Splits an argument list by a table. Texts become numbers, booleans and records here; limits are checked later. */
export function parseFlags(
  argv: readonly string[],
  table: readonly FlagDefinition[],
  removed: RemovedFlags = {},
): ParsedFlags {
  const reading = new Reading(table, removed, argv);
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
 * Node would take `-node-monitor-period` for nineteen one-letter flags and lose count of the arguments. It goes in with a
 * second dash; the typed text is looked up again afterwards.
 */
function isUnknownGroup(argument: string, table: readonly FlagDefinition[]): boolean {
  return /^-[^-]./s.test(argument) && !table.some((flag) => flag.short === argument[1]);
}

function parseArgsOption(flag: FlagDefinition): { type: 'boolean' | 'string'; short?: string } {
  const type = flag.kind === 'boolean' ? 'boolean' : 'string';
  return flag.short === undefined ? { type } : { type, short: flag.short };
}

class Reading {
  readonly inputs = new Map<string, Input>();
  readonly problems: string[] = [];
  readonly #flags: ReadonlyMap<string, FlagDefinition>;
  readonly #removed: ReadonlyMap<string, string>;
  readonly #argv: readonly string[];
  /** Where the argument stands that could not be understood; what follows it is likely its value. */
  #puzzledAt = Number.NEGATIVE_INFINITY;

  constructor(table: readonly FlagDefinition[], removed: RemovedFlags, argv: readonly string[]) {
    this.#argv = argv;
    this.#flags = new Map(table.map((flag) => [flag.name, flag]));
    this.#removed = new Map(Object.entries(removed));
  }

  take(token: Token): void {
    const typed = this.#argv[token.index] ?? '';
    if (token.kind === 'option') this.#takeOption(token, typed);
    else if (token.kind === 'positional' && token.index !== this.#puzzledAt + 1) this.#takeStray(typed);
  }

  #takeStray(text: string): void {
    const hint = isBoolean(text) ? '; a boolean takes its value with =, as in --flag=false' : '';
    this.problems.push(`stray argument ${JSON.stringify(text)}; accepted: flags only${hint}`);
  }

  #takeOption(token: OptionToken, typed: string): void {
    const flag = this.#flags.get(token.name);
    if (flag === undefined || !(typed.startsWith('--') || typed[1] === flag.short)) this.#takeUnknown(token, typed);
    else if (token.value === undefined && flag.kind !== 'boolean') {
      this.problems.push(`--${flag.name}: has no value; accepted: ${acceptedBy(flag)}`);
    } else this.#keep(flag, this.#valueOf(token));
  }

  #valueOf(token: OptionToken): string {
    if (token.value === undefined) return 'true';
    if (!token.inlineValue) return this.#argv[token.index + 1] ?? '';
    return token.rawName.startsWith('--') ? token.value : token.value.replace(/^=/, '');
  }

  #takeUnknown(token: OptionToken, typed: string): void {
    if (token.inlineValue !== true) this.#puzzledAt = token.index;
    const dashed = typed.replace(/=.*$/s, '');
    const name = dashed.replace(/^-+/, '');
    const near = nearestName(name, this.#flags.keys());
    const hint = near === undefined ? '' : `; did you mean --${near}?`;
    this.problems.push(`${dashed}: ${this.#removed.get(name) ?? `unknown flag${hint}`}`);
  }

  #keep(flag: FlagDefinition, text: string): void {
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

const numberText = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const booleanTexts: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

/** The words of Go's `strconv.ParseBool`. */
function isBoolean(text: string): boolean {
  return booleanTexts.has(text);
}

/** The text as the type a config file would give it; the text itself where it is none, for the schema to refuse. */
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
