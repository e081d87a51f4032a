import { h, type JSX } from 'preact';
import { useDashboard, useRoute } from '../page/dashboard-context.ts';
import { formatAmount, formatCount, formatCounted, formatKnown, formatRate } from '../page/format-number.ts';
import { formatDuration } from '../page/format-time.ts';
import { Name } from '../page/node-link.ts';
import { Panel, ScrollArea } from '../page/panel.ts';
import { Table } from '../page/table.ts';
import type { ZoneRow } from '../protocol.ts';
import { isDisrupted } from './describe-situation.ts';

/** Condition, rate and queue of each zone. The name of a zone filters the nodes. */
export function ZoneTable({ zones }: { readonly zones: readonly ZoneRow[] }): JSX.Element {
  const heads = ['Zone', 'Condition', 'Unready', 'Rate', 'Tokens', 'Waiting', 'Drains in'];
  return h(
    Panel,
    { id: 'zones', title: 'Zones', note: formatCounted(zones.length, 'zone') },
    h(
      ScrollArea,
      { label: 'Table of zones', className: 'zones' },
      h(
        Table,
        { label: 'Zones', heads, numbers: [2, 3, 4, 5, 6] },
        zones.map((zone) => h(Row, { key: zone.name, zone })),
      ),
    ),
  );
}

function Row({ zone }: { readonly zone: ZoneRow }): JSX.Element {
  const { name, outer, condition, nodes, unready, ratePerSecond, tokens, waiting, drainSeconds } = zone;
  const isNormal = !isDisrupted(condition);
  return h(
    'tr',
    null,
    h(
      'th',
      { scope: 'row' },
      h(ZoneButton, { zone: name }),
      outer === null ? null : h('span', { class: 'muted' }, ` in ${outer}`),
    ),
    h('td', { class: conditionClass(condition) }, isNormal ? (condition ?? '–') : `▲ ${condition ?? ''}`),
    h('td', { class: 'number' }, h(UnreadyShare, { nodes, unready })),
    h('td', { class: ratePerSecond === 0 ? 'number bad' : 'number' }, formatKnown(ratePerSecond, formatRate)),
    h('td', { class: 'number' }, formatKnown(tokens, formatAmount)),
    h('td', { class: 'number' }, formatKnown(waiting, formatCount)),
    h('td', { class: 'number' }, waiting === 0 ? '–' : formatKnown(drainSeconds, formatDuration)),
  );
}

function conditionClass(condition: string | null): string {
  if (isDisrupted(condition)) return 'bad';
  return condition === 'normal' ? 'good' : 'muted';
}

function ZoneButton({ zone }: { readonly zone: string }): JSX.Element {
  const { navigation } = useDashboard();
  const { filter } = useRoute();
  const isChosen = filter.zone === zone;
  const toggle = (): void => navigation.replace({ filter: { ...filter, zone: isChosen ? null : zone }, page: 1 });
  const title = isChosen ? 'Show the nodes of all zones' : 'Show the nodes of this zone only';
  return h(
    'button',
    { type: 'button', class: 'link', 'aria-pressed': isChosen, title, onClick: toggle },
    h(Name, { name: zone }),
  );
}

function UnreadyShare({ nodes, unready }: Pick<ZoneRow, 'nodes' | 'unready'>): JSX.Element {
  const share = nodes === 0 ? 0 : unready / nodes;
  return h(
    'span',
    { class: 'share', title: `${Math.round(share * 100)} % of the nodes are not ready` },
    h('span', { class: 'share-track', 'aria-hidden': 'true' }, h('span', { style: { width: `${share * 100}%` } })),
    `${formatCount(unready)} of ${formatCount(nodes)}`,
  );
}
