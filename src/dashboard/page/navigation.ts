// The route in the address of the page.
import { formatRoute } from './format-route.ts';
import { parseRoute, type Route } from './parse-route.ts';

export class Navigation {
  current: Route = parseRoute(location.hash);
  readonly #listeners = new Set<() => void>();

  constructor() {
    addEventListener('hashchange', () => this.#adopt());
    addEventListener('popstate', () => this.#adopt());
  }

  /** Changes the address without an entry in the history: for filters, which change with every key. */
  replace(change: Partial<Route>): void {
    history.replaceState(null, '', formatRoute({ ...this.current, ...change }));
    this.#adopt();
  }

  /** Goes to another view: the browser can go back. */
  open(change: Partial<Route>): void {
    history.pushState(null, '', formatRoute({ ...this.current, ...change }));
    this.#adopt();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #adopt(): void {
    if (formatRoute(this.current) === formatRoute(parseRoute(location.hash))) return;
    this.current = parseRoute(location.hash);
    for (const listener of this.#listeners) listener();
  }
}
