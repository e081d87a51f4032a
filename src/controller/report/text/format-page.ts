// What the pages in text form have in common: rows of a label and a text, times, and the history at the end.
import { escapeLine } from '../../../machinery/api/format-safe-text.ts';
import type { Estimate, HistoryLine } from '../pages.ts';

/** A label and its text. A text of null: no line. */
export type Row = readonly [label: string, text: string | null];

/** The texts of the variants of a union. */
export type Texts<Key extends string, Union extends Readonly<Record<Key, string>>> = {
  readonly [Variant in Union[Key]]: (value: Extract<Union, Readonly<Record<Key, Variant>>>) => string;
};

/** The text of this variant of a union. */
export function textOf<Key extends string, Union extends Readonly<Record<Key, string>>>(
  texts: Texts<Key, Union>,
  key: Key,
  value: Union,
): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table's type ties each variant to its function
  const text = texts[value[key]] as (value: Union) => string;
  return text(value);
}

const labelColumns = 11;

/** A line of a page. What objects contain is in it: none of it begins another line, or controls a terminal. */
export function line(text: string): string {
  return `${escapeLine(text)}\n`;
}

/** Lines of a page; a row whose text is null has none. */
export function rows(all: readonly Row[]): string {
  return all.map(([label, text]) => (text === null ? '' : line(`  ${label.padEnd(labelColumns)}${text}`))).join('');
}

/** Malformed fields and the history: the last lines of a page. */
export function ending(problems: readonly string[], history: readonly HistoryLine[]): string {
  const malformed = problems.map((problem): Row => ['malformed', problem]);
  if (history.length === 0) return rows([...malformed, ['history', 'none']]);
  return rows(malformed) + historyRows('history', history);
}

/** Rows of a history; none if it is empty. */
export function historyRows(label: string, history: readonly HistoryLine[]): string {
  if (history.length === 0) return '';
  return [line(`  ${label}`), ...history.map(({ at, text }) => line(`    ${at}  ${text}`))].join('');
}

export function secondsText(seconds: number): string {
  return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))}s`;
}

export function estimateText({ at, inSeconds }: Estimate): string {
  if (at === null || inSeconds === null) return 'not in the current state';
  return inSeconds === 0 ? 'now' : `in about ${secondsText(inSeconds)} (${at})`;
}
