import { h, type JSX } from 'preact';
import { Timeline } from '../cluster/timeline.ts';
import { ZoneTable } from '../cluster/zone-table.ts';
import { Nodes } from '../nodes/nodes.ts';
import { Segments } from '../page/choice.ts';
import { useDashboard, useRoute, useStore } from '../page/dashboard-context.ts';
import { formatDuration } from '../page/format-time.ts';
import { Name } from '../page/node-link.ts';
import { Panel, ScrollArea } from '../page/panel.ts';
import { Table } from '../page/table.ts';
import { usePalette } from '../page/theme.ts';
import { describeState } from '../describe-state.ts';
import { buildHistory } from './build-moment.ts';
import type { Report, ReportRun } from './report-data.ts';
import { ReportPlots } from './report-plots.ts';
import type { ReportStore } from './report-store.ts';
import { TimeControl } from './time-control.ts';

/** A simulated scenario: its figures, and its state at the moment that the slider selects. */
export function ReportPage({ store }: { readonly store: ReportStore }): JSX.Element {
  useStore();
  const { node } = useRoute();
  const palette = usePalette();
  const { report, run, atMs, moment } = store;
  return h(
    'div',
    { class: 'app report' },
    h(ReportHeader, { store }),
    h(
      'main',
      null,
      h(
        'div',
        { class: 'report-panels' },
        h(TimeControl, { store }),
        node === null ? null : h(NodeHistory, { run, name: node }),
      ),
      h(
        'div',
        { class: 'overview' },
        h(Nodes, { state: moment, palette }),
        h(ZoneTable, { zones: moment.zones }),
        h(Timeline, { lines: moment.timeline }),
        h(ReportPlots, { run, atMs, palette }),
      ),
      h('div', { class: 'report-panels' }, h(Measures, { report }), h(TextReport, { report })),
    ),
  );
}

function ReportHeader({ store }: { readonly store: ReportStore }): JSX.Element {
  const { report, run } = store;
  const { name, description, seed, version, runs } = report;
  const choose = (label: string): void => {
    const chosen = runs.find((candidate) => candidate.label === label);
    if (chosen !== undefined) store.choose(chosen);
  };
  return h(
    'header',
    { class: 'page-header' },
    h('h1', null, h(Name, { name })),
    description === '' ? null : h('p', { dir: 'auto' }, description),
    h('p', { class: 'muted' }, `Simulated by nlc ${version} with seed ${seed}. Settings: ${run.settings}.`),
    runs.length === 1
      ? null
      : h(Segments, {
          label: 'Run',
          options: runs.map(({ label, settings }) => ({ value: label, label: `${label}: ${settings}` })),
          value: run.label,
          onChoose: choose,
        }),
    run.limits.map((limit) => h('p', { key: limit, class: 'muted' }, limit)),
  );
}

/** The states of one node over the whole run. */
function NodeHistory({ run, name }: { readonly run: ReportRun; readonly name: string }): JSX.Element {
  const { navigation } = useDashboard();
  const spans = buildHistory(run, name);
  const text = (ms: number | undefined): string => (ms === undefined ? 'end' : formatDuration(ms / 1_000));
  return h(
    Panel,
    {
      id: 'node',
      title: `Node ${name}`,
      note: spans.length === 0 ? 'not in this run' : '',
      controls: h('button', { type: 'button', onClick: () => navigation.open({ node: null }) }, 'Close'),
    },
    h(
      Table,
      { label: `States of node ${name}`, heads: ['From', 'To', 'State'] },
      spans.map(({ state, fromMs, untilMs }) =>
        h(
          'tr',
          { key: fromMs },
          h('td', { class: 'number' }, text(fromMs)),
          h('td', { class: 'number' }, text(untilMs)),
          h('td', null, state === 'gone' ? 'Deleted' : describeState(state).label),
        ),
      ),
    ),
  );
}

function Measures({ report }: { readonly report: Report }): JSX.Element {
  const { measures, runs } = report;
  const heads = runs.length === 1 ? ['Figure', 'Value'] : ['Figure', ...runs.map(({ label }) => label)];
  return h(
    Panel,
    { id: 'figures', title: 'Figures', note: 'of the whole run' },
    h(
      ScrollArea,
      { label: 'Table of figures' },
      h(
        Table,
        { label: 'Figures', heads },
        measures.map(({ name, values }) =>
          h(
            'tr',
            { key: name },
            h('th', { scope: 'row' }, name),
            values.map((value, index) => h('td', { key: index, class: 'number' }, value)),
          ),
        ),
      ),
    ),
  );
}

function TextReport({ report }: { readonly report: Report }): JSX.Element {
  return h(
    Panel,
    { id: 'text', title: 'Report as text' },
    h(ScrollArea, { label: 'Report as text' }, h('pre', null, report.text)),
  );
}
