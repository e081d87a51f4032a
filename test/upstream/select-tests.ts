// Sorts the tests of the e2e binary into the lists that run, and the classes that do not, by selection.yaml.
import * as z from 'zod';
import type { KnownTest } from './results.ts';

const matcherSchema = z
  .strictObject({
    /** Source file, or the start of its path. */
    file: z.string().optional(),
    /** Parts of names, one of which must be in the name. */
    only: z.array(z.string()).min(1).optional(),
  })
  .refine(({ file, only }) => file !== undefined || only !== undefined, { error: 'needs file or only' });

const selectionSchema = z.strictObject({
  lists: z.record(z.string(), z.strictObject({ title: z.string(), tests: z.array(matcherSchema).min(1) })),
  suites: z.strictObject({ e2e: z.array(z.string()).min(1), 'e2e-embedded': z.array(z.string()).min(1) }),
  exclusions: z.array(z.strictObject({ class: z.string(), reason: z.string(), tests: z.array(matcherSchema).min(1) })),
});

type Matcher = z.infer<typeof matcherSchema>;
export type Selection = z.infer<typeof selectionSchema>;

export interface Selected {
  /** Tests of each list, by its key. */
  readonly lists: ReadonlyMap<string, readonly KnownTest[]>;
  /** Tests of each class that do not run, by its name. */
  readonly excluded: ReadonlyMap<string, readonly KnownTest[]>;
  /** Tests that neither a list nor a class matches: selection.yaml is incomplete. */
  readonly unsorted: readonly KnownTest[];
  /** Rows of selection.yaml that match no test: they are misspelled, or the tests have changed. */
  readonly unused: readonly string[];
}

/** Throws an error that names each field that is not accepted. */
export function parseSelection(value: unknown): Selection {
  const parsed = selectionSchema.safeParse(value);
  if (!parsed.success) throw new Error(`selection.yaml: ${z.prettifyError(parsed.error)}`);
  const known = new Set(Object.keys(parsed.data.lists));
  const unknown = Object.values(parsed.data.suites)
    .flat()
    .filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`selection.yaml: suites: no such list: ${unknown.join(', ')}`);
  return parsed.data;
}

/** A test runs if a list matches it and no exclusion does. The first list, and the first class, count. */
export function selectTests(tests: readonly KnownTest[], selection: Selection): Selected {
  const used = new Set<Matcher>();
  const matches = (matchers: readonly Matcher[], test: KnownTest): boolean => {
    const hits = matchers.filter((matcher) => isMatch(matcher, test));
    for (const matcher of hits) used.add(matcher);
    return hits.length > 0;
  };
  const lists = new Map(Object.keys(selection.lists).map((name) => [name, [] as KnownTest[]]));
  const excluded = new Map(selection.exclusions.map(({ class: name }) => [name, [] as KnownTest[]]));
  const unsorted: KnownTest[] = [];
  for (const test of tests) {
    const classes = selection.exclusions.filter((exclusion) => matches(exclusion.tests, test));
    const named = Object.entries(selection.lists).filter(([, list]) => matches(list.tests, test));
    if (classes[0] !== undefined) excluded.get(classes[0].class)?.push(test);
    else if (named[0] !== undefined) lists.get(named[0][0])?.push(test);
    else unsorted.push(test);
  }
  return { lists, excluded, unsorted, unused: unusedRows(selection, used) };
}

function isMatch({ file, only }: Matcher, test: KnownTest): boolean {
  if (file !== undefined && !test.file.startsWith(file)) return false;
  return only === undefined || only.some((part) => test.name.includes(part));
}

function unusedRows({ lists, exclusions }: Selection, used: ReadonlySet<Matcher>): readonly string[] {
  const groups = [
    ...Object.entries(lists).map(([name, { tests }]) => ({ name: `lists.${name}`, tests })),
    ...exclusions.map(({ class: name, tests }) => ({ name: `exclusions ${name}`, tests })),
  ];
  return groups.flatMap(({ name, tests }) =>
    tests.filter((matcher) => !used.has(matcher)).map((matcher) => `${name}: ${JSON.stringify(matcher)}`),
  );
}
