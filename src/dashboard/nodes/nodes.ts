import { h, type JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Segments } from '../page/choice.ts';
import { CopyButton } from '../page/copy-button.ts';
import { useDashboard, useRoute } from '../page/dashboard-context.ts';
import { formatCount, formatCounted } from '../page/format-number.ts';
import { Panel } from '../page/panel.ts';
import type { Palette } from '../page/theme.ts';
import type { DashboardState } from '../stream/merge-delta.ts';
import { NodeFilters } from './node-filters.ts';
import { NodeGrid, type NodeGridProps } from './node-grid.ts';
import { NodeTable } from './node-table.ts';
import { formatRange, Pages } from './pages.ts';
import { selectPage, selectPlaced, selectStates } from './select-nodes.ts';

interface NodesProps {
  readonly state: Pick<DashboardState, 'nodes' | 'zones'>;
  readonly palette: Palette;
}

/** More cells than this would need a canvas that is larger than browsers allow. */
const cellsPerPage = 10_000;

const views = [
  { value: 'grid', label: 'Grid' },
  { value: 'table', label: 'Table' },
];

/** All nodes that the filter selects, as a grid or as a table. */
export function Nodes({ state, palette }: NodesProps): JSX.Element {
  const { store, navigation } = useDashboard();
  const { filter, view } = useRoute();
  const { nodes } = state;
  const { zone, policy, name } = filter;
  const placed = useMemo(() => selectPlaced(nodes, store.order, filter), [nodes, zone, policy, name]);
  const selected = useMemo(() => selectStates(placed, filter.states), [placed, filter.states.join(',')]);
  const note =
    selected.length === nodes.size
      ? formatCounted(nodes.size, 'node')
      : `${formatCount(selected.length)} of ${formatCounted(nodes.size, 'node')}`;
  return h(
    Panel,
    {
      id: 'nodes',
      title: 'Nodes',
      note,
      className: 'nodes',
      controls: [
        h(CopyButton, { text: () => JSON.stringify(selected, undefined, 2) }),
        h(Segments, {
          label: 'View',
          options: views,
          value: view,
          onChoose: (chosen) => navigation.open({ view: chosen === 'table' ? 'table' : 'grid', page: 1 }),
        }),
      ],
    },
    h(NodeFilters, { nodes, placed, palette }),
    view === 'table' ? h(NodeTable, { nodes: selected }) : h(GridPages, { nodes: placed, zones: state.zones, palette }),
  );
}

function GridPages({ nodes, zones, palette }: NodeGridProps): JSX.Element {
  const { page: wanted } = useRoute();
  const { rows, page, pages, first } = useMemo(() => selectPage(nodes, wanted, cellsPerPage), [nodes, wanted]);
  const range = formatRange(first, rows.length, nodes.length);
  return h(
    'div',
    null,
    h(
      'p',
      { id: 'grid-help', class: 'hidden-text' },
      'Arrow keys move between nodes, Enter opens the page of a node. The view Table has the same nodes as text.',
    ),
    rows.length === 0
      ? h('p', { class: 'empty' }, 'No node matches the filter.')
      : h(NodeGrid, { nodes: rows, zones, palette }),
    pages === 1 ? null : h(Pages, { label: 'Pages of the grid', what: 'nodes', page, pages, range }),
  );
}
