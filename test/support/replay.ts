import type { Change, StoreReader } from '../../src/machinery/informer/informer.ts';

export interface Named {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * An event handler that replays its notifications and records violations: an addition of a known object, an update of
 * another object under the same name, a step back in time, a deletion of an unknown object, and a change that the store
 * does not have yet. Each violation is a line in {@link violations}. `mayRepeat`: an object may be delivered again as it was, as by a
 * list of a storage that may have been restored.
 */
export class Replay<T extends Named> {
  readonly violations: string[] = [];
  readonly #replayed = new Map<string, T>();
  readonly #store: StoreReader<T>;

  readonly #mayRepeat: boolean;

  constructor(store: StoreReader<T>, { mayRepeat = false } = {}) {
    this.#store = store;
    this.#mayRepeat = mayRepeat;
  }

  /** The replayed state: a sorted line for each object. */
  state(): readonly string[] {
    return [...this.#replayed].map(([key, object]) => describeState(key, object)).sort();
  }

  readonly listen = (change: Change<T>): void => {
    const known = this.#replayed.get(change.key);
    const wrong = this.#wrong(change, known);
    if (wrong !== undefined) {
      const before = known === undefined ? 'nothing' : describeState(change.key, known);
      this.violations.push(`${change.kind} ${describeState(change.key, change.object)} after ${before}: ${wrong}`);
    }
    if (change.kind === 'deleted') this.#replayed.delete(change.key);
    else this.#replayed.set(change.key, change.object);
  };

  #wrong(change: Change<T>, known: T | undefined): string | undefined {
    const stored = this.#store.get(change.key);
    if (change.kind === 'deleted') return wrongDeletion(change.object, known, stored);
    if (isBehind(stored, change.object)) return 'the store shows something older';
    if (change.kind === 'added') return known === undefined ? undefined : 'it was there already';
    const wrong = wrongUpdate(change.object, known, change.previous);
    return wrong === undefined && !this.#isStepForward(change.object, known) ? 'that is no step forward' : wrong;
  }

  #isStepForward(object: Named, known: Named | undefined): boolean {
    const [version, before] = [Number(object.resourceVersion), Number(known?.resourceVersion)];
    return version > before || (this.#mayRepeat && version === before);
  }
}

/** Later changes of the same batch may show already: a newer object, or none. */
function isBehind(stored: Named | undefined, notified: Named): boolean {
  return stored !== undefined && Number(stored.resourceVersion) < Number(notified.resourceVersion);
}

function wrongDeletion(object: Named, known: Named | undefined, stored: Named | undefined): string | undefined {
  if (known === undefined) return 'it was not there';
  if (known.uid !== object.uid) return 'it was another one';
  return stored?.uid === object.uid ? 'the store still shows it' : undefined;
}

function wrongUpdate(object: Named, known: Named | undefined, previous: Named): string | undefined {
  if (known === undefined) return 'it was not there';
  if (known.uid !== object.uid) return 'it is another one';
  // After a relist an unchanged object is another copy of the same state.
  return describeState('', known) === describeState('', previous) ? undefined : 'that is not what it was before';
}

/** The state of a store: a sorted line for each object. */
export function stateOfStore(store: StoreReader<Named>): readonly string[] {
  return [...store.keys()].map((key) => describeState(key, store.get(key))).sort();
}

/** One object as a line: its key, its uid and its version. */
export function describeState(key: string, object: Partial<Named> | undefined): string {
  return `${key} ${object?.uid} @${object?.resourceVersion}`;
}
