// The zod schema of a flag table, for values from the command line and from a file.
import assert from 'node:assert/strict';
import * as z from 'zod';
import { ownValue } from '../../machinery/api/json-map.ts';
import { type BindAddress, bindAddressText, parseBindAddress } from './bind-address.ts';
import {
  acceptedBy,
  type FlagDefinition,
  type FlagKind,
  type FlagValues,
  inRange,
  keyOf,
  optionOf,
} from './flag-definition.ts';
import { type FlagInput, parseFlags } from './flags.ts';
import { formatGoDuration, goDurationText, parseGoDuration } from '../../machinery/api/go-duration.ts';

/** The schemas of all values of a table, by key. Inputs are texts as given (`1m30s`); outputs have durations in milliseconds. */
export function shapeOf(table: readonly FlagDefinition[]): Record<string, z.ZodType> {
  return Object.fromEntries(table.map((flag) => [keyOf(flag.name), fieldSchema(flag)]));
}

interface ReadValues<Values> {
  /** Invalid values are replaced by their defaults, so that the constraints between the others can still be checked. */
  readonly values: Values;
  /** Options whose value was invalid. */
  readonly invalid: ReadonlySet<string>;
  readonly problems: readonly string[];
}

export type ReadFlags<Values> = { readonly values: Values } | { readonly problems: readonly string[] };

/** Parses an argument list and applies the defaults, or returns all problems. */
export function readFlags<const Table extends readonly FlagDefinition[]>(
  argv: readonly string[],
  table: Table,
): ReadFlags<FlagValues<Table>> {
  const flags = parseFlags(argv, table);
  const { values, problems } = readValues(table, flags.inputs);
  const all = [...flags.problems, ...problems];
  return all.length > 0 ? { problems: all } : { values };
}

/** Validates the inputs against the table and applies the defaults. */
export function readValues<const Table extends readonly FlagDefinition[]>(
  table: Table,
  inputs: ReadonlyMap<string, FlagInput>,
): ReadValues<FlagValues<Table>> {
  const schema = z.strictObject(shapeOf(table));
  const given = new Map([...inputs].map(([key, input]) => [key, input.given]));
  const invalid = invalidKeys(schema, given);
  for (const key of invalid) given.delete(key);
  const problems = table.flatMap((flag) => {
    const input = inputs.get(keyOf(flag.name));
    return input !== undefined && invalid.has(keyOf(flag.name)) ? [problemText(flag, input)] : [];
  });
  const parsed = schema.parse(Object.fromEntries(given));
  const values = Object.fromEntries(table.map((flag) => [optionOf(flag), ownValue(parsed, keyOf(flag.name))]));
  assert(isComplete(table, values), 'the schema of a table yields every key that has a default');
  const invalidFlags = table.filter((flag) => invalid.has(keyOf(flag.name)));
  return { values, invalid: new Set(invalidFlags.map(optionOf)), problems };
}

/** The schema guarantees the types of the values; this checks that every option with a default is present. */
function isComplete<const Table extends readonly FlagDefinition[]>(
  table: Table,
  values: Readonly<Record<string, unknown>>,
): values is FlagValues<Table> {
  return table.every((flag) => flag.default === undefined || ownValue(values, optionOf(flag)) !== undefined);
}

function invalidKeys(schema: z.ZodObject, given: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const result = schema.safeParse(Object.fromEntries(given));
  return new Set(result.success ? [] : result.error.issues.map((issue) => String(issue.path[0])));
}

function problemText(flag: FlagDefinition, { given, origin }: FlagInput): string {
  return `${origin}: must be ${acceptedBy(flag)} (got ${JSON.stringify(given)})`;
}

function fieldSchema(flag: FlagDefinition): z.ZodType {
  const described = kindSchemas[flag.kind](flag).meta({ description: flag.description });
  return flag.default === undefined ? described.optional() : described.prefault(flag.default);
}

const kindSchemas: Readonly<Record<FlagKind, (flag: FlagDefinition) => z.ZodType>> = {
  boolean: () => z.boolean(),
  number: (flag) => ranged(z.number(), flag),
  integer: (flag) => ranged(z.int(), flag),
  duration: durationSchema,
  text: textSchema,
  address: () => z.string().regex(bindAddressText).transform(parseOrFail<BindAddress>(parseBindAddress)),
  map: () => z.record(z.string(), z.string()),
};

/** The range as zod checks, which the JSON schema contains too. */
function ranged(schema: z.ZodNumber, { range = {} }: FlagDefinition): z.ZodNumber {
  let limited = schema;
  if (range.min !== undefined) limited = limited.gte(range.min);
  if (range.above !== undefined) limited = limited.gt(range.above);
  if (range.max !== undefined) limited = limited.lte(range.max);
  return limited;
}

/** Go also accepts 0 without a unit. */
const durationPattern = new RegExp(`^[+-]?0$|${goDurationText.source}`);

const notNegative = /^[^-]/;
const notZero = /[1-9]/;

/** A bound of 0 as a pattern, which the JSON schema contains too. Other bounds cannot be expressed as a pattern. */
function durationText({ range = {} }: FlagDefinition): z.ZodString {
  const text = z.string().regex(durationPattern);
  if (range.or !== undefined) return text.regex(new RegExp(`${notNegative.source}|^${formatGoDuration(range.or)}$`));
  if (range.above === 0) return text.regex(notNegative).regex(notZero);
  return range.min === 0 ? text.regex(notNegative) : text;
}

function durationSchema(flag: FlagDefinition): z.ZodType {
  return durationText(flag)
    .transform(parseOrFail(parseGoDuration))
    .refine((ms) => inRange(ms, flag.range));
}

function textSchema(flag: FlagDefinition): z.ZodType {
  if (flag.choices !== undefined) return z.enum(flag.choices);
  return flag.pattern === undefined ? z.string().min(1) : z.string().regex(flag.pattern);
}

function parseOrFail<T>(read: (text: string) => T | undefined): (text: string, context: z.RefinementCtx) => T {
  return (text, context) => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: 'invalid' });
    return z.NEVER;
  };
}
