// How each figure grows with the number of nodes.
import { fitExponent } from '../fit-exponent.ts';
import type { Panel } from '../format-chart.ts';
import type { TableRow } from './build-table.ts';

/** The table of one size. */
export interface SizedTable {
  readonly nodes: number;
  readonly rows: readonly TableRow[];
}

interface GrowthRow {
  readonly title: string;
  readonly unit: string;
  /** Exponents of the number of nodes; undefined if fewer than two sizes have a positive value. */
  readonly upstream: number | undefined;
  readonly nlc: number | undefined;
}

type Side = 'upstream' | 'nlc';

export function buildGrowth(tables: readonly SizedTable[]): readonly GrowthRow[] {
  return titlesOf(tables).map(({ title, unit }) => ({
    title,
    unit,
    upstream: fitExponent(pointsOf(tables, title, 'upstream')),
    nlc: fitExponent(pointsOf(tables, title, 'nlc')),
  }));
}

/** A panel for each row, both axes logarithmic, so that a line's slope is its exponent. */
export function growthPanels(tables: readonly SizedTable[]): readonly Panel[] {
  const ticks = tables.map(({ nodes }) => nodes);
  return titlesOf(tables).map(({ title, unit }) => ({
    title,
    x: { label: 'nodes', scale: 'log', ticks },
    y: { label: unit, scale: 'log' },
    lines: [
      { name: 'kube-controller-manager', points: toXy(pointsOf(tables, title, 'upstream')) },
      { name: 'nlc', points: toXy(pointsOf(tables, title, 'nlc')) },
    ],
  }));
}

export function formatGrowth(rows: readonly GrowthRow[]): string {
  const exponent = (value: number | undefined): string => (value === undefined ? '–' : value.toFixed(2));
  return [
    '| figure | exponent of kube-controller-manager | exponent of nlc |',
    '| --- | --- | --- |',
    ...rows.map(({ title, upstream, nlc }) => `| ${title} | ${exponent(upstream)} | ${exponent(nlc)} |`),
  ].join('\n');
}

function titlesOf(tables: readonly SizedTable[]): readonly Pick<TableRow, 'title' | 'unit'>[] {
  return tables[0]?.rows ?? [];
}

function pointsOf(
  tables: readonly SizedTable[],
  title: string,
  side: Side,
): readonly { readonly size: number; readonly value: number }[] {
  return tables.flatMap(({ nodes, rows }) => {
    const spread = rows.find((row) => row.title === title)?.[side];
    return spread === undefined ? [] : [{ size: nodes, value: spread.value }];
  });
}

function toXy(points: readonly { readonly size: number; readonly value: number }[]): Panel['lines'][number]['points'] {
  return points.map(({ size, value }) => ({ x: size, y: value }));
}
