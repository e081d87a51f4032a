import { h, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../page/copy-button.ts';
import { useRoute, useStore } from '../page/dashboard-context.ts';
import { formatCounted } from '../page/format-number.ts';
import { formatRoute } from '../page/format-route.ts';
import { Name, StateChip } from '../page/node-link.ts';
import { Panel } from '../page/panel.ts';
import { Age, TimeText } from '../page/time-text.ts';
import type { NodeCell } from '../protocol.ts';
import { Countdowns } from './countdown-picture.ts';
import type { NodeOutlook } from '../../controller/report/pages.ts';
import { fetchNode } from '../page/server-client.ts';
import { parseExplanation } from './parse-explanation.ts';

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

interface NodeState {
  readonly outlook: NodeOutlook | null;
  readonly explanation: ReturnType<typeof parseExplanation> | null;
  /** The JSON as the server sent it. */
  readonly json: string;
  /** Why the last request failed. */
  readonly problem: string | null;
}

const refreshMs = 2_000;
const nothing: NodeState = { outlook: null, explanation: null, json: '', problem: null };

/** The page of a node, read again every two seconds while it is visible. */
function useNode(name: string): NodeState {
  const [node, setNode] = useState(nothing);
  useEffect(() => {
    let isShown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setNode(nothing);
    const refresh = async (): Promise<void> => {
      if (document.visibilityState === 'visible') {
        const change = await readNode(name);
        if (isShown) setNode((old) => ({ ...old, ...change }));
      }
      if (isShown) timer = setTimeout(() => void refresh(), refreshMs);
    };
    void refresh();
    return () => {
      isShown = false;
      clearTimeout(timer);
    };
  }, [name]);
  return node;
}

/** Reads the page of a node. After a failure, what was read before stays. */
async function readNode(name: string): Promise<Partial<NodeState>> {
  try {
    const { json, text } = await fetchNode(name);
    return { outlook: JSON.parse(json), explanation: parseExplanation(text), json, problem: null };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
