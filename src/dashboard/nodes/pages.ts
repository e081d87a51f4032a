import { h, type JSX } from 'preact';
import { useDashboard } from '../page/dashboard-context.ts';
import { formatCount } from '../page/format-number.ts';

interface PagesProps {
  readonly label: string;
  /** What the buttons move to, after `Previous` and `Next`. */
  readonly what: string;
  readonly page: number;
  readonly pages: number;
  readonly range: string;
}

/** Buttons that move between the pages of nodes, and what is shown of them. */
export function Pages({ label, what, page, pages, range }: PagesProps): JSX.Element {
  const { navigation } = useDashboard();
  const go = (to: number): void => navigation.replace({ page: to });
  return h(
    'nav',
    { class: 'pages', 'aria-label': label },
    h('button', { type: 'button', disabled: page <= 1, onClick: () => go(page - 1) }, `Previous ${what}`),
    h('button', { type: 'button', disabled: page >= pages, onClick: () => go(page + 1) }, `Next ${what}`),
    h('span', { class: 'muted' }, range),
  );
}

/** `101 to 200 of 4,812`; `first`: the index of the first one. */
export function formatRange(first: number, shown: number, all: number): string {
  return `${formatCount(first + 1)} to ${formatCount(first + shown)} of ${formatCount(all)}`;
}
