/**
 * Objects of the same kind written by the same program have equal field sets. Equal sets are one object, with one text, as
 * long as they are among the sets that were used last.
 */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { FieldSet } from './field-set.ts';
import { encodeFields } from './fields-v1.ts';

/** Sets that are remembered. Beyond that, equal sets are stored several times. */
const setsMax = 4_096;
/** Characters of the text of a set that is remembered: larger ones, as of a full ConfigMap, are hardly ever equal. */
const sharedTextMax = 16 * 1_024;

const sets = new Map<string, FieldSet>();
const texts = new WeakMap<FieldSet, string>();

/** The FieldsV1 text, encoded once for each set. */
export function encodeShared(set: FieldSet): string {
  return getOrInsert(texts, set, encodeFields);
}

/** The set that stands for all equal ones; a large set stands for itself only. */
export function shareFields(set: FieldSet): FieldSet {
  // Only sets that were shared or encoded before have a text.
  if (texts.has(set)) return set;
  const text = encodeFields(set);
  const shared = text.length > sharedTextMax ? set : shareAs(text, () => withSharedParts(set));
  texts.set(shared, text);
  return shared;
}

/** Two sets that differ in the metadata usually have the same fields of `spec` or `status`. */
function withSharedParts(set: FieldSet): FieldSet {
  const entries = new Map(set.entries);
  let isSame = true;
  for (const [element, { owned, below }] of set.entries) {
    if (below === undefined) continue;
    const shared = shareAs(encodeFields(below), () => below);
    if (shared === below) continue;
    isSame = false;
    entries.set(element, { owned, below: shared });
  }
  return isSame ? set : new FieldSet(entries);
}

function shareAs(text: string, make: () => FieldSet): FieldSet {
  const shared = sets.get(text) ?? make();
  // The last one used is the last one to be forgotten.
  sets.delete(text);
  sets.set(text, shared);
  const [oldest] = sets.size > setsMax ? sets.keys() : [];
  if (oldest !== undefined) sets.delete(oldest);
  return shared;
}
