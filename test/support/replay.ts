import type { Change, StoreReader } from '../../src/informer/informer.ts';

export interface Named {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * A listener that knows nothing but what it is told, and notes everything that nobody may be told: news of what is known,
 * an update of another object under the same name, a step back in time, the end of what was not there, and a change that
 * the store is behind of. Each such note is a line in {@link violations}.
 */
export class Replay<T extends Named> {
  readonly violations: string[] = [];
  readonly #told = new Map<string, T>();
  readonly #store: StoreReader<T>;

  constructor(store: StoreReader<T>) {
    this.#store = store;
  }

  /** The state that the changes so far add up to: a sorted line for each object. */
  state(): readonly string[] {
    return [...this.#told].map(([key, object]) => describeState(key, object)).sort();
  }

  readonly listen = (change: Change<T>): void => {
    const known = this.#told.get(change.key);
    const wrong = this.#wrong(change, known);
    if (wrong !== undefined) {
      const before = known === undefined ? 'nothing' : describeState(change.key, known);
      this.violations.push(`${change.kind} ${describeState(change.key, change.object)} after ${before}: ${wrong}`);
    }
    if (change.kind === 'deleted') this.#told.delete(change.key);
    else this.#told.set(change.key, change.object);
  };

  #wrong(change: Change<T>, known: T | undefined): string | undefined {
    const stored = this.#store.get(change.key);
    if (change.kind === 'deleted') return wrongDeletion(change.object, known, stored);
    if (isBehind(stored, change.object)) return 'the store shows something older';
    if (change.kind === 'added') return known === undefined ? undefined : 'it was there already';
    return wrongUpdate(change.object, known, change.previous);
  }
}

/** What came after it in the same batch may show already: something newer, or nothing. */
function isBehind(stored: Named | undefined, told: Named): boolean {
  return stored !== undefined && Number(stored.resourceVersion) < Number(told.resourceVersion);
}

function wrongDeletion(object: Named, known: Named | undefined, stored: Named | undefined): string | undefined {
  if (known === undefined) return 'it was not there';
  if (known.uid !== object.uid) return 'it was another one';
  return stored?.uid === object.uid ? 'the store still shows it' : undefined;
}

function wrongUpdate(object: Named, known: Named | undefined, previous: Named): string | undefined {
  if (known === undefined) return 'it was not there';
  if (known.uid !== object.uid) return 'it is another one';
  // After a relist what did not change is another copy of the same state.
  if (describeState('', known) !== describeState('', previous)) return 'that is not what it was before';
  return Number(object.resourceVersion) > Number(known.resourceVersion) ? undefined : 'that is no step forward';
}

/** What a store shows: a sorted line for each object. */
export function stateOfStore(store: StoreReader<Named>): readonly string[] {
  return [...store.keys()].map((key) => describeState(key, store.get(key))).sort();
}

/** One object as a line: its key, its uid and its version. */
export function describeState(key: string, object: Partial<Named> | undefined): string {
  return `${key} ${object?.uid} @${object?.resourceVersion}`;
}
