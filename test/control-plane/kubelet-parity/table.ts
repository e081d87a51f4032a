// Both tellings of a step side by side, for a person.
import type { Difference, Row } from './compare.ts';

const columnWidth = 44;
const valueLengthMax = 400;

/** `=` the same, `<` only the reference, `>` only ours, `~` other values, `(m)` meant. */
export function tableOf(
  rows: ReadonlyMap<string, readonly Row[]>,
  isUnexpected: (difference: Difference) => boolean,
): string {
  const lines = [...rows].flatMap(([object, about]) => [
    object,
    ...about.flatMap((row) => rowLines(row, isUnexpected)),
  ]);
  return [`   ${'reference'.padEnd(columnWidth)} ours`, ...lines].join('\n');
}

function rowLines(row: Row, isUnexpected: (difference: Difference) => boolean): readonly string[] {
  const { reference, ours, differences } = row;
  const mark = differences.length === 0 ? '=' : reference === undefined ? '>' : ours === undefined ? '<' : '~';
  const isMeant = differences.length > 0 && !differences.some(isUnexpected);
  const head = `${mark}  ${(reference?.action ?? '').padEnd(columnWidth)} ${ours?.action ?? ''}${isMeant ? ' (m)' : ''}`;
  return [head, ...differences.filter(isUnexpected).flatMap(valueLines)];
}

function valueLines({ at, reference, ours }: Difference): readonly string[] {
  if (at === undefined) return [];
  return [`      ${at}`, `        reference ${text(reference)}`, `        ours      ${text(ours)}`];
}

function text(value: unknown): string {
  const whole = JSON.stringify(value) ?? 'nothing';
  return whole.length > valueLengthMax ? `${whole.slice(0, valueLengthMax)}…` : whole;
}
