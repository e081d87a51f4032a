/**
 * What the objects of one table in one namespace use together. A reading applies the changes of the table since the last
 * one, or adds up all objects where the table no longer has them: creating an object does not cost a pass over the others.
 */
import { sameJson } from '../../api/same-json.ts';
import type { ResourceTable } from '../storage/resource-table.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { addAmount, type Amount, type Amounts, countOf } from './merge-amounts.ts';
import { isSelected, type Measurement, type ScopeSelector, usageAt } from './select-scopes.ts';

/** What is added up. */
export interface SumSubject {
  readonly namespace: string;
  readonly names: readonly string[];
  readonly selectors: readonly ScopeSelector[];
}

interface Reading {
  readonly used: Amounts;
  /** When it changes without a change of an object, in milliseconds since the epoch; Infinity if it will not. */
  readonly changesAtMs: number;
}

/** The versions of one object before and after some changes. */
interface ObjectChange {
  readonly before: StoredObject | undefined;
  readonly after: StoredObject | undefined;
}

const one = 1n;

export class UsageSum {
  readonly #table: ResourceTable;
  readonly #subject: SumSubject;
  readonly #measure: (object: StoredObject) => Measurement;
  #sums = new Map<string, Amount>();
  /** Objects whose usage depends on the time. */
  #ending = new Map<string, Measurement>();
  /** The changes up to this revision are in the sums. */
  #revision = -1;

  constructor(table: ResourceTable, subject: SumSubject, measure: (object: StoredObject) => Measurement) {
    this.#table = table;
    this.#subject = subject;
    this.#measure = measure;
  }

  isOf({ names, selectors }: SumSubject): boolean {
    return sameJson(names, this.#subject.names) && sameJson(selectors, this.#subject.selectors);
  }

  /** `revision` is that of the store. */
  read(revision: number, nowMs: number): Reading {
    this.#advance(revision);
    const used = new Map(this.#subject.names.map((name) => [name, this.#sums.get(name) ?? countOf(0)]));
    let changesAtMs = Number.POSITIVE_INFINITY;
    for (const measurement of this.#ending.values()) {
      this.#add(used, usageAt(measurement, nowMs), one);
      const afterMs = measurement.later?.afterMs ?? Number.NEGATIVE_INFINITY;
      if (afterMs >= nowMs) changesAtMs = Math.min(changesAtMs, afterMs);
    }
    return { used, changesAtMs };
  }

  #advance(revision: number): void {
    const changes = this.#revision < 0 || this.#revision > revision ? undefined : this.#changesSince(this.#revision);
    // Unknown until all changes are in the sums.
    this.#revision = -1;
    if (changes === undefined) {
      this.#sums = new Map();
      this.#ending = new Map();
      for (const object of this.#objects()) this.#count(object, one);
    } else {
      for (const { before, after } of changes) {
        if (before !== undefined) this.#count(before, -one);
        if (after !== undefined) this.#count(after, one);
      }
    }
    this.#revision = revision;
  }

  *#objects(): Generator<StoredObject> {
    const prefix = `${this.#subject.namespace}/`;
    for (const object of this.#table.now().from(prefix)) {
      if (!object.key.startsWith(prefix)) return;
      yield object;
    }
  }

  /** One for each object; undefined if the table no longer has them all. */
  #changesSince(revision: number): Iterable<ObjectChange> | undefined {
    const changes = this.#table.window.since(revision);
    if (changes === undefined) return undefined;
    const byKey = new Map<string, ObjectChange>();
    for (const { kind, object, previous } of changes) {
      if (object.namespace !== this.#subject.namespace) continue;
      const known = byKey.get(object.key);
      const before = known === undefined ? previous : known.before;
      byKey.set(object.key, { before, after: kind === 'deleted' ? undefined : object });
    }
    return byKey.values();
  }

  #count(object: StoredObject, sign: bigint): void {
    const measurement = this.#measure(object);
    if (!isSelected(measurement.scopes, this.#subject.selectors)) return;
    if (measurement.later === undefined) this.#add(this.#sums, measurement.usage, sign);
    else if (sign === one) this.#ending.set(object.key, measurement);
    else this.#ending.delete(object.key);
  }

  #add(sums: Map<string, Amount>, usage: Amounts, sign: bigint): void {
    for (const name of this.#subject.names) {
      const amount = usage.get(name);
      if (amount !== undefined) sums.set(name, addAmount(sums.get(name), { ...amount, nano: amount.nano * sign }));
    }
  }
}
