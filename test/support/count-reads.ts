interface CountedReads<Item> {
  readonly items: Item[];
  /** How often a field of an item was read. */
  readonly reads: () => number;
}

/** The items, whose fields count how often they are read: work that is quadratic in their number shows. */
export function countReads<Item extends object>(originals: readonly Item[]): CountedReads<Item> {
  let count = 0;
  const items = originals.map(
    (item) =>
      new Proxy(item, {
        get: (target, field, receiver): unknown => {
          count += 1;
          return Reflect.get(target, field, receiver);
        },
      }),
  );
  return { items, reads: () => count };
}
