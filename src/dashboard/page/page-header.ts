import { h, type JSX } from 'preact';
import type { Cluster, ServerInfo } from '../protocol.ts';
import type { Connection } from '../stream/store.ts';
import { Segments } from './choice.ts';
import { useDashboard, useRoute, useStore } from './dashboard-context.ts';
import { formatClock, formatOffset } from './format-time.ts';
import type { Theme } from './parse-route.ts';
import { TimeText } from './time-text.ts';

const kinds: Readonly<Record<ServerInfo['kind'], string>> = {
  controller: 'controller',
  demo: 'demo',
  'hollow-nodes': 'hollow nodes',
};

/** What the page is about, and whether it is up to date. */
export function PageHeader(): JSX.Element {
  const { state, connection } = useStore();
  return h(
    'header',
    { class: 'page-header' },
    h('h1', null, 'Node lifecycle'),
    h('div', { class: 'facts' }, state === undefined ? null : h(ServerFacts, state)),
    h(ConnectionState, { connection }),
    h(ThemeSwitch, null),
  );
}

function ServerFacts({ server, cluster }: { readonly server: ServerInfo; readonly cluster: Cluster }): JSX.Element {
  return h(
    'dl',
    { class: 'fact-list' },
    h(Fact, { term: 'Role', text: describeRole(cluster), mark: cluster.leading ? 'good' : 'quiet' }),
    h(Fact, { term: 'Mode', text: cluster.mode }),
    h(Fact, { term: 'Replica', text: server.identity }),
    h(Fact, { term: 'Version', text: `${server.version} (${kinds[server.kind]})` }),
  );
}

function describeRole({ shadow, leading }: Cluster): string {
  if (shadow) return 'Shadow';
  return leading ? 'Leader' : 'Standby';
}

interface FactProps {
  readonly term: string;
  readonly text: string;
  readonly mark?: 'good' | 'quiet';
}

function Fact({ term, text, mark }: FactProps): JSX.Element {
  return h(
    'div',
    { class: 'fact' },
    h('dt', null, term),
    h('dd', { class: mark ?? '' }, h('bdi', { dir: 'auto', title: text }, text)),
  );
}

function ConnectionState({ connection }: { readonly connection: Connection }): JSX.Element {
  const { receivedAtMs } = useStore();
  const offset = formatOffset(new Date().getTimezoneOffset());
  return h(
    'div',
    { class: 'connection' },
    h(
      'span',
      { class: `connection-state ${connection.kind}`, role: 'status', 'aria-label': 'Connection' },
      describe(connection),
    ),
    h(
      'span',
      { class: 'muted', title: 'Times are those of the time zone of this browser; UTC on hover' },
      receivedAtMs === 0 ? '' : ['updated ', h(TimeText, { at: new Date(receivedAtMs).toISOString() }), ` (${offset})`],
    ),
  );
}

function describe(connection: Connection): string {
  if (connection.kind === 'connecting') return 'Connecting';
  if (connection.kind === 'live') return 'Live';
  const since = new Date(connection.sinceMs).toISOString();
  return `Reconnecting since ${formatClock(since, Date.now())}`;
}

const themes: readonly { readonly value: Theme; readonly label: string }[] = [
  { value: 'auto', label: 'Auto' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

function ThemeSwitch(): JSX.Element {
  const { navigation } = useDashboard();
  const { theme } = useRoute();
  const choose = (value: string): void =>
    navigation.replace({ theme: themes.find((option) => option.value === value)?.value ?? 'auto' });
  return h(Segments, { label: 'Theme', options: themes, value: theme, onChoose: choose });
}
