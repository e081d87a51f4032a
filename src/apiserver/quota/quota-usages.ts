/**
 * What the stored objects of a namespace use of its quotas. Always that of the stored objects: what is kept between
 * readings are sums, which the changes of the tables bring up to date.
 */
import type { StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { type Quota, quotaOf } from './decide-quota.ts';
import type { QuotaEvaluator } from './evaluator.ts';
import { makeEvaluator } from './evaluators.ts';
import { addTo, type Amount, type Amounts } from './merge-amounts.ts';
import { type Measurement, noMeasurement } from './select-scopes.ts';
import { type SumSubject, UsageSum } from './usage-sum.ts';

interface QuotaUsage {
  readonly used: Amounts;
  /** When an object uses less without a change, in milliseconds since the epoch; Infinity if none will. */
  readonly changesAtMs: number;
}

interface UsageInput extends Omit<SumSubject, 'names'> {
  /** The name of the quota. */
  readonly quota: string;
  /** Its resources. */
  readonly names: readonly string[];
  readonly nowMs: number;
}

type UsageStore = Pick<VersionedStore, 'table' | 'revision'>;

/** The sum that was not read for longest is dropped; it is computed again when it is needed. */
const sumsMax = 2_000;
const measurements = new WeakMap<StoredObject, Measurement>();
const quotas = new WeakMap<StoredObject, Quota>();

export class QuotaUsages {
  readonly #store: UsageStore;
  readonly #evaluators: ReadonlyMap<string, QuotaEvaluator>;
  /** By table, namespace and quota. */
  readonly #sums = new Map<string, UsageSum>();

  /** `tables` are those of all namespaced resources. */
  constructor(store: UsageStore, tables: readonly string[]) {
    this.#store = store;
    this.#evaluators = new Map(
      tables.flatMap((table) => {
        const evaluator = makeEvaluator(table);
        return evaluator === undefined ? [] : [[table, evaluator] as const];
      }),
    );
  }

  evaluatorOf(table: string): QuotaEvaluator | undefined {
    return this.#evaluators.get(table);
  }

  /** The resources whose objects quotas can limit. */
  get tables(): readonly string[] {
    return [...this.#evaluators.keys()];
  }

  /** The quotas of a namespace, by name. */
  quotasIn(namespace: string): readonly Quota[] {
    const table = this.#store.table('resourcequotas');
    if (table.size === 0) return [];
    const prefix = `${namespace}/`;
    const found: Quota[] = [];
    for (const object of table.now().from(prefix)) {
      if (!object.key.startsWith(prefix)) break;
      found.push(knownQuota(object));
    }
    return found;
  }

  /** Of the resources that any object can use; the others are left out. */
  usageOf({ nowMs, ...input }: UsageInput): QuotaUsage {
    const used = new Map<string, Amount>();
    let changesAtMs = Number.POSITIVE_INFINITY;
    for (const [table, evaluator] of this.#evaluators) {
      const names = input.names.filter((name) => evaluator.measures(name));
      if (names.length === 0) continue;
      const reading = this.#sumOf(table, { ...input, names }).read(this.#store.revision, nowMs);
      // The name of a class can make it a resource of two kinds: `requests.fast.storageclass.storage.k8s.io/...`.
      addTo(used, reading.used);
      changesAtMs = Math.min(changesAtMs, reading.changesAtMs);
    }
    return { used, changesAtMs };
  }

  /** Each version of an object is measured once: its content may have to be parsed for that. */
  measurementOf(table: string, object: StoredObject): Measurement {
    const found = measurements.get(object) ?? this.#evaluators.get(table)?.measure(object.content) ?? noMeasurement;
    measurements.set(object, found);
    return found;
  }

  #sumOf(table: string, { quota, ...subject }: SumSubject & { readonly quota: string }): UsageSum {
    const key = `${table} ${subject.namespace}/${quota}`;
    const known = this.#sums.get(key);
    const sum =
      known?.isOf(subject) === true
        ? known
        : new UsageSum(this.#store.table(table), subject, (object) => this.measurementOf(table, object));
    this.#sums.delete(key);
    this.#sums.set(key, sum);
    const [oldest] = this.#sums.size > sumsMax ? this.#sums.keys() : [];
    if (oldest !== undefined) this.#sums.delete(oldest);
    return sum;
  }
}

function knownQuota(object: StoredObject): Quota {
  const found = quotas.get(object) ?? quotaOf(object.content);
  quotas.set(object, found);
  return found;
}
