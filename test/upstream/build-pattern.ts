// Regular expressions of Go that match some tests by their whole names.

/** For `-test.run`: each level of subtests has its own pattern. */
export function buildRunPattern(names: readonly string[]): string {
  const levels = names.map((name) => name.split('/'));
  const depth = Math.max(...levels.map((parts) => parts.length));
  return Array.from({ length: depth }, (_, level) => {
    const parts = levels.map((each) => each[level]).filter((part) => part !== undefined);
    return `^${oneOf(parts)}$`;
  }).join('/');
}

/** For `--focus` of ginkgo, which matches the title of the suite and the name of the test, with a space between them. */
export function buildFocusPattern(suite: string, names: readonly string[]): string {
  return `^${oneOf([suite])} ${oneOf(names)}$`;
}

function oneOf(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return `(?:${distinct.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})`;
}
