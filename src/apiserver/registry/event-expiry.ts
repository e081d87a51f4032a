/** Deletes each event when its TTL after the last write is over (upstream `--event-ttl`). */
import type { Clock } from '../../ports/clock.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { buildStored } from './object-registry.ts';
import type { Strategy } from './strategy.ts';

/** Default of kube-apiserver. */
const eventTtlMs = 3_600_000;

interface Due {
  readonly key: string;
  readonly revision: number;
  readonly atMs: number;
}

export class EventExpiry {
  readonly #store: VersionedStore;
  readonly #strategy: Strategy;
  readonly #clock: Clock;
  /** In the order of the writes, which is the order of expiry. */
  #due: Due[] = [];
  #head = 0;

  constructor(store: VersionedStore, strategy: Strategy, clock: Clock, ttlMs = eventTtlMs) {
    this.#store = store;
    this.#strategy = strategy;
    this.#clock = clock;
    store.table(strategy.plural).hub.add({
      bucket: '',
      deliver: ({ kind, object, revision }) => {
        if (kind !== 'deleted') this.#due.push({ key: object.key, revision, atMs: clock.monotonicMs() + ttlMs });
      },
    });
  }

  /** Removes expired events as ordinary deletions; an event written again in the meantime stays. */
  sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    for (;;) {
      const next = this.#due[this.#head];
      if (next === undefined || next.atMs > nowMs) break;
      this.#head += 1;
      this.#expire(next);
    }
    if (this.#head * 2 > this.#due.length) {
      this.#due = this.#due.slice(this.#head);
      this.#head = 0;
    }
  }

  #expire({ key, revision }: Due): void {
    const stored = this.#store.get(this.#strategy.plural, key);
    if (stored?.revision !== revision) return;
    const draft = stored.draft();
    this.#store.remove(this.#strategy.plural, (taken) => buildStored(this.#strategy, draft, taken));
  }
}
