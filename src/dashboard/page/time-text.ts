import { h, type JSX } from 'preact';
import { useNowMs } from './dashboard-context.ts';
import { formatClock, formatCountdown, formatDuration, formatUtc } from './format-time.ts';

/** A time of day in the viewer's zone; UTC on hover. */
export function TimeText({ at }: { readonly at: string }): JSX.Element {
  return h('time', { dateTime: at, title: formatUtc(at) }, formatClock(at, Date.now()));
}

/** The time left until `at`, counted down every second. */
export function Countdown({ at }: { readonly at: string }): JSX.Element {
  const nowMs = useNowMs();
  const left = formatCountdown((Date.parse(at) - nowMs) / 1_000);
  return h('span', { class: 'countdown', role: 'timer', title: formatUtc(at) }, left);
}

/** How long ago `at` was. */
export function Age({ at }: { readonly at: string }): JSX.Element {
  const nowMs = useNowMs();
  return h('span', { class: 'number', title: formatUtc(at) }, formatDuration((nowMs - Date.parse(at)) / 1_000));
}
