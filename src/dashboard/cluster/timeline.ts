import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Dropdown, Search } from '../page/choice.ts';
import { useDashboard, useRoute } from '../page/dashboard-context.ts';
import { formatCount, formatCounted } from '../page/format-number.ts';
import { NodeLink } from '../page/node-link.ts';
import { Panel, ScrollArea } from '../page/panel.ts';
import type { TimelineFilter } from '../page/parse-route.ts';
import { Table } from '../page/table.ts';
import { TimeText } from '../page/time-text.ts';
import type { TimelineLine } from '../protocol.ts';
import { selectKinds, selectTimeline } from './select-timeline.ts';

const linesShownMax = 200;
const heads = ['Time', 'Kind and node', 'Decision'];

/** The decisions of the controller, newest first. While the pointer or the focus is in it, no line moves. */
export function Timeline({ lines }: { readonly lines: readonly TimelineLine[] }): JSX.Element {
  const { timeline: filter } = useRoute();
  const [frozen, setFrozen] = useState<readonly TimelineLine[] | null>(null);
  const shown = selectTimeline(frozen ?? lines, filter);
  const newer =
    frozen === null ? 0 : selectTimeline(lines, filter).filter(({ id }) => id > (frozen.at(-1)?.id ?? 0)).length;
  const held = newer === 0 ? '' : `; ${formatCount(newer)} newer when you leave the list`;
  return h(
    Panel,
    {
      id: 'timeline',
      title: 'Timeline',
      note: `${formatCounted(shown.length, 'decision')}${held}`,
      controls: h(Filters, { lines }),
      className: 'timeline',
    },
    h(
      'div',
      {
        onPointerEnter: () => setFrozen(lines),
        onPointerLeave: () => setFrozen(null),
        onFocusIn: () => setFrozen((already) => already ?? lines),
        onFocusOut: () => setFrozen(null),
      },
      shown.length === 0
        ? h('p', { class: 'empty' }, 'No decision matches.')
        : h(
            ScrollArea,
            { label: 'List of decisions' },
            h(Table, { label: 'Timeline', heads }, shown.slice(0, linesShownMax).map(row)),
          ),
    ),
  );
}

function Filters({ lines }: { readonly lines: readonly TimelineLine[] }): JSX.Element {
  const { navigation } = useDashboard();
  const { timeline } = useRoute();
  const set = (change: Partial<TimelineFilter>): void => navigation.replace({ timeline: { ...timeline, ...change } });
  const options = [
    { value: '', label: 'All kinds' },
    ...selectKinds(lines).map((kind) => ({ value: kind, label: kind })),
  ];
  const chosen = timeline.kind ?? '';
  if (!options.some(({ value }) => value === chosen)) options.push({ value: chosen, label: chosen });
  return h(
    'div',
    { class: 'filters', role: 'search', 'aria-label': 'Filter decisions' },
    h(Dropdown, {
      label: 'Kind',
      options,
      value: chosen,
      onChoose: (kind) => set({ kind: kind === '' ? null : kind }),
    }),
    h(Search, { label: 'Text', value: timeline.text, onInput: (text) => set({ text }) }),
    h(
      'label',
      { class: 'check' },
      h('input', {
        type: 'checkbox',
        checked: timeline.warnings,
        onChange: () => set({ warnings: !timeline.warnings }),
      }),
      'Warnings only',
    ),
  );
}

function row({ at, kind, text, warning, node }: TimelineLine, index: number): JSX.Element {
  return h(
    'tr',
    { key: index, class: warning ? 'warning' : '' },
    h('td', { class: 'number' }, h(TimeText, { at })),
    h(
      'td',
      null,
      h('span', { class: 'kind', title: kind }, warning ? `▲ ${kind}` : kind),
      node === null ? null : h(NodeLink, { name: node }),
    ),
    h('td', { class: 'decision' }, h('div', { dir: 'auto', title: text }, text)),
  );
}
