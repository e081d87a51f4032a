import { Fragment, h, type JSX } from 'preact';
import { Dropdown, Search } from '../page/choice.ts';
import { useDashboard, useRoute } from '../page/dashboard-context.ts';
import type { NodeFilter } from '../page/parse-route.ts';
import type { Palette } from '../page/theme.ts';
import type { NodeCell } from '../protocol.ts';
import { isFiltering, selectPolicies, selectZones } from './select-nodes.ts';
import { StateLegend } from './state-legend.ts';

interface NodeFiltersProps {
  readonly nodes: ReadonlyMap<string, NodeCell>;
  /** The nodes that zone, policy and name select. */
  readonly placed: readonly NodeCell[];
  readonly palette: Palette;
}

/** Stands for no filter: a policy may have the empty name, which means none. */
const all = '\u0000';

export function NodeFilters({ nodes, placed, palette }: NodeFiltersProps): JSX.Element {
  return h(
    'div',
    { role: 'search', 'aria-label': 'Filter nodes' },
    h('div', { class: 'filters' }, h(Fields, { nodes })),
    h(StateLegend, { nodes: placed, palette }),
  );
}

function Fields({ nodes }: Pick<NodeFiltersProps, 'nodes'>): JSX.Element {
  const { navigation } = useDashboard();
  const { filter } = useRoute();
  const set = (change: Partial<NodeFilter>): void => navigation.replace({ filter: { ...filter, ...change }, page: 1 });
  const clear = (): void => set({ zone: null, policy: null, states: [], name: '' });
  return h(
    Fragment,
    null,
    h(Dropdown, {
      label: 'Zone',
      options: buildOptions('All zones', selectZones(nodes), filter.zone),
      value: filter.zone ?? all,
      onChoose: (zone) => set({ zone: zone === all ? null : zone }),
    }),
    h(Dropdown, {
      label: 'Policy',
      options: buildOptions('All policies', selectPolicies(nodes), filter.policy),
      value: filter.policy ?? all,
      onChoose: (policy) => set({ policy: policy === all ? null : policy }),
    }),
    h(Search, { label: 'Name', value: filter.name, onInput: (name) => set({ name }) }),
    h('button', { type: 'button', disabled: !isFiltering(filter), onClick: clear }, 'Clear filter'),
  );
}

/** `chosen`: offered even if no node has it any more, so that a link keeps its meaning. */
function buildOptions(allLabel: string, names: readonly string[], chosen: string | null) {
  const offered = chosen === null || names.includes(chosen) ? names : [...names, chosen];
  return [
    { value: all, label: allLabel },
    ...offered.map((name) => ({ value: name, label: name === '' ? 'none' : name })),
  ];
}
