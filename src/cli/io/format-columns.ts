const gap = 2;

/** Rows of cells as lines of text: each column is as wide as its longest cell, and two spaces apart from the next. */
export function formatColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: columns }, (_, column) => {
    return Math.max(...rows.map((row) => row[column]?.length ?? 0)) + gap;
  });
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('')
      .trimEnd(),
  );
}
