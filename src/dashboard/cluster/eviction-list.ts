import { h, type JSX } from 'preact';
import { formatCount, formatCounted } from '../page/format-number.ts';
import { Name, NodeLink } from '../page/node-link.ts';
import { Panel, ScrollArea } from '../page/panel.ts';
import { Table } from '../page/table.ts';
import { Countdown } from '../page/time-text.ts';
import type { Cluster, PendingEviction } from '../protocol.ts';

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
          h(Table, { label: 'Evictions due', heads: ['In', 'Pod', 'Node'] }, evictions.map(row)),
        ),
  );
}

function row({ pod, node, at }: PendingEviction, index: number): JSX.Element {
  return h(
    'tr',
    { key: index },
    h('td', { class: 'due' }, h(Countdown, { at })),
    h('td', null, h(Name, { name: pod })),
    h('td', null, h(NodeLink, { name: node })),
  );
}
