// The table of one run: a row for each figure, both controllers, their ratio with its spread, and the target.
import { median } from '../percentile.ts';
import type { Contender } from './contenders.ts';
import type { Figures, RowFigures } from './figures.ts';
import { type RowDefinition, type RowId, rows, type Target, targetOf } from './rows.ts';

/** A value with the lowest and the highest window. */
export interface Spread {
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

export interface TableRow extends RowDefinition {
  readonly id: RowId;
  readonly upstream: Spread | undefined;
  readonly nlc: Spread | undefined;
  /** nlc to kube-controller-manager: of the medians, and the extremes of all pairs of windows. */
  readonly ratio: Spread | undefined;
  readonly target: Target | undefined;
  readonly met: boolean | undefined;
  /** Why the row is not reported. */
  readonly problems: readonly string[];
}

export function buildTable(nodes: number, figures: Readonly<Record<Contender, Figures>>): readonly TableRow[] {
  return rows.map((row) => {
    const both = { upstream: figures['kube-controller-manager'][row.id], nlc: figures.nlc[row.id] };
    const problems = [...problemsOf('kube-controller-manager', both.upstream), ...problemsOf('nlc', both.nlc)];
    const [upstream, nlc] = problems.length > 0 ? [] : [spreadOf(both.upstream), spreadOf(both.nlc)];
    const ratio = upstream && nlc && ratioOf(nlc, upstream);
    const target = targetOf(nodes, row.id);
    const other = target?.times && spreadOf(figures.nlc[target.times.row]);
    return { ...row, upstream, nlc, ratio, target, met: isMet(target, { nlc, ratio, other }), problems };
  });
}

function problemsOf(contender: Contender, figures: RowFigures | undefined): readonly string[] {
  return [...new Set(figures?.problems ?? ['not measured'])].map((problem) => `${contender}: ${problem}`);
}

function spreadOf(figures: RowFigures | undefined): Spread | undefined {
  if (figures === undefined || figures.values.length === 0) return undefined;
  const { values } = figures;
  return { value: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Undefined where kube-controller-manager has no positive value. */
function ratioOf(nlc: Spread, upstream: Spread): Spread | undefined {
  if (!(upstream.min > 0)) return undefined;
  return { value: nlc.value / upstream.value, min: nlc.min / upstream.max, max: nlc.max / upstream.min };
}

interface Found {
  readonly nlc: Spread | undefined;
  readonly ratio: Spread | undefined;
  /** The row of which the target is a multiple. */
  readonly other: Spread | undefined;
}

function isMet(target: Target | undefined, { nlc, ratio, other }: Found): boolean | undefined {
  if (target === undefined || nlc === undefined) return undefined;
  const { valueMax = Infinity, ratioMax, times } = target;
  return (
    nlc.value <= valueMax &&
    (ratioMax === undefined || (ratio !== undefined && ratio.value <= ratioMax)) &&
    (times === undefined || (other !== undefined && nlc.value <= times.max * other.value))
  );
}
