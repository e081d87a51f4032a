/** Deletes each event when its TTL after the last write is over (upstream `--event-ttl`). */
import { parseTimestamp } from '../../../../machinery/api/timestamps.ts';
import type { Clock } from '../../../../machinery/ports/clock.ts';
import { mapAt } from '../../../../machinery/api/select-field.ts';
import type { Draft } from '../../storage/stored-object.ts';
import type { VersionedStore } from '../../storage/versioned-store.ts';
import { buildStored } from '../../registry/stored-version.ts';
import type { Strategy } from '../strategy.ts';

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
  /** Events in the order of their writes, which is the order of expiry. */
  #due: Due[] = [];
  #head = 0;

  constructor(store: VersionedStore, strategy: Strategy, clock: Clock, ttlMs = eventTtlMs) {
    this.#store = store;
    this.#strategy = strategy;
    this.#clock = clock;
    const table = store.table(strategy.table);
    this.#due = [...table.now().list()].map((stored) => ({
      key: stored.key,
      revision: stored.revision,
      atMs: clock.monotonicMs() + remainingMs(stored.content, clock.nowMs(), ttlMs),
    }));
    this.#due.sort((a, b) => a.atMs - b.atMs);
    table.hub.add({
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
      // If it cannot be deleted now, it is due again.
      this.#expire(next);
      this.#head += 1;
    }
    if (this.#head * 2 > this.#due.length) {
      this.#due = this.#due.slice(this.#head);
      this.#head = 0;
    }
  }

  #expire({ key, revision }: Due): void {
    const stored = this.#store.get(this.#strategy.table, key);
    if (stored?.revision !== revision) return;
    const draft = stored.draft();
    this.#store.remove(this.#strategy.table, (taken) => buildStored(this.#strategy, draft, taken, stored.managers));
  }
}

/** What is left of the TTL of an event that an earlier run of the server wrote. */
function remainingMs(event: Draft, nowMs: number, ttlMs: number): number {
  const times = [
    event.metadata.creationTimestamp,
    event['lastTimestamp'],
    event['eventTime'],
    mapAt(event, 'series')['lastObservedTime'],
  ];
  const writtenAtMs = Math.max(0, ...times.map((time) => parseTimestamp(time) ?? 0));
  return Math.min(ttlMs, Math.max(0, writtenAtMs + ttlMs - nowMs));
}
