/** A text in a file of `src`, and what replaces it. */
export interface Edit {
  /** Below `src`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** A defect that is planted into the code when it is loaded, to measure whether the simulator finds it. */
export interface Mutant extends Edit {
  readonly name: string;
  /** What a user would see. */
  readonly what: string;
  /** Further edits, where one alone is made up for by another part. */
  readonly also?: readonly Edit[];
}

export function editsOf({ file, find, replace, also = [] }: Mutant): readonly Edit[] {
  return [{ file, find, replace }, ...also];
}

/** The source with the edit. Throws a RangeError unless the text to be replaced occurs exactly once. */
export function applyEdit(source: string, { file, find, replace }: Edit): string {
  const [before, after, ...others] = source.split(find);
  if (before === undefined || after === undefined || others.length > 0) {
    const count = source.split(find).length - 1;
    throw new RangeError(
      `src/${file}: the text to be replaced must occur exactly once (found ${count} times): ${find}`,
    );
  }
  return `${before}${replace}${after}`;
}
