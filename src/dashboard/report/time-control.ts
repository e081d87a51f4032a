import { h, type JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { fieldValue } from '../page/choice.ts';
import { formatDuration } from '../page/format-time.ts';
import { Panel } from '../page/panel.ts';
import { describeMoment, selectEventTimes } from './build-moment.ts';
import type { ReportStore } from './report-store.ts';

/** A run is played within this time, whatever its length. */
const playSeconds = 60;
const framesPerSecond = 10;

/** Selects the moment that is shown. */
export function TimeControl({ store }: { readonly store: ReportStore }): JSX.Element {
  const { report, run, atMs, moment } = store;
  const [isPlaying, setPlaying] = useState(false);
  const times = useMemo(() => selectEventTimes(run), [run]);
  const stepMs = report.durationMs / playSeconds / framesPerSecond;
  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = setInterval(() => {
      store.moveTo(store.atMs + stepMs);
      if (store.atMs >= report.durationMs) setPlaying(false);
    }, 1_000 / framesPerSecond);
    return () => clearInterval(timer);
  }, [isPlaying]);
  const move = (to: number | undefined): void => {
    setPlaying(false);
    if (to !== undefined) store.moveTo(to);
  };
  const play = (): void => {
    if (!isPlaying && atMs >= report.durationMs) store.moveTo(0);
    setPlaying(!isPlaying);
  };
  const button = (label: string, onClick: () => void, disabled = false): JSX.Element =>
    h('button', { type: 'button', disabled, onClick }, label);
  return h(
    Panel,
    {
      id: 'time',
      title: `${formatDuration(atMs / 1_000)} of ${formatDuration(report.durationMs / 1_000)}`,
      note: describeMoment(moment),
      className: 'time-control',
    },
    h('input', {
      type: 'range',
      'aria-label': 'Time since the start of the scenario',
      'aria-valuetext': `${formatDuration(atMs / 1_000)}. ${describeMoment(moment)}`,
      min: 0,
      max: report.durationMs,
      step: 1_000,
      value: atMs,
      onInput: (event: Event) => move(Number(fieldValue(event))),
    }),
    h(
      'div',
      { class: 'time-buttons' },
      button('Start', () => move(0), atMs === 0),
      button('Previous event', () => move(times.findLast((time) => time < atMs)), atMs === 0),
      button(isPlaying ? 'Pause' : 'Play', play),
      button(
        'Next event',
        () => move(times.find((time) => time > atMs) ?? report.durationMs),
        atMs >= report.durationMs,
      ),
      button('End', () => move(report.durationMs), atMs >= report.durationMs),
    ),
  );
}
