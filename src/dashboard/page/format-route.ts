import type { Route } from './parse-route.ts';

/** The hash of a route, which `parseRoute` reads. Defaults are left out, so that links stay short. */
export function formatRoute(route: Route): string {
  const { node, filter, timeline, view, sort, descending, page, theme, section } = route;
  const query = new URLSearchParams();
  const set = (name: string, value: string | null, isDefault: boolean): void => {
    if (value !== null && !isDefault) query.set(name, value);
  };
  set('zone', filter.zone, false);
  set('policy', filter.policy, false);
  set('state', filter.states.join(','), filter.states.length === 0);
  set('name', filter.name, filter.name === '');
  set('view', view, view === 'grid');
  set('sort', sort, sort === 'name');
  set('desc', '1', !descending);
  set('page', String(page), page === 1);
  set('tkind', timeline.kind, false);
  set('ttext', timeline.text, timeline.text === '');
  set('twarn', '1', !timeline.warnings);
  set('theme', theme, theme === 'auto');
  set('section', section, false);
  const path = node === null ? '/' : `/nodes/${encodeURIComponent(node)}`;
  const text = query.toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}
