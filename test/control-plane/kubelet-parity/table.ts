// The requests of both kubelets in a step side by side, for error messages.
import type { Difference, Row } from './compare.ts';

const columnWidth = 44;
const valueLengthMax = 400;

/** `=` equal, `<` only the real kubelet, `>` only nlc, `~` different values, `(m)` intended. */
export function tableOf(
  rows: ReadonlyMap<string, readonly Row[]>,
  isUnexpected: (difference: Difference) => boolean,
): string {
  const lines = [...rows].flatMap(([object, about]) => [
    object,
    ...about.flatMap((row) => rowLines(row, isUnexpected)),
  ]);
  return [`   ${'upstream'.padEnd(columnWidth)} nlc`, ...lines].join('\n');
}

function rowLines(row: Row, isUnexpected: (difference: Difference) => boolean): readonly string[] {
  const { upstream, nlc, differences } = row;
  const mark = differences.length === 0 ? '=' : upstream === undefined ? '>' : nlc === undefined ? '<' : '~';
  const isMeant = differences.length > 0 && !differences.some(isUnexpected);
  const head = `${mark}  ${(upstream?.action ?? '').padEnd(columnWidth)} ${nlc?.action ?? ''}${isMeant ? ' (m)' : ''}`;
  return [head, ...differences.filter(isUnexpected).flatMap(valueLines)];
}

function valueLines({ at, upstream, nlc }: Difference): readonly string[] {
  if (at === undefined) return [];
  return [`      ${at}`, `        upstream ${text(upstream)}`, `        nlc      ${text(nlc)}`];
}

function text(value: unknown): string {
  const whole = JSON.stringify(value) ?? 'nothing';
  return whole.length > valueLengthMax ? `${whole.slice(0, valueLengthMax)}…` : whole;
}
