/** One error as it is, several in brackets, without duplicates (apimachinery `errors.NewAggregate`). */
export function formatAggregate(errors: readonly string[]): string {
  const [first = '', ...others] = new Set(errors);
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
}
