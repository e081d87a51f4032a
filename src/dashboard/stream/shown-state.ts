import type { ChangeTally } from '../nodes/build-change-summary.ts';
import type { Problem } from './describe-problem.ts';
import type { DashboardState } from './merge-delta.ts';

export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** `sinceMs` and `retryAtMs`: times of the browser. */
  | { readonly kind: 'reconnecting'; readonly sinceMs: number; readonly retryAtMs: number; readonly problem: Problem };

/** What is shown, and its time. */
export interface ShownState {
  readonly state: DashboardState | undefined;
  readonly connection: Connection;
  /** When the last event arrived, by the clock of the browser; 0: none has. */
  readonly receivedAtMs: number;
  /** Names of all nodes, by zone and name. */
  readonly order: readonly string[];
  /** The time of the server. */
  nowMs(): number;
  /** What changed since the last call. */
  takeChanges(): ChangeTally;
  subscribe(listener: () => void): () => void;
}
