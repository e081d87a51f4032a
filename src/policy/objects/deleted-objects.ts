// Objects that were deleted a moment ago and stay in force: `kubectl replace --force` deletes an object and creates it again, and
// what its policy holds must not be done between the two.
import type { PolicyObject } from '../../machinery/api/node-lifecycle-policy.ts';
import type { StoreReader } from '../../machinery/informer/informer.ts';
import type { Clock } from '../../machinery/ports/clock.ts';

/** How long a deleted object stays in force, unless an object of its name exists again. */
export const deletionGraceMs = 500;

export class DeletedObjects {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Monotonic time since which each object is missing, by name. */
  readonly #sinceMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** The object of this name was deleted. Only the time is from the event: {@link select} finds deletions by itself. */
  note(name: string): void {
    if (!this.#sinceMs.has(name)) this.#sinceMs.set(name, this.#clock.monotonicMs());
  }

  /** An object of this name exists again: a later deletion has a time of its own. */
  forget(name: string): void {
    this.#sinceMs.delete(name);
  }

  /** Selects known objects that were deleted and stay in force. */
  select(known: Iterable<PolicyObject>, store: Pick<StoreReader<PolicyObject>, 'get'>): readonly PolicyObject[] {
    const missing = [...known].filter(({ name }) => store.get(name) === undefined);
    for (const { name } of missing) this.note(name);
    const kept = missing.filter(({ name }) => this.#remainingMs(name) > 0);
    const names = new Set(kept.map(({ name }) => name));
    for (const name of this.#sinceMs.keys()) if (!names.has(name)) this.#sinceMs.delete(name);
    return kept;
  }

  /** Milliseconds until {@link select} has another result; Infinity: nothing was deleted. */
  dueInMs(): number {
    return Math.max(0, Math.min(Infinity, ...[...this.#sinceMs.keys()].map((name) => this.#remainingMs(name))));
  }

  #remainingMs(name: string): number {
    return (this.#sinceMs.get(name) ?? -Infinity) + deletionGraceMs - this.#clock.monotonicMs();
  }
}
