/** Calls `act` for each item, a limited number of them at the same time. Rejects with the first error. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  atOnce: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const remaining = items.values();
  const work = async (): Promise<void> => {
    for (const item of remaining) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
