import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ActionPanel } from '../actions/action-panel.ts';
import { EvictionList } from '../cluster/eviction-list.ts';
import { Holds } from '../cluster/holds.ts';
import { Comparison, PolicyTable, Replicas } from '../cluster/policy-table.ts';
import { Timeline } from '../cluster/timeline.ts';
import { ZoneTable } from '../cluster/zone-table.ts';
import { NodePage } from '../node-page/node-page.ts';
import { Nodes } from '../nodes/nodes.ts';
import { buildTally } from '../nodes/select-nodes.ts';
import { describeProblem } from '../stream/describe-problem.ts';
import type { DashboardState } from '../stream/merge-delta.ts';
import { Trends } from '../trends/trends.ts';
import { useDashboard, useNowMs, useRoute, useStore } from './dashboard-context.ts';
import { formatRoute } from './format-route.ts';
import { PageHeader } from './page-header.ts';
import { usePalette } from './theme.ts';
import { Panel } from './panel.ts';
import { describeSituation } from '../cluster/describe-situation.ts';
import { describeChanges } from '../nodes/build-change-summary.ts';

/** Period of the announcements: a screen reader can say no more. */
const summaryPeriodMs = 10_000;

/** The whole page: the overview, or the page of a node. */
export function App(): JSX.Element {
  const { state } = useStore();
  const { node } = useRoute();
  const unready = state === undefined ? 0 : state.nodes.size - buildTally([...state.nodes.values()]).ready;
  useEffect(() => {
    document.title = `${unready === 0 ? '' : `(${unready}) `}${node === null ? '' : `${node} – `}Node lifecycle`;
  }, [unready, node]);
  return h(
    'div',
    { class: 'app' },
    h(PageHeader, null),
    node === null ? h(SectionLinks, { state }) : null,
    h(
      'main',
      null,
      h(ConnectionProblem, null),
      node === null ? h(OverviewOrWait, null) : h(NodePage, { key: node, name: node }),
      h(LiveSummary, null),
    ),
  );
}

function OverviewOrWait(): JSX.Element {
  const { state } = useStore();
  if (state !== undefined) return h(Overview, { state });
  return h('p', { class: 'waiting' }, 'Waiting for the first snapshot …');
}

/** What is wrong with the stream, in words; what is shown meanwhile is old. */
function ConnectionProblem(): JSX.Element | null {
  const { connection, state } = useStore();
  if (connection.kind !== 'reconnecting') return null;
  const old = state === undefined ? '' : ' What is shown here is from the time before.';
  return h(
    'p',
    { class: 'problem', role: 'alert', 'aria-label': 'Connection problem' },
    `${describeProblem(connection.problem)} The page tries again by itself.${old}`,
  );
}

const sections = [
  { id: 'nodes', label: 'Nodes' },
  { id: 'evictions', label: 'Evictions' },
  { id: 'timeline', label: 'Timeline' },
  { id: 'zones', label: 'Zones' },
  { id: 'trends', label: 'Trends' },
  { id: 'policies', label: 'Policies' },
  { id: 'replicas', label: 'Replicas' },
];

function SectionLinks({ state }: { readonly state: DashboardState | undefined }): JSX.Element {
  const route = useRoute();
  const { section } = route;
  // The sections exist from the first snapshot on.
  useEffect(() => showSection(section), [section, state === undefined]);
  const shown = [
    ...sections,
    ...((state?.cluster.comparison ?? null) === null ? [] : [{ id: 'comparison', label: 'Shadow' }]),
    ...((state?.server.actionKinds ?? []).length === 0 ? [] : [{ id: 'actions', label: 'Actions' }]),
  ];
  return h(
    'nav',
    { class: 'sections', 'aria-label': 'Sections' },
    shown.map(({ id, label }) =>
      h('a', { key: id, href: formatRoute({ ...route, section: id }), onClick: () => showSection(id) }, label),
    ),
  );
}

/** Scrolls to a section and moves the focus there. */
function showSection(section: string | null): void {
  const title = section === null ? null : document.getElementById(`${section}-title`);
  title?.scrollIntoView({ block: 'start' });
  title?.focus({ preventScroll: true });
}

function Overview({ state }: { readonly state: DashboardState }): JSX.Element {
  const palette = usePalette();
  const { cluster, server, zones, samples, timeline } = state;
  return h(
    'div',
    { class: 'overview' },
    h('div', { class: 'status' }, h(Situation, { state }), h(Holds, { holds: cluster.holds })),
    server.actionKinds.length === 0 ? null : h(ActionPanel, { state }),
    h(Nodes, { state, palette }),
    h(EvictionList, { cluster }),
    h(Timeline, { lines: timeline }),
    h(ZoneTable, { zones }),
    h(Trends, { samples, everySeconds: server.samplesEverySeconds, palette }),
    h(PolicyTable, { policies: cluster.policies }),
    h(Replicas, { cluster }),
    cluster.comparison === null ? null : h(Comparison, { rows: cluster.comparison }),
  );
}

/** The state of the cluster in a few sentences. */
function Situation({ state }: { readonly state: DashboardState }): JSX.Element {
  const nowMs = useNowMs();
  const [first = '', ...others] = describeSituation(state, nowMs);
  return h(
    Panel,
    { id: 'situation', title: 'Situation', className: 'situation' },
    h('p', { class: 'lead' }, first),
    others.map((sentence, index) => h('p', { key: index }, sentence)),
  );
}

/** Announces what changed, at most one sentence per period. */
function LiveSummary(): JSX.Element {
  const { store } = useDashboard();
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setInterval(() => setText(describeChanges(store.takeChanges())), summaryPeriodMs);
    return () => clearInterval(timer);
  }, [store]);
  return h('p', { class: 'hidden-text', role: 'status', 'aria-label': 'Changes' }, text);
}
