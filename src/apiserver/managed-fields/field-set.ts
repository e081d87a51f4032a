/**
 * A set of field paths, as a tree (upstream `fieldpath.Set`). A path in the set does not include its parents or children:
 * an owner of a list element owns the element (`.` in FieldsV1) and, separately, fields of it. Operations return an
 * operand itself where the result equals it, so that an unchanged set stays the same object.
 */
import type { PathElement } from './path-element.ts';

interface Entry {
  /** Whether the path up to here is in the set. */
  readonly owned: boolean;
  /** Longer paths; undefined if there are none. */
  readonly below: FieldSet | undefined;
}

type Entries = ReadonlyMap<PathElement, Entry>;

export class FieldSet {
  static readonly empty = new FieldSet(new Map());
  readonly entries: Entries;

  /** No entry may be empty, and the map must not change any more. */
  constructor(entries: Entries) {
    this.entries = entries;
  }

  static of(...paths: readonly (readonly PathElement[])[]): FieldSet {
    const builder = new FieldSetBuilder();
    for (const path of paths) builder.insert(path);
    return builder.build();
  }

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  has(path: readonly PathElement[]): boolean {
    const last = path.at(-1);
    const parent = path.slice(0, -1).reduce<FieldSet | undefined>((set, element) => set?.below(element), this);
    return last !== undefined && parent?.entries.get(last)?.owned === true;
  }

  /** The paths that begin with the element, without it; undefined if there are none. */
  below(element: PathElement): FieldSet | undefined {
    return this.entries.get(element)?.below;
  }

  owns(element: PathElement): boolean {
    return this.entries.get(element)?.owned === true;
  }

  union(other: FieldSet): FieldSet {
    if (other === this || other.isEmpty) return this;
    if (this.isEmpty) return other;
    let merged: Map<PathElement, Entry> | undefined;
    for (const [element, foreign] of other.entries) {
      const own = this.entries.get(element);
      const entry = own === undefined ? foreign : unite(own, foreign);
      if (entry === own) continue;
      merged ??= new Map(this.entries);
      merged.set(element, entry);
    }
    return merged === undefined ? this : new FieldSet(merged);
  }

  /** Only equal paths are removed: neither the children nor the parents of a path of `other`. */
  difference(other: FieldSet): FieldSet {
    return this.#keep(other, (own, foreign) => ({
      owned: own.owned && !foreign.owned,
      below: foreign.below === undefined ? own.below : nonEmpty(own.below?.difference(foreign.below)),
    }));
  }

  /** Removes the paths of `other` and all their children. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#keep(other, (own, foreign) => {
      if (foreign.owned) return undefined;
      const below = foreign.below === undefined ? own.below : own.below?.recursiveDifference(foreign.below);
      return { owned: own.owned, below: nonEmpty(below) };
    });
  }

  intersection(other: FieldSet): FieldSet {
    const [few, many] = this.entries.size < other.entries.size ? [this, other] : [other, this];
    const common = new Map<PathElement, Entry>();
    for (const [element, entry] of few.entries) {
      const twin = many.entries.get(element);
      if (twin === undefined) continue;
      const below = twin.below === undefined ? undefined : nonEmpty(entry.below?.intersection(twin.below));
      const owned = entry.owned && twin.owned;
      if (owned || below !== undefined) common.set(element, { owned, below });
    }
    return common.size === 0 ? FieldSet.empty : new FieldSet(common);
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.entries.size !== other.entries.size) return false;
    for (const [element, { owned, below }] of this.entries) {
      const twin = other.entries.get(element);
      if (twin === undefined || twin.owned !== owned) return false;
      if (!(below ?? FieldSet.empty).equals(twin.below ?? FieldSet.empty)) return false;
    }
    return true;
  }

  /** All paths, parents before children. */
  *paths(prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
    for (const [element, { owned, below }] of this.entries) {
      const path = [...prefix, element];
      if (owned) yield path;
      if (below !== undefined) yield* below.paths(path);
    }
  }

  /** The set with the entries that `other` has too replaced by the result of `reduce`. */
  #keep(other: FieldSet, reduce: (own: Entry, foreign: Entry) => Entry | undefined): FieldSet {
    let kept: Map<PathElement, Entry> | undefined;
    for (const [element, foreign] of other.entries) {
      const own = this.entries.get(element);
      const entry = own === undefined ? undefined : reduce(own, foreign);
      if (own === undefined || isSameEntry(entry, own)) continue;
      kept ??= new Map(this.entries);
      if (isEmptyEntry(entry)) kept.delete(element);
      else kept.set(element, entry);
    }
    return setOf(kept, this);
  }
}

function setOf(entries: Entries | undefined, unchanged: FieldSet): FieldSet {
  if (entries === undefined) return unchanged;
  return entries.size === 0 ? FieldSet.empty : new FieldSet(entries);
}

function isSameEntry(entry: Entry | undefined, own: Entry): boolean {
  return entry?.owned === own.owned && entry.below === own.below;
}

function isEmptyEntry(entry: Entry | undefined): entry is undefined {
  return entry === undefined || (!entry.owned && entry.below === undefined);
}

function unite(own: Entry, foreign: Entry): Entry {
  const owned = own.owned || foreign.owned;
  const below = own.below === undefined ? foreign.below : own.below.union(foreign.below ?? FieldSet.empty);
  return owned === own.owned && below === own.below ? own : { owned, below };
}

function nonEmpty(set: FieldSet | undefined): FieldSet | undefined {
  return set === undefined || set.isEmpty ? undefined : set;
}

/** Collects paths. */
export class FieldSetBuilder {
  readonly #nodes = new Map<PathElement, { owned: boolean; below: FieldSetBuilder | undefined }>();

  /** The path of the whole object, which has no elements, is not tracked. */
  insert(path: readonly PathElement[], from = 0): void {
    const element = path[from];
    if (element === undefined) return;
    let node = this.#nodes.get(element);
    if (node === undefined) this.#nodes.set(element, (node = { owned: false, below: undefined }));
    if (from === path.length - 1) node.owned = true;
    else (node.below ??= new FieldSetBuilder()).insert(path, from + 1);
  }

  build(): FieldSet {
    if (this.#nodes.size === 0) return FieldSet.empty;
    const entries = [...this.#nodes].map(
      ([element, { owned, below }]) => [element, { owned, below: below?.build() }] as const,
    );
    return new FieldSet(new Map(entries));
  }
}
