import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { selectPlaced, selectStates, selectZones } from '../nodes/select-nodes.ts';
import { Dropdown } from '../page/choice.ts';
import { useDashboard, useRoute } from '../page/dashboard-context.ts';
import { formatCounted } from '../page/format-number.ts';
import { Panel } from '../page/panel.ts';
import { postAction } from '../page/server-client.ts';
import type { DashboardState } from '../stream/merge-delta.ts';
import { type Action, buildCut, cutNamesMax, type CutTarget, formatTarget, parseTarget } from './build-action.ts';

interface Result {
  readonly text: string;
  readonly isError: boolean;
}

/** Faults to inject into a simulated cluster. Each can be undone, so none asks for a confirmation. */
export function ActionPanel({ state }: { readonly state: DashboardState }): JSX.Element {
  const [result, setResult] = useState<Result>({ text: '', isError: false });
  const kinds = state.server.actionKinds;
  const act = async (action: Action): Promise<void> => {
    setResult({ text: 'Sent …', isError: false });
    try {
      setResult({ text: await postAction(action), isError: false });
    } catch (error) {
      setResult({ text: error instanceof Error ? error.message : String(error), isError: true });
    }
  };
  const button = (label: string, action: Action): JSX.Element | null =>
    kinds.includes(action.kind) ? h('button', { type: 'button', onClick: () => void act(action) }, label) : null;
  return h(
    Panel,
    { id: 'actions', title: 'Actions', note: 'this cluster is simulated', className: 'actions' },
    h(
      'div',
      { class: 'buttons' },
      kinds.includes('cut') ? h(Cut, { state, act }) : null,
      button('Stall the API server for 20 s', { kind: 'stall-api', seconds: 20 }),
      button('Stop the leader', { kind: 'stop-leader' }),
      button('Undo all', { kind: 'undo' }),
    ),
    h(
      'p',
      { class: result.isError ? 'result bad' : 'result', role: 'status', 'aria-label': 'Result of the action' },
      result.text,
    ),
  );
}

interface CutProps {
  readonly state: DashboardState;
  readonly act: (action: Action) => Promise<void>;
}

const shares = [
  { value: '1', label: 'all of them' },
  { value: '0.5', label: '50 %' },
  { value: '0.25', label: '25 %' },
  { value: '0.1', label: '10 %' },
];
const durations = [
  { value: '60', label: 'for 1 minute' },
  { value: '120', label: 'for 2 minutes' },
  { value: '600', label: 'for 10 minutes' },
  { value: '', label: 'until undone' },
];

function Cut({ state: { nodes }, act }: CutProps): JSX.Element {
  const { store } = useDashboard();
  const { filter } = useRoute();
  const [target, setTarget] = useState<CutTarget>({ kind: 'filter' });
  const [share, setShare] = useState('1');
  const [seconds, setSeconds] = useState('120');
  const selected = selectStates(selectPlaced(nodes, store.order, filter), filter.states).map(({ name }) => name);
  const targets = [
    {
      value: 'filter',
      label: `the filter: ${formatCounted(Math.min(selected.length, selected.length === nodes.size ? selected.length : cutNamesMax), 'node')}`,
    },
    { value: 'all', label: 'all nodes' },
    ...selectZones(nodes).map((zone) => ({ value: formatTarget({ kind: 'zone', zone }), label: `zone ${zone}` })),
  ];
  const cut = (): void => {
    const request = { target, share: Number(share), seconds: seconds === '' ? null : Number(seconds) };
    void act(buildCut(request, filter, selected));
  };
  return h(
    'div',
    { class: 'filters', role: 'group', 'aria-label': 'Cut the network of nodes' },
    h(Dropdown, {
      label: 'Nodes',
      options: targets,
      value: formatTarget(target),
      onChoose: (text) => setTarget(parseTarget(text)),
    }),
    h(Dropdown, { label: 'Share', options: shares, value: share, onChoose: setShare }),
    h(Dropdown, { label: 'Duration', options: durations, value: seconds, onChoose: setSeconds }),
    h('button', { type: 'button', onClick: cut }, 'Cut'),
  );
}
