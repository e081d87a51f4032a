import { h, type JSX } from 'preact';
import { formatCount, formatCounted } from '../page/format-number.ts';
import { Name, NodeLink } from '../page/node-link.ts';
import { Panel, ScrollArea } from '../page/panel.ts';
import { Countdown } from '../page/time-text.ts';
import type { Cluster } from '../protocol.ts';

/** The pods that are evicted next, soonest first. */
export function EvictionList({ cluster: { evictions, evictionsTotal } }: { readonly cluster: Cluster }): JSX.Element {
  const isCut = evictions.length < evictionsTotal;
  const note = isCut
    ? `first ${evictions.length} of ${formatCount(evictionsTotal)}`
    : formatCounted(evictionsTotal, 'pod');
  return h(
    Panel,
    { id: 'evictions', title: 'Evictions due', note, className: 'evictions' },
    evictions.length === 0
      ? h('p', { class: 'empty' }, 'No pod is scheduled for eviction.')
      : h(
          ScrollArea,
          { label: 'List of evictions' },
          h(
            'table',
            { 'aria-label': 'Evictions due' },
            h(
              'thead',
              null,
              h(
                'tr',
                null,
                ['In', 'Pod', 'Node'].map((head) => h('th', { key: head, scope: 'col' }, head)),
              ),
            ),
            h(
              'tbody',
              null,
              evictions.map(({ pod, node, at }, index) =>
                h(
                  'tr',
                  { key: index },
                  h('td', { class: 'due' }, h(Countdown, { at })),
                  h('td', null, h(Name, { name: pod })),
                  h('td', null, h(NodeLink, { name: node })),
                ),
              ),
            ),
          ),
        ),
  );
}
