import { h, type JSX } from 'preact';
import { useDashboard, useNowMs, useRoute } from '../page/dashboard-context.ts';
import { formatCount } from '../page/format-number.ts';
import { Name, NodeLink, StateChip } from '../page/node-link.ts';
import { ScrollArea } from '../page/panel.ts';
import type { SortKey } from '../page/parse-route.ts';
import { Table } from '../page/table.ts';
import { formatCountdown } from '../page/format-time.ts';
import { TimeText } from '../page/time-text.ts';
import type { NodeCell } from '../protocol.ts';
import { describeNext } from './describe-node.ts';
import { formatRange, Pages } from './pages.ts';
import { selectPage, selectSorted } from './select-nodes.ts';

const rowsPerPage = 100;
const columns: readonly { readonly key: SortKey; readonly label: string }[] = [
  { key: 'name', label: 'Node' },
  { key: 'state', label: 'State' },
  { key: 'since', label: 'Since' },
  { key: 'zone', label: 'Zone' },
  { key: 'policy', label: 'Policy' },
  { key: 'pods', label: 'Pods' },
  { key: 'next', label: 'Next' },
  { key: 'held', label: 'Held' },
];

/** The nodes of the grid as text: sortable, in pages. */
export function NodeTable({ nodes }: { readonly nodes: readonly NodeCell[] }): JSX.Element {
  const { sort, descending, page: wanted } = useRoute();
  const { rows, page, pages, first } = selectPage(selectSorted(nodes, sort, descending), wanted, rowsPerPage);
  const range = rows.length === 0 ? 'No node matches.' : formatRange(first, rows.length, nodes.length);
  const heads = columns.map(({ key, label }) => h(SortHead, { key, sortKey: key, label }));
  return h(
    'div',
    { class: 'node-table' },
    h(
      ScrollArea,
      { label: 'Table of nodes' },
      h(
        Table,
        { label: 'Nodes', heads, rowCount: nodes.length + 1 },
        rows.map((node, index) => h(Row, { key: index, node, index: first + index + 2 })),
      ),
    ),
    h(Pages, { label: 'Pages of nodes', what: 'page', page, pages, range }),
  );
}

function SortHead({ sortKey, label }: { readonly sortKey: SortKey; readonly label: string }): JSX.Element {
  const { navigation } = useDashboard();
  const { sort, descending } = useRoute();
  const isSorted = sort === sortKey;
  const direction = descending ? 'descending' : 'ascending';
  const toggle = (): void => navigation.replace({ sort: sortKey, descending: isSorted && !descending, page: 1 });
  return h(
    'th',
    { scope: 'col', class: sortKey === 'pods' ? 'number' : '', 'aria-sort': isSorted ? direction : 'none' },
    h(
      'button',
      { type: 'button', class: 'sort', onClick: toggle },
      label,
      h('span', { 'aria-hidden': 'true', class: 'sort-mark' }, sortMark(isSorted, descending)),
    ),
  );
}

function sortMark(isSorted: boolean, descending: boolean): string {
  if (!isSorted) return '';
  return descending ? '▼' : '▲';
}

function Row({ node, index }: { readonly node: NodeCell; readonly index: number }): JSX.Element {
  const { name, zone, policy, state, since, pods, held } = node;
  return h(
    'tr',
    { 'aria-rowindex': index },
    h('th', { scope: 'row' }, h(NodeLink, { name })),
    h('td', null, h(StateChip, { state })),
    h('td', { class: 'number' }, h(TimeText, { at: since })),
    h('td', null, h(Name, { name: zone })),
    h('td', null, policy === null ? '–' : h(Name, { name: policy })),
    h('td', { class: 'number' }, formatCount(pods)),
    h('td', null, h(Next, { node })),
    h('td', { class: 'long', dir: 'auto' }, held ?? '–'),
  );
}

/** The time comes first: the column may be too narrow for the rest, which is in the title. */
function Next({ node }: { readonly node: NodeCell }): JSX.Element {
  const nowMs = useNowMs();
  const { next } = node;
  if (next === null) return h('span', { class: 'muted' }, 'nothing');
  const left = next.at === null ? null : formatCountdown((Date.parse(next.at) - nowMs) / 1_000);
  return h(
    'span',
    { title: describeNext(node, nowMs) },
    left === null ? null : h('span', { class: 'due' }, left, ' '),
    next.what,
  );
}
