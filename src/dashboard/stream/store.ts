import { buildChangeTally, type ChangeTally } from '../nodes/build-change-summary.ts';
import { selectOrder } from '../nodes/select-nodes.ts';
import type { Delta, Snapshot } from '../protocol.ts';
import type { Problem } from './describe-problem.ts';
import { buildState, type DashboardState, mergeDelta } from './merge-delta.ts';
import type { StreamEvent } from './parse-event-stream.ts';
import { ServerClock } from './server-clock.ts';

export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** `sinceMs` and `retryAtMs`: times of the browser. */
  | { readonly kind: 'reconnecting'; readonly sinceMs: number; readonly retryAtMs: number; readonly problem: Problem };

/** The state that the event stream describes, and the state of the stream. */
export class DashboardStore {
  state: DashboardState | undefined;
  connection: Connection = { kind: 'connecting' };
  /** When the last event arrived, by the clock of the browser; 0: none has. */
  receivedAtMs = 0;
  /** Names of all nodes, by zone and name. */
  order: readonly string[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #clock = new ServerClock();
  #changes: ChangeTally = {};

  /** The server answers. `date`: the header of its answer. */
  opened(date: string | null): void {
    this.#clock.restart();
    this.#clock.observe(date);
  }

  received({ event, data }: StreamEvent): void {
    const membership = this.state?.membership;
    if (event === 'snapshot') this.#adopt(JSON.parse(data));
    else if (event === 'delta' && this.state !== undefined) this.#merge(this.state, JSON.parse(data));
    else return;
    if (this.state !== undefined && this.state.membership !== membership) this.order = selectOrder(this.state.nodes);
    this.receivedAtMs = Date.now();
    this.connection = { kind: 'live' };
    this.notify();
  }

  /** The stream ended; the next attempt is in `retryMs`. */
  lost(problem: Problem, retryMs: number): void {
    const nowMs = Date.now();
    const sinceMs = this.connection.kind === 'reconnecting' ? this.connection.sinceMs : nowMs;
    this.connection = { kind: 'reconnecting', sinceMs, retryAtMs: nowMs + retryMs, problem };
    this.notify();
  }

  /** The time of the server. */
  nowMs(): number {
    return this.#clock.nowMs();
  }

  /** What changed since the last call. */
  takeChanges(): ChangeTally {
    const changes = this.#changes;
    this.#changes = {};
    return changes;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #adopt(snapshot: Snapshot): void {
    const before = this.state;
    this.state = buildState(snapshot, before);
    // The first snapshot is no change.
    if (before !== undefined) {
      const removedNodes = [...before.nodes.keys()].filter((name) => this.state?.nodes.has(name) === false);
      this.#changes = buildChangeTally(this.#changes, before.nodes, { nodes: snapshot.nodes, removedNodes });
    }
    this.#clock.observe(snapshot.cluster.at);
  }

  #merge(before: DashboardState, delta: Delta): void {
    this.#changes = buildChangeTally(this.#changes, before.nodes, delta);
    this.state = mergeDelta(before, delta);
    this.#clock.observe(delta.cluster?.at);
    this.#clock.observe(delta.sample?.at);
  }

  protected notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
