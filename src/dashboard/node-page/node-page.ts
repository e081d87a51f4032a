import { h, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../page/copy-button.ts';
import { useRoute, useStore } from '../page/dashboard-context.ts';
import { formatCounted } from '../page/format-number.ts';
import { formatRoute } from '../page/format-route.ts';
import { Name, StateChip } from '../page/node-link.ts';
import { Panel } from '../page/panel.ts';
import { Age, TimeText } from '../page/time-text.ts';
import type { NodeCell } from '../protocol.ts';
import { Countdowns } from './countdown-picture.ts';
import type { NodeOutlook } from './node-outlook.ts';
import { type NodeState, useNode } from './use-node.ts';

/** Everything that is known about one node, and what happens to it next. */
export function NodePage({ name }: { readonly name: string }): JSX.Element {
  const { state } = useStore();
  const route = useRoute();
  const node = useNode(name);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), [name]);
  return h(
    'div',
    { class: 'node-page' },
    h(
      'div',
      { class: 'node-head' },
      h('p', null, h('a', { href: formatRoute({ ...route, node: null, section: 'nodes' }) }, '← All nodes')),
      h('h2', { ref: title, tabIndex: -1 }, h(Name, { name })),
      h(CellFacts, { cell: state?.nodes.get(name) }),
      node.json === '' ? null : h(CopyButton, { text: () => node.json }),
    ),
    node.problem === null ? null : h('p', { class: 'problem', role: 'alert' }, node.problem),
    h(Parts, { node }),
  );
}

function CellFacts({ cell }: { readonly cell: NodeCell | undefined }): JSX.Element {
  if (cell === undefined) return h('p', { class: 'muted' }, '');
  const { state, since, zone, policy, held } = cell;
  return h(
    'p',
    { class: 'node-facts' },
    h('span', null, h(StateChip, { state }), ' since ', h(TimeText, { at: since }), ' (', h(Age, { at: since }), ')'),
    h('span', null, 'zone ', h(Name, { name: zone })),
    policy === null ? null : h('span', null, 'policy ', h(Name, { name: policy })),
    held === null ? null : h('span', { class: 'held' }, `▲ held: ${held}`),
  );
}

function Parts({ node: { outlook, explanation, problem } }: { readonly node: NodeState }): JSX.Element | null {
  if (outlook === null || explanation === null)
    return problem === null ? h('p', { class: 'empty' }, 'Reading the node …') : null;
  const { scheduled, predicted, first } = outlook.evictions;
  const hidden = scheduled + predicted - first.length;
  const note = `${formatCounted(scheduled, 'eviction')} scheduled, ${predicted} predicted${hidden > 0 ? `; the first ${first.length} are read` : ''}`;
  return h(
    'div',
    { class: 'node-parts' },
    h(Panel, { id: 'countdowns', title: 'Countdowns', note }, h(Countdowns, { outlook })),
    h(
      Panel,
      { id: 'explanation', title: 'Explanation' },
      h('p', { class: 'lead', dir: 'auto' }, explanation.title),
      h(Rows, { rows: explanation.rows }),
    ),
    h(Panel, { id: 'history', title: 'History' }, h(History, { history: outlook.history })),
  );
}

function Rows({ rows }: { readonly rows: NonNullable<NodeState['explanation']>['rows'] }): JSX.Element {
  return h(
    'dl',
    { class: 'rows' },
    rows
      .filter(({ label }) => label !== 'history')
      .map(({ label, text, details }, index) =>
        h(
          'div',
          { key: index, class: label === 'held' ? 'held' : '' },
          h('dt', null, label),
          h(
            'dd',
            { dir: 'auto' },
            text,
            details.map((detail, line) => h('span', { key: line, class: 'detail' }, detail)),
          ),
        ),
      ),
  );
}

function History({ history }: Pick<NodeOutlook, 'history'>): JSX.Element {
  if (history.length === 0) return h('p', { class: 'empty' }, 'No decision about this node is kept.');
  return h(
    'ol',
    { class: 'history' },
    history.map(({ at, text }, index) =>
      h('li', { key: index }, h(TimeText, { at }), h('span', { dir: 'auto' }, text)),
    ),
  );
}
