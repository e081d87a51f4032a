/** A line of an explanation, with the indented lines below it. */
interface ExplanationRow {
  readonly label: string;
  readonly text: string;
  readonly details: readonly string[];
}

interface Explanation {
  readonly title: string;
  readonly rows: readonly ExplanationRow[];
}

/**
 * The text page of a node, as `nlc explain` prints it: a title, lines of two spaces, label and text, and details of four
 * spaces. A label may occur several times.
 */
export function parseExplanation(text: string): Explanation {
  const [title = '', ...lines] = text.split('\n');
  const rows: { label: string; text: string; details: string[] }[] = [];
  for (const line of lines) {
    const [, detail] = /^ {4}(.*)$/u.exec(line) ?? [];
    const [, label = '', rest = ''] = /^ {2}(\S+) *(.*)$/u.exec(line) ?? [];
    if (detail !== undefined) rows.at(-1)?.details.push(detail);
    else if (label !== '') rows.push({ label, text: rest, details: [] });
  }
  return { title, rows };
}
