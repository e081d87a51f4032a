/** Checks that `JSON.parse` does not make: keys that occur twice, and nesting that recursive functions do not bear. */

/** A key of a mapping that has it already; the last one counts. */
export interface RepeatedKey {
  readonly key: string;
  /** From 1. */
  readonly line: number;
}

/** Maximum nesting of a document. Go's decoders allow 10,000 levels; recursive functions overflow the stack before. */
export const depthMax = 500;
/** Maximum number of repeated keys that are reported. */
export const repeatedMax = 100;

const tokens = /"[^"\\]*(?:\\[^]?[^"\\]*)*(?:"(\s*:)?|$)|[[\]{}]/g;

/** The keys that occur twice in one object of a valid JSON text. */
export function findRepeatedKeys(text: string): readonly RepeatedKey[] {
  const found: RepeatedKey[] = [];
  const open: Set<string>[] = [];
  for (const { 0: token, 1: colon, index } of text.matchAll(tokens)) {
    if ('[{'.includes(token)) open.push(new Set());
    if (']}'.includes(token)) open.pop();
    if (colon === undefined) continue;
    const key = String(JSON.parse(token.slice(0, -colon.length)));
    const keys = open.at(-1) ?? new Set();
    if (keys.has(key) && found.length < repeatedMax) found.push({ key, line: lineAt(text, index) });
    keys.add(key);
  }
  return found;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** Whether the value of a JSON text is nested deeper than {@link depthMax}. */
export function isTooDeep(text: string, value: unknown): boolean {
  // Each level takes two characters.
  return text.length > 2 * depthMax && exceeds(value, depthMax);
}

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => exceeds(item, levels - 1));
}
