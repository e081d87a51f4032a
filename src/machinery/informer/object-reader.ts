import { messageOf } from '../api/api-error.ts';
import type { KubeObject, ObjectMeta } from '../api/meta.ts';
import { keyOf, type ObjectKey } from '../api/object-key.ts';
import type { ObjectEventType, Selection, UndecodableObject } from '../ports/kube-reader.ts';
import { type Identify, isStale, type ObjectVersion } from './diff-stores.ts';
import { MalformedObjects, type MalformedObjectsOptions } from './malformed-objects.ts';
import { staleEvents } from './metrics.ts';
import type { NamespacedName } from './object-map.ts';

/** One object as the informer stores it. */
export interface NamespacedObject<T> extends NamespacedName {
  readonly object: T;
}

/** An object that could not be decoded: it is skipped, and its absence implies no deletion. */
export class Unreadable implements ObjectVersion {
  /** Namespace and name; undefined if they could not be read. */
  readonly name: NamespacedName | undefined;
  readonly uid: string;
  readonly resourceVersion: string;

  constructor(metadata: ObjectMeta | undefined) {
    this.name = nameOf(metadata);
    this.uid = metadata?.uid ?? '';
    this.resourceVersion = metadata?.resourceVersion ?? '';
  }
}

/** Undefined if it has no name. `metadata` may be any value. */
function nameOf(metadata: ObjectMeta | null | undefined): NamespacedName | undefined {
  if (typeof metadata?.name !== 'string' || metadata.name === '') return undefined;
  const { name, namespace } = metadata;
  return { namespace: typeof namespace === 'string' ? namespace : '', name };
}

export interface ObjectReaderOptions<Raw extends KubeObject, View> extends MalformedObjectsOptions {
  /** Transforms an object while it is decoded. Called once for each received object. A method, since any object is passed as a Raw. */
  transform(raw: Raw): View;
  /** Returns the uid and resourceVersion of one state of an object. */
  readonly identity: Identify<View>;
  /** Fields of a view whose values many objects have in common: one copy of each value is kept. */
  readonly shared?: readonly (keyof View & string)[];
  /** Problems of the object behind this view; undefined if it is valid. */
  readonly problemsOf?: (view: View) => readonly string[] | undefined;
  /** All objects of the resource when absent. */
  readonly selection?: Selection;
}

/** Transforms received objects into the stored form; counts and reports those that are malformed or stale. */
export class ObjectReader<View extends object> {
  readonly malformed: MalformedObjects;
  readonly #options: ObjectReaderOptions<KubeObject, View>;
  readonly #labels: { readonly resource: string };
  readonly #interner = new ValueInterner();
  /** Objects whose last state could not be decoded. */
  readonly #undecoded = new Set<ObjectKey>();

  constructor(options: ObjectReaderOptions<KubeObject, View>) {
    this.#options = options;
    this.#labels = { resource: options.resource };
    this.malformed = new MalformedObjects(options);
  }

  read(raw: KubeObject): NamespacedObject<View> | Unreadable {
    const name = nameOf((raw as KubeObject | null | undefined)?.metadata);
    if (name === undefined) {
      this.malformed.reportSkipped('name', undefined, 'metadata.name: must be a non-empty string');
      return new Unreadable(undefined);
    }
    try {
      const view = this.#options.transform(raw);
      this.malformed.report(name, this.#options.problemsOf?.(view));
      // Nearly always empty: skips building and hashing the key.
      if (this.#undecoded.size > 0) this.#undecoded.delete(keyOf(name));
      return { ...name, object: this.#withInternedValues(view) };
    } catch (error) {
      // Transforms do not throw; one that does must not affect other objects.
      return this.skip({ metadata: raw.metadata, problem: messageOf(error) });
    }
  }

  /** Reports an object that could not be decoded. */
  skip({ metadata, problem }: UndecodableObject): Unreadable {
    const skipped = new Unreadable(metadata);
    this.malformed.reportSkipped('object', skipped.name, problem);
    if (skipped.name !== undefined) this.#undecoded.add(keyOf(skipped.name));
    return skipped;
  }

  /** See {@link Informer.isUndecoded}. */
  isUndecoded(key: ObjectKey): boolean {
    return this.#undecoded.has(key);
  }

  /** The object is deleted. */
  forget(name: NamespacedName): void {
    this.malformed.forget(name);
    if (this.#undecoded.size > 0) this.#undecoded.delete(keyOf(name));
  }

  /** Drops the state of objects that are gone. */
  keepOnly(objects: { has(key: ObjectKey): boolean }): void {
    this.malformed.keepOnly(objects);
    for (const key of this.#undecoded) if (!objects.has(key)) this.#undecoded.delete(key);
  }

  /** An object may leave the stream by a change of its labels or fields, and come back. */
  get isSelective(): boolean {
    const { labelSelector, fieldSelector } = this.#options.selection ?? {};
    return labelSelector !== undefined || fieldSelector !== undefined;
  }

  /** Whether a newer state of the same key is known. Counts the stale events. `reached` is the version of the stream before. */
  isStale(type: ObjectEventType, object: View, known: View | undefined, reached: string): boolean {
    const { identity, meter } = this.#options;
    const { uid, resourceVersion } = identity(object);
    const stored = known === undefined ? undefined : identity(known);
    const stale = isStale({ type, uid, resourceVersion }, stored, reached, this.isSelective);
    if (stale) meter.add(staleEvents, 1, this.#labels);
    return stale;
  }

  #withInternedValues(view: View): View {
    const { shared = [] } = this.#options;
    let values: Record<string, unknown> | undefined;
    for (const field of shared) {
      const value = this.#interner.intern(view[field]);
      if (value === view[field]) continue;
      values ??= {};
      values[field] = value;
    }
    // One copy of the view for all replaced fields.
    return values === undefined ? view : { ...view, ...values };
  }
}

/** Strings are names: of the nodes of a large cluster, and of its namespaces. */
export const internedStringsMax = 200_000;
export const internedStructuresMax = 20_000;
const internedCharsMax = 4_096;

/**
 * Keeps one copy of values that many objects have in common: a million pods share a few hundred toleration lists. Values
 * are compared by content; above {@link internedStringsMax} distinct strings, or {@link internedStructuresMax} distinct
 * structures, new ones are passed through.
 */
export class ValueInterner {
  readonly #strings = new Map<string, string>();
  readonly #structures = new Map<string, unknown>();
  readonly #interned = new WeakSet<object>();

  /** The first value equal to this one, or this one. */
  intern(value: unknown): unknown {
    if (typeof value === 'string') return remember(this.#strings, value, value, internedStringsMax);
    // A reader that shares values itself passes the very object that is kept here.
    if (typeof value !== 'object' || value === null || this.#interned.has(value)) return value;
    const first = remember(this.#structures, JSON.stringify(value), value, internedStructuresMax);
    if (first === value) this.#interned.add(value);
    return first;
  }

  get size(): number {
    return this.#strings.size + this.#structures.size;
  }
}

function remember<T>(known: Map<string, T>, text: string, value: T, knownMax: number): T {
  const first = known.get(text);
  if (first !== undefined) return first;
  if (known.size < knownMax && text.length <= internedCharsMax) known.set(text, value);
  return value;
}
