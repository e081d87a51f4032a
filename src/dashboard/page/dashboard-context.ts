import { createContext } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';
import type { DashboardStore } from '../stream/store.ts';
import type { Navigation } from './navigation.ts';
import type { Route } from './parse-route.ts';
import type { Ticker } from './ticker.ts';

/** What the whole page shares. */
interface Dashboard {
  readonly store: DashboardStore;
  readonly navigation: Navigation;
  readonly ticker: Ticker;
}

export const DashboardContext = createContext<Dashboard | undefined>(undefined);

export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext);
  if (dashboard === undefined) throw new Error('rendered outside of the page');
  return dashboard;
}

interface Subscribable {
  subscribe(listener: () => void): () => void;
}

/** Renders again whenever the subject changes. */
function useSubscription(subject: Subscribable): void {
  const [, setCount] = useState(0);
  // Within the task that renders: what is reported between them would be lost.
  useLayoutEffect(() => subject.subscribe(() => setCount((count) => count + 1)), [subject]);
}

export function useStore(): DashboardStore {
  const { store } = useDashboard();
  useSubscription(store);
  return store;
}

export function useRoute(): Route {
  const { navigation } = useDashboard();
  useSubscription(navigation);
  return navigation.current;
}

/** The time of the server; renders again every second. */
export function useNowMs(): number {
  const { store, ticker } = useDashboard();
  useSubscription(ticker);
  return store.nowMs();
}
