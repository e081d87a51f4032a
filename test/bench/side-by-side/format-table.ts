// The table as text for a terminal, and as markdown for a document.
import { formatColumns } from '../../../src/cli/io/format-columns.ts';
import type { Spread, TableRow } from './build-table.ts';
import type { Target } from './rows.ts';

const titles = ['', 'kube-controller-manager', 'nlc', 'ratio', 'target'] as const;

export function formatText(rows: readonly TableRow[]): string {
  const lines = formatColumns([titles, ...rows.map(cellsOf)]);
  return [...lines, ...problemLines(rows)].join('\n');
}

export function formatMarkdown(rows: readonly TableRow[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const table = [
    line(['figure', ...titles.slice(1)]),
    line(titles.map(() => '---')),
    ...rows.map((row) => line(cellsOf(row))),
  ];
  const problems = problemLines(rows);
  return [...table, ...(problems.length === 0 ? [] : ['', ...problems.map((problem) => `- ${problem}`)])].join('\n');
}

function cellsOf(row: TableRow): readonly string[] {
  const { title, unit, digits, upstream, nlc, ratio, target, met, problems } = row;
  const value = (spread: Spread | undefined): string =>
    problems.length > 0 ? 'not reported' : `${formatSpread(spread, digits)}${unit === '' ? '' : ` ${unit}`}`;
  return [
    title,
    value(upstream),
    value(nlc),
    ratio === undefined ? '–' : formatSpread(ratio, 2),
    `${formatTarget(target, unit)}${met === undefined ? '' : met ? ', met' : ', missed'}`,
  ];
}

/** The value, and the lowest and the highest window if there are several. */
function formatSpread(spread: Spread | undefined, digits: number): string {
  if (spread === undefined) return '–';
  const { value, min, max } = spread;
  const [shown, low, high] = [value, min, max].map((number) => number.toFixed(digits));
  return low === high ? String(shown) : `${shown} (${low} to ${high})`;
}

function formatTarget(target: Target | undefined, unit: string): string {
  if (target === undefined) return '–';
  const { valueMax, ratioMax, times } = target;
  return [
    ...(valueMax === undefined ? [] : [`${valueMax}${unit === '' ? '' : ` ${unit}`}`]),
    ...(ratioMax === undefined ? [] : [`ratio ${ratioMax}`]),
    ...(times === undefined ? [] : [`${times.max} times the plain client`]),
  ].join(', ');
}

/** One line for each reason, with the rows that it concerns. */
function problemLines(rows: readonly TableRow[]): readonly string[] {
  const titlesOf = Map.groupBy(
    rows.flatMap(({ title, problems }) => problems.map((problem) => ({ title, problem }))),
    ({ problem }) => problem,
  );
  return [...titlesOf].map(
    ([problem, concerned]) => `not reported (${concerned.map(({ title }) => title).join('; ')}): ${problem}`,
  );
}
