/**
 * A set of field paths, as a tree (upstream `fieldpath.Set`). A path in the set does not include its parents or children:
 * an owner of a list element owns the element (`.` in FieldsV1) and, separately, fields of it. Operations return an
 * operand itself where the result equals it, so that an unchanged set stays the same object.
 */
import { compareElements, type PathElement } from './path-element.ts';

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
    const cursor = new FieldSetCursor();
    for (const path of paths) {
      for (const element of path) cursor.enter(element);
      if (path.length > 0) cursor.mark();
      for (const _ of path) cursor.leave();
    }
    return cursor.end();
  }

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  /** `from` is the length of the path to this set. */
  has(path: readonly PathElement[], from = 0): boolean {
    const element = path[from];
    const entry = element === undefined ? undefined : this.entries.get(element);
    if (entry === undefined) return false;
    return from === path.length - 1 ? entry.owned : entry.below?.has(path, from + 1) === true;
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

  /**
   * The paths of this set that `other` does not have. Neither children nor parents of a path of `other` are removed.
   */
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
    let common: Map<PathElement, Entry> | undefined;
    for (const [element, entry] of few.entries) {
      const shared = intersect(entry, many.entries.get(element));
      if (shared === undefined) continue;
      common ??= new Map();
      common.set(element, shared);
    }
    return common === undefined ? FieldSet.empty : new FieldSet(common);
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

  /** All paths, in the order of upstream `Set.Iterate`: sorted, all paths of one length before the longer ones below them. */
  *paths(prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
    const entries = [...this.entries].sort(([a], [b]) => compareElements(a, b));
    for (const [element, { owned }] of entries) if (owned) yield [...prefix, element];
    for (const [element, { below }] of entries) if (below !== undefined) yield* below.paths([...prefix, element]);
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

function intersect(own: Entry, other: Entry | undefined): Entry | undefined {
  if (other === undefined) return undefined;
  const below = other.below === undefined ? undefined : nonEmpty(own.below?.intersection(other.below));
  const owned = own.owned && other.owned;
  return owned || below !== undefined ? { owned, below } : undefined;
}

function nonEmpty(set: FieldSet | undefined): FieldSet | undefined {
  return set === undefined || set.isEmpty ? undefined : set;
}

/** Collects paths during a walk through an object. */
export class FieldSetCursor {
  /** Levels from the object itself, which is not tracked, to the current path. */
  readonly #levels: Level[] = [{ element: '', owned: false, entries: undefined }];
  #depth = 0;

  enter(element: PathElement): void {
    this.#depth += 1;
    const level = this.#levels[this.#depth];
    if (level === undefined) {
      this.#levels.push({ element, owned: false, entries: undefined });
      return;
    }
    level.element = element;
    level.owned = false;
    level.entries = undefined;
  }

  /** The current path belongs to the set. */
  mark(): void {
    this.#current().owned = true;
  }

  /** Back to the parent of the current path. An element may be entered several times. */
  leave(): void {
    const { element, owned, entries } = this.#current();
    this.#depth -= 1;
    if (!owned && entries === undefined) return;
    const entry = { owned, below: entries === undefined ? undefined : new FieldSet(entries) };
    const parent = this.#current();
    parent.entries ??= new Map();
    const known = parent.entries.get(element);
    parent.entries.set(element, known === undefined ? entry : unite(known, entry));
  }

  /** The set, after the walk. */
  end(): FieldSet {
    const { entries } = this.#current();
    return entries === undefined ? FieldSet.empty : new FieldSet(entries);
  }

  #current(): Level {
    const level = this.#levels[this.#depth];
    if (level === undefined) throw new Error('the walk left a path that it had not entered');
    return level;
  }
}

interface Level {
  element: PathElement;
  owned: boolean;
  entries: Map<PathElement, Entry> | undefined;
}
