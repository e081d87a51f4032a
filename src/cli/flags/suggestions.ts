/** Maximum edit distance of a suggestion. */
const editsMax = 3;
/** Longer names get no suggestion, because the comparison is quadratic. */
const lettersMax = 80;

/** The known name closest to the given one; undefined if none is close. Underscores count as dashes, case is ignored. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  const wanted = plain(given);
  if (wanted.length > lettersMax) return undefined;
  let best: string | undefined;
  let bestEdits = Math.min(editsMax, Math.floor(wanted.length / 2)) + 1;
  for (const name of known) {
    const edits = editsBetween(wanted, plain(name));
    if (edits < bestEdits) {
      best = name;
      bestEdits = edits;
    }
  }
  return best;
}

function plain(name: string): string {
  return name.replaceAll('_', '-').toLowerCase();
}

/** Levenshtein distance, computed one row at a time. */
function editsBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 0; row < a.length; row++) {
    const current = [row + 1];
    for (let column = 1; column <= b.length; column++) {
      const swapped = at(above, column - 1) + (a[row] === b[column - 1] ? 0 : 1);
      current.push(Math.min(swapped, at(above, column) + 1, at(current, column - 1) + 1));
    }
    above = current;
  }
  return at(above, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
