import { h, type JSX } from 'preact';
import { describeState } from '../describe-state.ts';
import type { NodeState } from '../protocol.ts';
import { useRoute } from './dashboard-context.ts';
import { formatRoute } from './format-route.ts';

/** A name from the API: isolated, because it may have letters of any direction. */
export function Name({ name }: { readonly name: string }): JSX.Element {
  return h('bdi', { class: 'name', dir: 'auto', title: name }, name === '' ? 'none' : name);
}

/** A link to the page of a node, which keeps filters and theme. */
export function NodeLink({ name }: { readonly name: string }): JSX.Element {
  const route = useRoute();
  return h('a', { class: 'node-link', href: formatRoute({ ...route, node: name, section: null }) }, h(Name, { name }));
}

/** The state of a node: its color, its letter, its name. */
export function StateChip({ state }: { readonly state: NodeState }): JSX.Element {
  const { label, letter, meaning } = describeState(state);
  return h(
    'span',
    { class: 'state', title: meaning },
    h('span', { class: `state-letter state-${state}`, 'aria-hidden': 'true' }, letter),
    label,
  );
}
