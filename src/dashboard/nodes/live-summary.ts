import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useDashboard } from '../page/dashboard-context.ts';
import { describeChanges } from './build-change-summary.ts';

/** A screen reader can say no more. */
const periodMs = 10_000;

/** Announces what changed, at most one sentence per period. */
export function LiveSummary(): JSX.Element {
  const { store } = useDashboard();
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setInterval(() => setText(describeChanges(store.takeChanges())), periodMs);
    return () => clearInterval(timer);
  }, [store]);
  return h('p', { class: 'hidden-text', role: 'status', 'aria-label': 'Changes' }, text);
}
