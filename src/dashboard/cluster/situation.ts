import { h, type JSX } from 'preact';
import { useNowMs } from '../page/dashboard-context.ts';
import { Panel } from '../page/panel.ts';
import type { DashboardState } from '../stream/merge-delta.ts';
import { describeSituation } from './describe-situation.ts';

/** The state of the cluster in a few sentences. */
export function Situation({ state }: { readonly state: DashboardState }): JSX.Element {
  const nowMs = useNowMs();
  const [first = '', ...others] = describeSituation(state, nowMs);
  return h(
    Panel,
    { id: 'situation', title: 'Situation', className: 'situation' },
    h('p', { class: 'lead' }, first),
    others.map((sentence, index) => h('p', { key: index }, sentence)),
  );
}
