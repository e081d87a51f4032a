// Flags as data. The parser, the config file, `--help`, the flag reference and the JSON schema are all derived from these
// tables.
import { type BindAddress, formatBindAddress, isBindAddress } from './bind-address.ts';
import { formatGoDuration } from '../../machinery/api/go-duration.ts';

export type FlagKind = 'boolean' | 'number' | 'integer' | 'duration' | 'text' | 'address' | 'map';

/** Limits on a number (as is) or a duration (in milliseconds). */
interface FlagRange {
  readonly min?: number;
  /** Exclusive lower bound. */
  readonly above?: number;
  readonly max?: number;
  /** One special value outside the bounds that is accepted too. Durations only. */
  readonly or?: number;
}

export interface FlagDefinition {
  /** Without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  readonly kind: FlagKind;
  /** Heading of the group in `--help`. */
  readonly group: string;
  /** One sentence, no full stop. */
  readonly description: string;
  /** Default as on the command line. Absent: no default. */
  readonly default?: string | number | boolean;
  readonly range?: FlagRange;
  /** The accepted values. */
  readonly choices?: readonly string[];
  /** The pattern of accepted texts, and its description for error messages. */
  readonly pattern?: RegExp;
  readonly patternMeaning?: string;
  /** True if the flag is not accepted in a config file. */
  readonly onlyAsFlag?: true;
  /** Applied by a running process when it changes in the config file; any other setting requires a restart. */
  readonly live?: true;
}

type FlagExtras = Omit<FlagDefinition, 'name' | 'kind' | 'group' | 'description'>;
type UngroupedFlag<K, N, E> = { readonly name: N; readonly kind: K; readonly description: string } & E;

function makerOf<K extends FlagKind>(kind: K) {
  function make<const N extends string>(name: N, description: string): UngroupedFlag<K, N, unknown>;
  function make<const N extends string, const E extends FlagExtras>(
    name: N,
    description: string,
    extras: E & Readonly<Record<Exclude<keyof E, keyof FlagExtras>, never>>,
  ): UngroupedFlag<K, N, E>;
  function make(name: string, description: string, extras: FlagExtras = {}): UngroupedFlag<K, string, FlagExtras> {
    return { name, kind, description, ...extras };
  }
  return make;
}

/** Defines a flag as pflag does, for example `flag.duration('retry-period', 'Interval of retries', { default: '2s' })`. */
export const flag = {
  boolean: makerOf('boolean'),
  number: makerOf('number'),
  integer: makerOf('integer'),
  duration: makerOf('duration'),
  text: makerOf('text'),
  address: makerOf('address'),
  map: makerOf('map'),
} as const;

/** The flags under one heading of `--help`. */
export function flagGroup<const F extends Omit<FlagDefinition, 'group'>>(
  group: string,
  flags: readonly F[],
): readonly (F & { readonly group: string })[] {
  return flags.map((definition) => ({ ...definition, group }));
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

type KeyOf<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<KeyOf<Tail>>}`
  : Name;

type OptionOf<D extends FlagDefinition> = D['kind'] extends 'duration' ? `${KeyOf<D['name']>}Ms` : KeyOf<D['name']>;

type GivenValueOf<D extends FlagDefinition> = D extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : ValueByKind[D['kind']];

type ValueOf<D extends FlagDefinition> = D extends { readonly default: string | number | boolean }
  ? GivenValueOf<D>
  : GivenValueOf<D> | undefined;

/** The values of a table of flags under the names of {@link optionOf}, durations in milliseconds. */
export type FlagValues<Table extends readonly FlagDefinition[]> = {
  readonly [D in Table[number] as OptionOf<D>]: ValueOf<D>;
};

/** `node-monitor-period` is `nodeMonitorPeriod` in a config file. */
export function keyOf<Name extends string>(name: Name): KeyOf<Name>;
export function keyOf(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The option that a flag sets: the key in a config file, with the unit: `node-monitor-period` sets `nodeMonitorPeriodMs`. */
export function optionOf({ name, kind }: Pick<FlagDefinition, 'name' | 'kind'>): string {
  return kind === 'duration' ? `${keyOf(name)}Ms` : keyOf(name);
}

/** A value as on the command line. */
export function showValue(flag: FlagDefinition, value: unknown): string {
  if (value === undefined) return 'not set';
  if (flag.kind === 'duration' && typeof value === 'number') return formatGoDuration(value);
  if (flag.kind === 'address' && isBindAddress(value)) return formatBindAddress(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Completes "must be …". */
export function acceptedBy(flag: FlagDefinition): string {
  return acceptedTexts[flag.kind](flag);
}

const acceptedTexts: Readonly<Record<FlagKind, (flag: FlagDefinition) => string>> = {
  boolean: () => 'true or false',
  number: ({ range }) => `a number${rangeText(range, String)}`,
  integer: ({ range }) => `an integer${rangeText(range, String)}`,
  duration: ({ range }) =>
    `a duration${rangeText(range, (ms) => (ms === 0 ? '0' : formatGoDuration(ms)))} with a unit, such as 1m30s or 500ms`,
  address: () => 'HOST:PORT, :PORT for all interfaces, or 0 to disable; port 0 selects a free port',
  map: () => 'comma-separated NAME=VALUE pairs',
  text: ({ choices, patternMeaning }) => oneOfText(choices) ?? patternMeaning ?? 'a non-empty string',
};

function oneOfText(choices: readonly string[] | undefined): string | undefined {
  return choices === undefined || choices.length === 1 ? choices?.[0] : `one of ${choices.join(', ')}`;
}

/** ` >= 0 and <= 1`; a special value outside the bounds follows as ` or -1s`. */
function rangeText(range: FlagRange | undefined, show: (bound: number) => string): string {
  if (range === undefined) return '';
  const parts: string[] = [];
  if (range.above !== undefined) parts.push(`> ${show(range.above)}`);
  if (range.min !== undefined) parts.push(`>= ${show(range.min)}`);
  if (range.max !== undefined) parts.push(`<= ${show(range.max)}`);
  return ` ${parts.join(' and ')}${range.or === undefined ? '' : ` or ${show(range.or)}`}`;
}

export function inRange(value: number, range: FlagRange | undefined): boolean {
  const { min = Number.NEGATIVE_INFINITY, above = Number.NEGATIVE_INFINITY, max = Number.MAX_VALUE } = range ?? {};
  if (value === range?.or) return true;
  return value >= min && value > above && value <= max;
}
