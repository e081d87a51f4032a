import type { DashboardSource, SnapshotHead } from '../../../dashboard/server/dashboard-source.ts';
import type { Delta, NodeCell, ServerInfo } from '../../../dashboard/protocol.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';

interface FollowingSourceOptions {
  /** The source that is wanted now. */
  readonly choose: () => DashboardSource;
  /** Server as the page shows it, whatever source it follows. */
  readonly server: Pick<ServerInfo, 'kind' | 'actionKinds'>;
  readonly clock: Clock;
}

const checkEveryMs = 500;
/** Greater than any generation of a source. */
const generationsOfSource = 1_000_000;

/**
 * The source of the replica that leads. Another one is followed as soon as it is complete, so that the page stays as it is
 * while a replica starts.
 */
export class FollowingSource implements DashboardSource {
  readonly #options: FollowingSourceOptions;
  readonly #watchers = new Set<() => void>();
  #current: DashboardSource;
  #switches = 0;
  /** Subscriptions to the sources that are kept up to date: the current one, and the next one. */
  readonly #subscriptions = new Map<DashboardSource, () => void>();

  constructor(options: FollowingSourceOptions) {
    this.#options = options;
    this.#current = options.choose();
  }

  get generation(): number {
    return this.#switches * generationsOfSource + this.#current.generation;
  }

  get version(): number {
    return this.#current.version;
  }

  get isComplete(): boolean {
    return this.#current.isComplete;
  }

  watch(onTick: () => void): () => void {
    const watcher = (): void => onTick();
    this.#watchers.add(watcher);
    this.#follow();
    return () => {
      this.#watchers.delete(watcher);
      this.#follow();
    };
  }

  head(): SnapshotHead {
    const head = this.#current.head();
    return { ...head, server: { ...head.server, ...this.#options.server } };
  }

  names(): readonly string[] {
    return this.#current.names();
  }

  node(name: string): NodeCell | undefined {
    return this.#current.node(name);
  }

  changes(since: number): Delta | undefined {
    return this.#current.changes(since);
  }

  /** Follows until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#options.clock.sleep(checkEveryMs, signal);
      this.#follow();
    }
    for (const unsubscribe of this.#subscriptions.values()) unsubscribe();
    this.#subscriptions.clear();
  }

  #follow(): void {
    const wanted = this.#options.choose();
    const isSwitched = wanted !== this.#current && (wanted.isComplete || this.#watchers.size === 0);
    if (isSwitched) {
      this.#current = wanted;
      this.#switches += 1;
    }
    this.#subscribe(this.#watchers.size === 0 ? [] : [this.#current, wanted]);
    if (isSwitched) this.#tick();
  }

  #subscribe(sources: readonly DashboardSource[]): void {
    for (const [source, unsubscribe] of this.#subscriptions) {
      if (sources.includes(source)) continue;
      unsubscribe();
      this.#subscriptions.delete(source);
    }
    for (const source of sources) {
      if (this.#subscriptions.has(source)) continue;
      this.#subscriptions.set(
        source,
        source.watch(() => {
          if (source === this.#current) this.#tick();
        }),
      );
    }
  }

  #tick(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
