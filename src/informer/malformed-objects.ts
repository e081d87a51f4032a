import { keyOf, type ObjectKey } from '../api/object-key.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import { malformedObjects } from './metrics.ts';
import type { Place } from './object-map.ts';

/** Says of each object that is not as it should be what is wrong with it: once, until something else is. */
export class MalformedObjects {
  readonly #labels: { readonly resource: string };
  readonly #logger: Logger;
  readonly #meter: Meter;
  readonly #told = new Map<ObjectKey, string>();

  constructor(resource: string, logger: Logger, meter: Meter) {
    this.#labels = { resource };
    this.#logger = logger;
    this.#meter = meter;
  }

  /** `flaws`: each names the field, what was there and what is accepted. Undefined: it is as it should be. */
  look(place: Place, flaws: readonly string[] | undefined): void {
    if (flaws === undefined) this.forget(place);
    else this.#tell(keyOf(place), flaws);
  }

  #tell(key: ObjectKey, flaws: readonly string[]): void {
    if (this.#told.get(key) !== flaws.join()) {
      this.#told.set(key, flaws.join());
      this.#meter.add(malformedObjects, 1, this.#labels);
      this.#logger.warn(
        { ...this.#labels, key, flaws },
        'an object is malformed: what cannot be read counts as missing',
      );
    }
  }

  forget(place: Place): void {
    // Nearly always there is none, and asking a map of none for a key still has to make and hash it.
    if (this.#told.size > 0) this.#told.delete(keyOf(place));
  }

  /** Of what left without a word nothing need be remembered. */
  keepOnly(keys: { has(key: ObjectKey): boolean }): void {
    for (const key of this.#told.keys()) if (key !== nameless && !keys.has(key)) this.#told.delete(key);
  }

  /** It cannot be kept: nobody could ask for it, and nobody could say that it is gone. */
  lookAtNameless(): void {
    this.#tell(nameless, ['metadata.name: got nothing; accepted: a text that is not empty; the object is left out']);
  }
}

const nameless = '';
