import { h, type JSX } from 'preact';
import { formatUtc } from '../page/format-time.ts';
import { Name } from '../page/node-link.ts';
import { useNowMs } from '../page/dashboard-context.ts';
import { buildCountdowns, buildShare, type Countdown, type CountdownPicture, describeEnd } from './build-countdowns.ts';
import type { NodeOutlook } from '../../controller/report/pages.ts';

const podsShownMax = 20;

/** What runs out for the node, on one time axis. The last column has the same as text. */
export function Countdowns({ outlook }: { readonly outlook: NodeOutlook }): JSX.Element {
  const nowMs = useNowMs();
  const picture = buildCountdowns(outlook, nowMs);
  if (picture.countdowns.length === 0) return h('p', { class: 'empty' }, 'Nothing runs out for this node.');
  const isPod = ({ kind }: Countdown): boolean => kind === 'pod';
  const shown = [
    ...picture.countdowns.filter((line) => !isPod(line)),
    ...picture.countdowns.filter(isPod).slice(0, podsShownMax),
  ];
  return h(
    'table',
    // On a narrow screen the styles make blocks of the rows: the roles keep them rows of a table.
    { class: 'countdowns', role: 'table', 'aria-label': 'Countdowns' },
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        h('th', { scope: 'col' }, 'What'),
        h('th', { class: 'axis', 'aria-hidden': 'true' }, h(Axis, { picture })),
        h('th', { scope: 'col' }, 'When'),
      ),
    ),
    h(
      'tbody',
      null,
      shown.map((countdown, index) => h(Line, { key: index, countdown, picture, nowMs })),
    ),
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}

function Axis({ picture }: { readonly picture: CountdownPicture }): JSX.Element {
  return h(
    'div',
    { class: 'ticks' },
    picture.ticks.map(({ atMs, label }) =>
      h(
        'span',
        {
          key: label,
          class: label === 'now' ? 'tick now' : 'tick',
          style: { left: percent(buildShare(picture, atMs)) },
        },
        label,
      ),
    ),
  );
}

interface LineProps {
  readonly countdown: Countdown;
  readonly picture: CountdownPicture;
  readonly nowMs: number;
}

function Line({ countdown: { kind, label, startMs, endMs, note }, picture, nowMs }: LineProps): JSX.Element {
  const left = startMs === null ? 0 : buildShare(picture, startMs);
  const right = endMs === null ? 1 : buildShare(picture, endMs);
  const now = buildShare(picture, nowMs);
  const title = endMs === null ? '' : formatUtc(new Date(endMs).toISOString());
  return h(
    'tr',
    { role: 'row' },
    h(
      'th',
      { scope: 'row', role: 'rowheader' },
      kind === 'pod' ? h(Name, { name: label }) : label,
      h('span', { class: 'note' }, note),
    ),
    h(
      'td',
      { class: 'track', 'aria-hidden': 'true' },
      h(
        'div',
        { class: 'lane' },
        endMs === null
          ? null
          : h('span', {
              class: `bar ${kind}`,
              style: { left: percent(left), width: percent(Math.max(0, right - left)) },
            }),
        endMs === null
          ? null
          : h('span', {
              class: `bar passed ${kind}`,
              style: { left: percent(left), width: percent(Math.max(0, Math.min(now, right) - left)) },
            }),
        endMs === null ? null : h('span', { class: `end ${kind}`, style: { left: percent(right) } }),
        h('span', { class: 'now-line', style: { left: percent(now) } }),
      ),
    ),
    h('td', { class: 'when', role: 'cell', title }, describeEnd(endMs, nowMs)),
  );
}
