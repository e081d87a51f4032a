// A flag is data. The parser, the config file, `--help`, the flag reference and the JSON schema all read these tables,
// so a name, a default or a limit is written once.
import { type BindAddress, formatBindAddress, isBindAddress } from './bind-address.ts';
import { formatGoDuration } from '../api/go-duration.ts';

export type FlagKind = 'boolean' | 'number' | 'integer' | 'duration' | 'text' | 'address' | 'map';

/** Limits on a number (as is) or a duration (in milliseconds). */
export interface FlagRange {
  readonly min?: number;
  /** Excludes the bound itself. */
  readonly above?: number;
  readonly max?: number;
}

export interface FlagDefinition {
  /** Without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  readonly kind: FlagKind;
  /** The heading it stands under in `--help`. */
  readonly group: string;
  /** One sentence, no full stop. */
  readonly description: string;
  /** As it would be typed. Absent: there is none. */
  readonly default?: string | number | boolean;
  readonly range?: FlagRange;
  /** The only texts allowed. */
  readonly choices?: readonly string[];
  /** What a text must look like, and how to say so. */
  readonly pattern?: RegExp;
  readonly patternMeaning?: string;
  /** Cannot stand in a config file. */
  readonly onlyAsFlag?: true;
  /** Taken up by a running process when it changes in the config file; any other setting needs a restart. */
  readonly live?: true;
}

interface ValueByKind {
  readonly boolean: boolean;
  readonly number: number;
  readonly integer: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly text: string;
  readonly address: BindAddress;
  readonly map: Readonly<Record<string, string>>;
}

/** `node-monitor-period` is `nodeMonitorPeriod` in a config file and in code. */
export type KeyOf<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<KeyOf<Tail>>}`
  : Name;

type ValueOf<D extends FlagDefinition> = D extends { readonly default: string | number | boolean }
  ? ValueByKind[D['kind']]
  : ValueByKind[D['kind']] | undefined;

/** The values of a table of flags, durations in milliseconds. */
export type FlagValues<Table extends readonly FlagDefinition[]> = {
  readonly [D in Table[number] as KeyOf<D['name']>]: ValueOf<D>;
};

export function keyOf(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** A value as it would be typed. */
export function showValue(flag: FlagDefinition, value: unknown): string {
  if (value === undefined) return 'not given';
  if (flag.kind === 'duration' && typeof value === 'number') return formatGoDuration(value);
  if (flag.kind === 'address' && isBindAddress(value)) return formatBindAddress(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Completes "accepted: …". */
export function acceptedBy(flag: FlagDefinition): string {
  return acceptedTexts[flag.kind](flag);
}

const acceptedTexts: Readonly<Record<FlagKind, (flag: FlagDefinition) => string>> = {
  boolean: () => 'true or false',
  number: ({ range }) => `a number${rangeText(range, String)}`,
  integer: ({ range }) => `a whole number${rangeText(range, String)}`,
  duration: ({ range }) =>
    `a duration with units, such as 1m30s or 500ms${rangeText(range, (ms) => (ms === 0 ? '0' : formatGoDuration(ms)))}`,
  address: () => 'host:port, :port for every interface, port 0 for a free one, or 0 to switch it off',
  map: () => 'name=value pairs, separated by commas',
  text: ({ choices, patternMeaning }) => choices?.join(', ') ?? patternMeaning ?? 'a text that is not empty',
};

function rangeText(range: FlagRange | undefined, show: (bound: number) => string): string {
  if (range === undefined) return '';
  const parts: string[] = [];
  if (range.above !== undefined) parts.push(`above ${show(range.above)}`);
  if (range.min !== undefined) parts.push(`from ${show(range.min)}`);
  if (range.max !== undefined) parts.push(`up to ${show(range.max)}`);
  return `, ${parts.join(' ')}`;
}

export function inRange(value: number, range: FlagRange | undefined): boolean {
  const { min = Number.NEGATIVE_INFINITY, above = Number.NEGATIVE_INFINITY, max = Number.MAX_VALUE } = range ?? {};
  return value >= min && value > above && value <= max;
}
