/**
 * What the objects of one table in one namespace use together. A reading applies the changes of the table since the last
 * one, or adds up all objects where that costs less or the table no longer has them: creating an object does not cost a pass over the others.
 */
import { sameJson } from '../../api/same-json.ts';
import type { ResourceTable } from '../storage/resource-table.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { addAmount, type Amount, type Amounts, countOf } from './merge-amounts.ts';
import { isSelected, type Measurement, type ScopeSelector } from './select-scopes.ts';

/** What is added up. */
export interface SumSubject {
  readonly namespace: string;
  readonly names: readonly string[];
  readonly selectors: readonly ScopeSelector[];
}

interface Reading {
  readonly used: Amounts;
  /** It does not change earlier without a change of an object, in milliseconds since the epoch; Infinity if it will not. */
  readonly changesAtMs: number;
}

/** The versions of one object before and after some changes. */
interface ObjectChange {
  readonly before: StoredObject | undefined;
  readonly after: StoredObject | undefined;
}

const one = 1n;
/** Adding up an object takes as long as reading so many changes, most of which are those of other namespaces. */
const changesPerObject = 20;
const changesMin = 500;

export class UsageSum {
  readonly #table: ResourceTable;
  readonly #subject: SumSubject;
  readonly #measure: (object: StoredObject) => Measurement;
  #sums = new Map<string, Amount>();
  /** Number of objects of the namespace. */
  #objectCount = 0;
  /** Objects that will use less without a change; the sums contain what they use until then. */
  #ending = new Map<string, Measurement>();
  /** None of them uses less at this time or before. */
  #nextMs = Number.POSITIVE_INFINITY;
  /** When one of them was last found to use less. */
  #endedAtMs = Number.NEGATIVE_INFINITY;
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
    // After the clock was set back, objects that had ended have not.
    if (nowMs < this.#endedAtMs) this.#revision = -1;
    this.#advance(revision);
    if (nowMs > this.#nextMs) this.#end(nowMs);
    const used = new Map(this.#subject.names.map((name) => [name, this.#sums.get(name) ?? countOf(0)]));
    return { used, changesAtMs: this.#ending.size === 0 ? Number.POSITIVE_INFINITY : this.#nextMs };
  }

  /** A pass over the objects that end, which is needed once for each time at which some do, not at each reading. */
  #end(nowMs: number): void {
    this.#nextMs = Number.POSITIVE_INFINITY;
    this.#endedAtMs = nowMs;
    for (const [key, { usage, later }] of this.#ending) {
      if (later !== undefined && nowMs <= later.afterMs) {
        this.#nextMs = Math.min(this.#nextMs, later.afterMs);
        continue;
      }
      this.#ending.delete(key);
      this.#add(usage, -one);
      if (later !== undefined) this.#add(later.usage, one);
    }
  }

  #advance(revision: number): void {
    const changes = this.#revision < 0 || this.#revision > revision ? undefined : this.#changesSince(this.#revision);
    // Unknown until all changes are in the sums.
    this.#revision = -1;
    if (changes === undefined) {
      this.#sums = new Map();
      this.#objectCount = 0;
      this.#ending = new Map();
      this.#nextMs = Number.POSITIVE_INFINITY;
      this.#endedAtMs = Number.NEGATIVE_INFINITY;
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

  /** One for each object; undefined if the table no longer has them all, or has many more than the namespace has objects. */
  #changesSince(revision: number): Iterable<ObjectChange> | undefined {
    const changes = this.#table.window.since(revision, changesMin + changesPerObject * this.#objectCount);
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
    this.#objectCount += Number(sign);
    const measurement = this.#measure(object);
    if (!isSelected(measurement.scopes, this.#subject.selectors)) return;
    const { usage, later } = measurement;
    if (later === undefined) this.#add(usage, sign);
    else if (sign === one) this.#begin(object.key, measurement, later.afterMs);
    else this.#add(this.#ending.delete(object.key) ? usage : later.usage, sign);
  }

  #begin(key: string, measurement: Measurement, afterMs: number): void {
    this.#ending.set(key, measurement);
    this.#nextMs = Math.min(this.#nextMs, afterMs);
    this.#add(measurement.usage, one);
  }

  #add(usage: Amounts, sign: bigint): void {
    const sums = this.#sums;
    for (const name of this.#subject.names) {
      const amount = usage.get(name);
      if (amount !== undefined) sums.set(name, addAmount(sums.get(name), { ...amount, nano: amount.nano * sign }));
    }
  }
}
