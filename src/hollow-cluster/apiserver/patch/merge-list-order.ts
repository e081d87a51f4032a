interface ListOrder {
  readonly merged: readonly unknown[];
  /** The order of the patch. */
  readonly wanted: readonly unknown[];
  /** The list before the patch. */
  readonly before: readonly unknown[];
  readonly keyOf: (element: unknown) => string;
}

/**
 * Orders a merged list (upstream `normalizeElementOrder`): elements in the patch keep the order of the patch, the others
 * their stored order, and one of the others precedes a patched one only if it did before.
 */
export function mergeListOrder({ merged, wanted, before, keyOf }: ListOrder): readonly unknown[] {
  const wantedAt = placesOf(wanted, keyOf);
  const beforeAt = placesOf(before, keyOf);
  const at = (places: ReadonlyMap<string, number>, element: unknown): number => places.get(keyOf(element)) ?? -1;
  const ordered = merged
    .filter((element) => wantedAt.has(keyOf(element)))
    .sort((a, b) => at(wantedAt, a) - at(wantedAt, b));
  const others = merged.filter((element) => !wantedAt.has(keyOf(element)));
  return interleave(others, ordered, (other, patched) => {
    const patchedAt = at(beforeAt, patched);
    return patchedAt >= 0 && at(beforeAt, other) >= 0 && at(beforeAt, other) < patchedAt;
  });
}

function interleave(
  others: readonly unknown[],
  ordered: readonly unknown[],
  goesAhead: (other: unknown, patched: unknown) => boolean,
): readonly unknown[] {
  const result: unknown[] = [];
  let next = 0;
  for (const patched of ordered) {
    while (next < others.length && goesAhead(others[next], patched)) result.push(others[next++]);
    result.push(patched);
  }
  return [...result, ...others.slice(next)];
}

function placesOf(list: readonly unknown[], keyOf: (element: unknown) => string): ReadonlyMap<string, number> {
  return new Map(list.map((element, at) => [keyOf(element), at]));
}
