import { h, type JSX } from 'preact';
import { useNowMs } from '../page/dashboard-context.ts';
import { formatCounted } from '../page/format-number.ts';
import { Name, StateChip } from '../page/node-link.ts';
import { Age, TimeText } from '../page/time-text.ts';
import type { NodeCell } from '../protocol.ts';
import { describeNext } from './describe-node.ts';
import { type GridPlan, planCell } from './plan-grid.ts';

interface CellFrameProps {
  readonly plan: GridPlan;
  readonly index: number;
}

/** Around the cell under the pointer or with the focus. */
export function CellFrame({ plan, index }: CellFrameProps): JSX.Element {
  const { x, y } = planCell(plan, index);
  const { width, height } = plan.cell;
  const style = { left: `${x - 2}px`, top: `${y - 2}px`, width: `${width + 4}px`, height: `${height + 4}px` };
  return h('div', { class: 'cell-frame', style });
}

const tipWidth = 300;

/** Beside the cell, on the side that has space. */
export function NodeTip({ node, plan, index }: CellFrameProps & { readonly node: NodeCell }): JSX.Element {
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
