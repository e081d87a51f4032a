import { Fragment, h, type JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useDashboard, useNowMs, useRoute } from '../page/dashboard-context.ts';
import { formatCounted } from '../page/format-number.ts';
import { Name, StateChip } from '../page/node-link.ts';
import type { Palette } from '../page/theme.ts';
import { useSize } from '../page/use-size.ts';
import type { NodeCell, ZoneRow } from '../protocol.ts';
import { isDisrupted } from '../cluster/describe-situation.ts';
import { describeNode, describeQueue, describeNext } from './describe-node.ts';
import { GridCanvas } from './grid-canvas.ts';
import { type GridPlan, planGrid, selectCellAt, selectCellByKey, planCell } from './plan-grid.ts';
import { Age, TimeText } from '../page/time-text.ts';

export interface NodeGridProps {
  /** Nodes by zone. */
  readonly nodes: readonly NodeCell[];
  readonly zones: readonly ZoneRow[];
  readonly palette: Palette;
}

/** The cell under the pointer or with the focus, by name: it stays the same when cells move. */
interface Pointed {
  readonly name: string;
  readonly by: 'pointer' | 'keyboard';
}

const heightMin = 470;

/** One cell per node, in groups by zone. The table has the same as text. */
export function NodeGrid(props: NodeGridProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const { width, pixelRatio } = useSize(place);
  const minHeight = width === 0 ? `${heightMin}px` : 'auto';
  // Nothing is painted for a width that is not known yet.
  return h(
    'div',
    { class: 'grid', ref: place, style: { minHeight } },
    width === 0 ? null : h(Groups, { ...props, width, pixelRatio }),
  );
}

function Groups({ nodes, zones, palette, width, pixelRatio }: NodeGridProps & ReturnType<typeof useSize>): JSX.Element {
  const [pointed, setPointed] = useState<Pointed | null>(null);
  // On a wall there is space for larger cells.
  const height = Math.max(heightMin, Math.floor(innerHeight / 2));
  const zoneOfCells = nodes.map(({ zone }) => zone);
  const plan = useMemo(() => planGrid(zoneOfCells, { width, height }), [zoneOfCells.join('\n'), width, height]);
  const index = pointed === null ? -1 : nodes.findIndex(({ name }) => name === pointed.name);
  const node = nodes[index];
  return h(
    Fragment,
    null,
    plan.groups.map((group) =>
      h(GroupLabel, { key: group.zone, group, row: zones.find(({ name }) => name === group.zone) }),
    ),
    h(Cells, { nodes, plan, palette, pixelRatio, index, onPoint: setPointed }),
    node === undefined || pointed === null ? null : h(CellFrame, { plan, index }),
    node === undefined || pointed === null ? null : h(NodeTip, { node, plan, index }),
    h(Announcement, { node: pointed?.by === 'keyboard' ? node : undefined }),
  );
}

interface GroupLabelProps {
  readonly group: GridPlan['groups'][number];
  readonly row: ZoneRow | undefined;
}

/** Above the cells of a zone. Hidden from screen readers: the table of zones has the same. */
function GroupLabel({ group: { zone, x, y, width, count }, row }: GroupLabelProps): JSX.Element {
  const style = { left: `${x}px`, top: `${y}px`, width: `${width}px` };
  const isBad = row !== undefined && isDisrupted(row.condition);
  return h(
    'div',
    { class: 'grid-label', 'aria-hidden': 'true', style },
    h(Name, { name: zone }),
    isBad ? h('span', { class: 'bad' }, `▲ ${row.condition ?? ''}`) : null,
    h('span', { class: 'muted' }, describeQueue(row) ?? formatCounted(count, 'node')),
  );
}

interface CellsProps extends Pick<NodeGridProps, 'nodes' | 'palette'> {
  readonly plan: GridPlan;
  readonly pixelRatio: number;
  /** Index of the pointed cell; -1: none. */
  readonly index: number;
  readonly onPoint: (pointed: Pointed | null) => void;
}

