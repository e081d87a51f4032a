import type { Delta, NodeCell, Snapshot } from '../protocol.ts';

/** A snapshot without its nodes, which are sent in pieces. */
export type SnapshotHead = Omit<Snapshot, 'nodes'>;

/** What a dashboard shows, of a controller or of another process. */
export interface DashboardSource {
  /**
   * Number of the state that is shown. After a change of it every client gets a snapshot, because everything may be
   * different.
   */
  readonly generation: number;
  /** Increases with each change. */
  readonly version: number;
  /** Whether a snapshot can be taken: not while the first one is being computed. */
  readonly isComplete: boolean;
  /**
   * While there is a watcher the state is kept up to date, and each watcher is called about once a second, whether anything
   * changed or not. Returns the function that ends it. A watcher must not throw.
   */
  watch(onTick: () => void): () => void;
  /** The snapshot without its nodes. To be called only if {@link isComplete}. */
  head(): SnapshotHead;
  /** The names of all nodes. */
  names(): readonly string[];
  /** The state of this node; undefined if it does not exist any more. */
  node(name: string): NodeCell | undefined;
  /** What changed since this version, without limit of time; undefined: too much or too long ago, so that a snapshot is sent instead. */
  changes(since: number): Delta | undefined;
}
