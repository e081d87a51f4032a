// One zod schema for a table of flags, whether the values were typed or come from a file.
import assert from 'node:assert/strict';
import { z } from 'zod';
import { type BindAddress, bindAddressText, parseBindAddress } from './bind-address.ts';
import { acceptedBy, type FlagDefinition, type FlagKind, type FlagValues, inRange, keyOf } from './flag-definition.ts';
import { type Input, parseFlags } from './flags.ts';
import { goDurationText, parseGoDuration } from '../api/go-duration.ts';

/** The schema of every value in a table, by key. Inputs are as typed (durations as texts); outputs are in our units. */
export function schemaOf(table: readonly FlagDefinition[]): z.ZodObject {
  return z.strictObject(shapeOf(table));
}

/** The parts of {@link schemaOf}, for a larger object. */
export function shapeOf(table: readonly FlagDefinition[]): Record<string, z.ZodType> {
  return Object.fromEntries(table.map((flag) => [keyOf(flag.name), fieldSchema(flag)]));
}

export interface ReadValues<Values> {
  /** Wrong values are replaced by their defaults, so that what depends on the others can still be checked. */
  readonly values: Values;
  /** Keys whose value was refused. */
  readonly refused: ReadonlySet<string>;
  readonly problems: readonly string[];
}

export type ReadFlags<Values> = { readonly values: Values } | { readonly problems: readonly string[] };

/** From an argument list to values with their defaults, or to everything that is wrong with it. */
export function readFlags<const Table extends readonly FlagDefinition[]>(
  argv: readonly string[],
  table: Table,
): ReadFlags<FlagValues<Table>> {
  const flags = parseFlags(argv, table);
  const { values, problems } = readValues(table, flags.inputs);
  const all = [...flags.problems, ...problems];
  return all.length > 0 ? { problems: all } : { values };
}

/** Checks what was given against the table and fills in the defaults. */
export function readValues<const Table extends readonly FlagDefinition[]>(
  table: Table,
  inputs: ReadonlyMap<string, Input>,
): ReadValues<FlagValues<Table>> {
  const schema = schemaOf(table);
  const given = new Map([...inputs].map(([key, input]) => [key, input.given]));
  const refused = refusedKeys(schema, given);
  for (const key of refused) given.delete(key);
  const problems = table.flatMap((flag) => {
    const input = inputs.get(keyOf(flag.name));
    return input !== undefined && refused.has(keyOf(flag.name)) ? [problemText(flag, input)] : [];
  });
  const values = schema.parse(Object.fromEntries(given));
  assert(isComplete(table, values), 'a schema made from a table yields what the table names');
  return { values, refused, problems };
}

/** The types behind the keys are the schema's work; that every key with a default is there can be checked. */
function isComplete<const Table extends readonly FlagDefinition[]>(
  table: Table,
  values: Readonly<Record<string, unknown>>,
): values is FlagValues<Table> {
  return table.every((flag) => flag.default === undefined || values[keyOf(flag.name)] !== undefined);
}

function refusedKeys(schema: z.ZodObject, given: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const result = schema.safeParse(Object.fromEntries(given));
  return new Set(result.success ? [] : result.error.issues.map((issue) => String(issue.path[0])));
}

function problemText(flag: FlagDefinition, { given, origin }: Input): string {
  return `${origin}: got ${JSON.stringify(given)}; accepted: ${acceptedBy(flag)}`;
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
  address: () => z.string().regex(bindAddressText).transform(readOrRefuse<BindAddress>(parseBindAddress)),
  map: () => z.record(z.string(), z.string()),
};

/** The range in zod's own words, so that the JSON schema carries it too. */
function ranged(schema: z.ZodNumber, { range = {} }: FlagDefinition): z.ZodNumber {
  let limited = schema;
  if (range.min !== undefined) limited = limited.gte(range.min);
  if (range.above !== undefined) limited = limited.gt(range.above);
  if (range.max !== undefined) limited = limited.lte(range.max);
  return limited;
}

/** A bare 0, which Go allows, is named apart. */
const durationPattern = new RegExp(`^[+-]?0$|${goDurationText.source}`);

const notNegative = /^[^-]/;
const notZero = /[1-9]/;

/** A bound of 0 in words of a pattern, so that the JSON schema carries it too. Other bounds it cannot carry. */
function durationText({ range = {} }: FlagDefinition): z.ZodString {
  const text = z.string().regex(durationPattern);
  if (range.above === 0) return text.regex(notNegative).regex(notZero);
  return range.min === 0 ? text.regex(notNegative) : text;
}

function durationSchema(flag: FlagDefinition): z.ZodType {
  return durationText(flag)
    .transform(readOrRefuse(parseGoDuration))
    .refine((ms) => inRange(ms, flag.range));
}

function textSchema(flag: FlagDefinition): z.ZodType {
  if (flag.choices !== undefined) return z.enum(flag.choices);
  return flag.pattern === undefined ? z.string().min(1) : z.string().regex(flag.pattern);
}

function readOrRefuse<T>(read: (text: string) => T | undefined): (text: string, context: z.RefinementCtx) => T {
  return (text, context) => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: 'refused' });
    return z.NEVER;
  };
}
