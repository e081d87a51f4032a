// Lists of nodes and evictions as text: tables, as kubectl prints them.
import type { Estimate, EvictionList, NextAction, NodeList } from '../pages.ts';
import { line } from './format-page.ts';

const columnGap = 3;

export function describeNodeList(list: NodeList): string {
  if (list.total === 0) return 'no nodes in these states\n';
  const rows = list.nodes.map(({ name, zone, state, since, pods, holds, next }) => [
    name,
    zone,
    state,
    since === null ? '-' : describeAge(since.secondsAgo),
    String(pods),
    describeNext(next),
    holds.length === 0 ? '-' : holds.join(','),
  ]);
  return describeTable(['NODE', 'ZONE', 'STATE', 'SINCE', 'PODS', 'NEXT', 'HELD BY'], rows, list.total);
}

export function describeEvictionList(list: EvictionList): string {
  if (list.total === 0) return 'no evictions scheduled\n';
  const rows = list.evictions.map(({ pod, node, when }) => [pod, node, describeDue(when)]);
  return describeTable(['POD', 'NODE', 'DUE'], rows, list.total);
}

/** `mark-unknown in 12s`; an act without a time waits for what holds it. */
function describeNext({ act, when }: NextAction): string {
  if (act === 'none') return '-';
  return when === null ? act : `${act} ${describeDue(when)}`;
}

function describeDue({ inSeconds }: Estimate): string {
  if (inSeconds === null) return 'held';
  return inSeconds === 0 ? 'now' : `in ${describeAge(inSeconds)}`;
}

/** An age as kubectl prints it: `45s`, `12m`, `3h`, `2d`. */
function describeAge(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

function describeTable(head: readonly string[], rows: readonly (readonly string[])[], total: number): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)) + columnGap);
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('')
      .trimEnd(),
  );
  const more = total > rows.length ? [`${total - rows.length} more`] : [];
  return [...lines, ...more].map(line).join('');
}
