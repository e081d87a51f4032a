import { h, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { describeState } from '../describe-state.ts';
import { type NodeCell, type NodeState, nodeStates } from '../protocol.ts';
import { useDashboard, useRoute } from '../page/dashboard-context.ts';
import { formatCount } from '../page/format-number.ts';
import type { Palette } from '../page/theme.ts';
import { paintPattern } from './cell-painter.ts';
import { buildTally } from './select-nodes.ts';

interface StateLegendProps {
  readonly nodes: readonly NodeCell[];
  readonly palette: Palette;
}

/** What colors, letters and patterns mean, with the number of nodes; each is a switch of the filter. */
export function StateLegend({ nodes, palette }: StateLegendProps): JSX.Element {
  const { navigation } = useDashboard();
  const { filter } = useRoute();
  const tally = buildTally(nodes);
  const toggle = (state: NodeState): void => {
    const isOn = filter.states.includes(state);
    const states = isOn ? filter.states.filter((other) => other !== state) : [...filter.states, state];
    navigation.replace({ filter: { ...filter, states }, page: 1 });
  };
  return h(
    'div',
    { class: 'legend', role: 'group', 'aria-label': 'States' },
    nodeStates.map((state) => {
      const { label, letter, meaning } = describeState(state);
      const isOn = filter.states.includes(state);
      return h(
        'button',
        {
          key: state,
          type: 'button',
          class: `legend-item ${isOn ? 'chosen' : ''} ${tally[state] === 0 ? 'none' : ''}`,
          'aria-pressed': isOn,
          title: `${label}: ${meaning}`,
          onClick: () => toggle(state),
        },
        h(Swatch, { state, palette }),
        h('span', { class: 'legend-letter', 'aria-hidden': 'true' }, letter),
        h('span', null, label),
        ' ',
        h(
          'strong',
          { class: 'number', style: { minWidth: `${formatCount(nodes.length).length}ch` } },
          formatCount(tally[state]),
        ),
      );
    }),
  );
}

const swatchSize = 12;

/** The cell as it is in the grid. */
function Swatch({ state, palette }: { readonly state: NodeState; readonly palette: Palette }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context === null || context === undefined) return;
    const ratio = devicePixelRatio;
    context.canvas.width = swatchSize * ratio;
    context.canvas.height = swatchSize * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.states[state].fill;
    context.fillRect(0, 0, swatchSize, swatchSize);
    paintPattern(context, { x: 0, y: 0, size: swatchSize }, state, palette);
  }, [palette]);
  return h('canvas', { ref: canvas, class: 'swatch', 'aria-hidden': 'true' });
}
