import { h, type JSX } from 'preact';
import { Panel, ScrollArea } from '../page/panel.ts';
import { Age, Countdown, TimeText } from '../page/time-text.ts';
import type { HoldBanner } from '../protocol.ts';

/** What keeps the controller from acting now: kind, reason, since when, what ends it. */
export function Holds({ holds }: { readonly holds: readonly HoldBanner[] }): JSX.Element {
  const isHeld = holds.length > 0;
  return h(
    Panel,
    {
      id: 'holds',
      title: 'Holds',
      note: isHeld ? String(holds.length) : '',
      className: isHeld ? 'holds active' : 'holds',
    },
    isHeld
      ? h(ScrollArea, { label: 'List of holds' }, h('ul', { class: 'hold-list' }, holds.map(holdItem)))
      : h('p', { class: 'empty' }, 'No holds: nothing keeps the controller from detection, taints and evictions.'),
  );
}

function holdItem(hold: HoldBanner, index: number): JSX.Element {
  const { why, since, until, ends } = hold;
  const kind = `${hold.kind.slice(0, 1).toUpperCase()}${hold.kind.slice(1).replaceAll('-', ' ')}`;
  return h(
    'li',
    { key: `${kind} ${index}`, class: 'hold', 'aria-label': kind },
    h(
      'p',
      { class: 'hold-head' },
      h('strong', null, kind),
      since === null
        ? null
        : h('span', { class: 'muted' }, 'since ', h(TimeText, { at: since }), ' (', h(Age, { at: since }), ')'),
      until === null ? null : h('span', { class: 'hold-left' }, 'at most ', h(Countdown, { at: until })),
    ),
    h('p', { dir: 'auto' }, why),
    h('p', { class: 'muted', dir: 'auto' }, `Ends when: ${ends}`),
  );
}
