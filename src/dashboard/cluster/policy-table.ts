import { h, type JSX } from 'preact';
import { formatCount } from '../page/format-number.ts';
import { Name } from '../page/node-link.ts';
import { Panel, ScrollArea } from '../page/panel.ts';
import { Table } from '../page/table.ts';
import type { Cluster, PolicyRow } from '../protocol.ts';

export function PolicyTable({ policies }: { readonly policies: readonly PolicyRow[] }): JSX.Element {
  const heads = ['Policy', 'Mode', 'Nodes', 'Unhealthy', 'Held', 'Breaker'];
  return h(
    Panel,
    { id: 'policies', title: 'Policies' },
    policies.length === 0
      ? h('p', { class: 'empty' }, 'No policies: the settings of the controller apply to all nodes.')
      : h(
          ScrollArea,
          { label: 'Table of policies' },
          h(Table, { label: 'Policies', heads, numbers: [2, 3, 4] }, policies.map(row)),
        ),
  );
}

function row({ name, mode, windows = [], nodes, unhealthy, held, breaker }: PolicyRow): JSX.Element {
  return h(
    'tr',
    { key: name },
    h('th', { scope: 'row' }, h(Name, { name })),
    h('td', { class: 'long' }, [mode, ...windows.map((window) => `in the window ${window}`)].join(', ')),
    h('td', { class: 'number' }, formatCount(nodes)),
    h('td', { class: 'number' }, formatCount(unhealthy)),
    h('td', { class: 'number' }, formatCount(held)),
    h('td', { class: breaker?.open === true ? 'long bad' : 'long' }, describeBreaker(breaker)),
  );
}

function describeBreaker(breaker: PolicyRow['breaker']): string {
  if (breaker === null) return 'none';
  return `${breaker.open ? '▲ open' : 'closed'}: ${breaker.text}`;
}

/** The leader, and the other replicas that are known. */
export function Replicas({ cluster: { replicas, leader, shadow } }: { readonly cluster: Cluster }): JSX.Element {
  return h(
    Panel,
    { id: 'replicas', title: 'Leader and replicas' },
    shadow
      ? h('p', null, 'This process runs in shadow mode: it writes nothing and takes no part in the election.')
      : null,
    h(
      'ul',
      { class: 'plain' },
      replicas.map((identity, index) =>
        h(
          'li',
          { key: identity },
          h(Name, { name: identity }),
          h('span', { class: identity === leader ? 'good' : 'muted' }, identity === leader ? 'leader' : 'standby'),
          index === 0 ? h('span', { class: 'muted' }, 'this replica') : null,
        ),
      ),
    ),
    leader === null && !shadow ? h('p', { class: 'bad' }, '▲ No leader is known.') : null,
  );
}

/** What differs between this process in shadow mode and the cluster. */
export function Comparison({ rows }: { readonly rows: NonNullable<Cluster['comparison']> }): JSX.Element {
  return h(
    Panel,
    { id: 'comparison', title: 'Shadow comparison' },
    rows.length === 0
      ? h('p', { class: 'empty' }, 'Nothing to compare yet.')
      : h(
          'dl',
          { class: 'rows' },
          rows.map(({ stage, text }, index) =>
            h('div', { key: index }, h('dt', null, stage), h('dd', { dir: 'auto' }, text)),
          ),
        ),
  );
}
