import { problemKind } from '../api/field-reader.ts';
import { keyOf, type ObjectKey } from '../api/object-key.ts';
import { cutText } from '../api/limits.ts';
import type { Ambient } from '../ports/ambient.ts';
import type { LogFields } from '../ports/logger.ts';
import { LineLimit } from '../queueing/line-limit.ts';
import { malformedObjects } from './metrics.ts';
import type { NamespacedName } from './object-map.ts';

/** A problem that persists is counted and logged again after this time. */
export const reportAgainMs = 1_800_000;
/** Maximum number of log lines per {@link linesPeriodMs}: an object may be updated at any rate. */
export const linesMax = 20;
const linesPeriodMs = 60_000;
/** Maximum number of objects remembered as reported; further ones only add to the suppressed count of the next line. */
export const reportedMax = 10_000;
const kindsMax = 32;

/** `field`: that field is invalid. `name`: no name. `object`, `event`: not decodable. The last three are skipped. */
type MalformedKind = 'field' | 'name' | 'object' | 'event';

interface Reported {
  readonly atMs: number;
  /** Field and accepted values of each problem, without the actual value, which changes. */
  readonly kinds: Set<string>;
}

export interface MalformedObjectsOptions extends Ambient {
  readonly resource: string;
}

/**
 * Counts and logs malformed objects: each problem of each object once per {@link reportAgainMs}, a problem being a field
 * and what is accepted there, and at most {@link linesMax} lines a minute. Memory is bounded.
 */
export class MalformedObjects {
  readonly #options: MalformedObjectsOptions;
  readonly #reported = new Map<ObjectKey, Reported>();
  readonly #limit = new LineLimit(linesMax, linesPeriodMs);

  constructor(options: MalformedObjectsOptions) {
    this.#options = options;
  }

  /** `problems`: each names the field, the actual value and what is accepted. Undefined: the object is valid. */
  report(name: NamespacedName, problems: readonly string[] | undefined): void {
    if (problems === undefined) return;
    const key = keyOf(name);
    if (!this.#isNew(key, problems.map(problemKind))) return;
    this.#count('field');
    this.#warn({ key, problems }, 'object has malformed fields; they are treated as absent');
  }

  /** Reports an object or event that could not be decoded and is skipped. `place`: undefined if its name is unreadable. */
  reportSkipped(kind: Exclude<MalformedKind, 'field'>, name: NamespacedName | undefined, problem: string): void {
    const key = name === undefined ? '' : keyOf(name);
    const isNew = this.#isNew(key, [kind]);
    // Without a name, each occurrence may be another object.
    if (isNew || name === undefined) this.#count(kind);
    if (isNew)
      this.#warn(
        { key, problem: cutText(problem) },
        `malformed ${kind === 'event' ? 'watch event' : 'object'} skipped`,
      );
  }

  forget(name: NamespacedName): void {
    // Nearly always empty: skips building and hashing the key.
    if (this.#reported.size > 0) this.#reported.delete(keyOf(name));
  }

  /** Drops the state of objects that are gone. */
  keepOnly(keys: { has(key: ObjectKey): boolean }): void {
    for (const key of this.#reported.keys()) if (key !== '' && !keys.has(key)) this.#reported.delete(key);
  }

  #count(problem: MalformedKind): void {
    this.#options.meter.add(malformedObjects, 1, { resource: this.#options.resource, problem });
  }

  /** At least one of these problems of this object was not reported within {@link reportAgainMs}. */
  #isNew(key: ObjectKey, kinds: readonly string[]): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#reported.get(key);
    if (known !== undefined && nowMs - known.atMs < reportAgainMs) return addMissing(known.kinds, kinds);
    if (known === undefined && this.#reported.size >= reportedMax) return this.#overflow();
    this.#reported.set(key, { atMs: nowMs, kinds: new Set(kinds) });
    return true;
  }

  #overflow(): boolean {
    this.#limit.suppress();
    return false;
  }

  #warn(fields: LogFields, message: string): void {
    const { clock, logger, resource } = this.#options;
    const admitted = this.#limit.admit(clock.monotonicMs());
    if (admitted !== undefined) logger.warn({ resource, ...fields, ...admitted }, message);
  }
}

/** Adds the missing kinds. Returns whether any was missing. */
function addMissing(known: Set<string>, kinds: readonly string[]): boolean {
  const { size } = known;
  for (const kind of kinds) if (known.size < kindsMax) known.add(kind);
  return known.size > size;
}