function Cells({ nodes, plan, palette, pixelRatio, index, onPoint }: CellsProps): JSX.Element {
  const { navigation } = useDashboard();
  const { filter } = useRoute();
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<GridCanvas | null>(null);
  useEffect(() => {
    if (canvas.current === null) return;
    painter.current ??= new GridCanvas(canvas.current);
    painter.current.update({ plan, palette, pixelRatio }, { nodes, states: filter.states });
  }, [plan, palette, pixelRatio, nodes, filter.states.join(',')]);
  const point = (at: number | undefined, by: Pointed['by']): void => {
    const name = at === undefined ? undefined : nodes[at]?.name;
    onPoint(name === undefined ? null : { name, by });
  };
  const open = (at: number | undefined): void => {
    const name = at === undefined ? undefined : nodes[at]?.name;
    if (name !== undefined) navigation.open({ node: name, section: null });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') return open(index);
    if (event.key === 'Escape') return onPoint(null);
    const to = nodes.length === 0 ? undefined : selectCellByKey(plan, Math.max(0, index), event.key);
    if (to === undefined) return undefined;
    event.preventDefault();
    return point(to, 'keyboard');
  };
  return h('canvas', {
    ref: canvas,
    class: 'cells',
    tabIndex: 0,
    role: 'application',
    'aria-label': `Grid of ${formatCounted(nodes.length, 'node')}`,
    'aria-roledescription': 'grid of nodes',
    'aria-describedby': 'grid-help',
    style: { width: `${plan.width}px`, height: `${plan.height}px` },
    onPointerMove: (event: PointerEvent) =>
      point(selectCellAt(plan, { x: event.offsetX, y: event.offsetY }), 'pointer'),
    onPointerLeave: () => onPoint(null),
    onClick: (event: MouseEvent) => open(selectCellAt(plan, { x: event.offsetX, y: event.offsetY })),
    onFocus: () => point(index < 0 ? 0 : index, 'keyboard'),
    onBlur: () => onPoint(null),
    onKeyDown,
  });
}

/** What a screen reader says about the focused cell. */
function Announcement({ node }: { readonly node: NodeCell | undefined }): JSX.Element {
  const nowMs = useNowMs();
  // The text of the moment at which the cell got the focus: a countdown must not be announced every second.
  const text = useMemo(() => (node === undefined ? '' : describeNode(node, nowMs)), [node?.name, node?.state]);
  return h('p', { class: 'hidden-text', role: 'status', 'aria-label': 'Focused node' }, text);
}

interface CellFrameProps {
  readonly plan: GridPlan;
  readonly index: number;
}

/** Around the cell under the pointer or with the focus. */
function CellFrame({ plan, index }: CellFrameProps): JSX.Element {
  const { x, y } = planCell(plan, index);
  const { width, height } = plan.cell;
  const style = { left: `${x - 2}px`, top: `${y - 2}px`, width: `${width + 4}px`, height: `${height + 4}px` };
  return h('div', { class: 'cell-frame', style });
}

const tipWidth = 300;

/** Beside the cell, on the side that has space. */
function NodeTip({ node, plan, index }: CellFrameProps & { readonly node: NodeCell }): JSX.Element {
  const nowMs = useNowMs();
  const { x, y } = planCell(plan, index);
  const isLeft = x + plan.cell.width + tipWidth > plan.width;
  const left = isLeft ? Math.max(0, x - tipWidth - 8) : x + plan.cell.width + 8;
  const { name, zone, policy, state, since, pods, held } = node;
  return h(
    'div',
    { class: 'tip', role: 'tooltip', style: { left: `${left}px`, top: `${y + plan.cell.height + 4}px` } },
    h('p', { class: 'tip-name' }, h(Name, { name })),
    h('p', null, h(StateChip, { state }), ' since ', h(TimeText, { at: since }), ' (', h(Age, { at: since }), ')'),
    h(
      'p',
      null,
      'Zone ',
      h(Name, { name: zone }),
      policy === null ? '' : ['; policy ', h(Name, { name: policy })],
      `; ${formatCounted(pods, 'pod')}`,
    ),
    held === null ? null : h('p', { dir: 'auto' }, `Held: ${held}`),
    h('p', null, `Next: ${describeNext(node, nowMs)}`),
  );
}
