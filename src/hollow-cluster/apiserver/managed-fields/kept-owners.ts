/** The short way of an update: most writes change only fields that their writer owns already, and no other manager. */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { type ChangeRecorder, recordChanges } from './compare-values.ts';
import { FieldSet } from './field-set.ts';
import type { Version } from './value-type.ts';
import { fieldElement, type PathElement } from './path-element.ts';

interface Write {
  readonly before: JsonMap;
  readonly after: JsonMap;
  readonly version: Version;
}

/**
 * Whether all owners keep what they have: `yes` if the writer changed some of it, `unchanged` if it changed nothing. `no` means
 * that the sets have to be computed. `own` and `others` are the fields of the writer and of the other managers, in the same
 * version.
 */
export function keepsOwners(
  { before, after, version }: Write,
  own: FieldSet,
  others: readonly FieldSet[],
): 'yes' | 'unchanged' | 'no' {
  // A writer may have sent an entry with fields that are not tracked, which it loses with their next change.
  if (own.difference(untrackedFields).recursiveDifference(version.reset) !== own) return 'no';
  const recorder = new OwnChanges(own, others);
  recordChanges(version.type, before, after, recorder);
  if (recorder.isDone) return 'no';
  return recorder.hasChanged ? 'yes' : 'unchanged';
}

/** Done as soon as something else was changed, or anything removed. */
class OwnChanges implements ChangeRecorder {
  isDone = false;
  hasChanged = false;
  readonly #own: FieldSet;
  readonly #others: readonly FieldSet[];
  readonly #path: PathElement[] = [];

  constructor(own: FieldSet, others: readonly FieldSet[]) {
    this.#own = own;
    this.#others = others;
  }

  enter(element: PathElement): void {
    this.#path.push(element);
  }

  leave(): void {
    this.#path.pop();
  }

  markChanged(): void {
    this.hasChanged = true;
    if (!this.#own.has(this.#path) || this.#others.some((other) => other.has(this.#path))) this.isDone = true;
  }

  markRemoved(): void {
    this.isDone = true;
  }
}

const metadataFields = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
] as const;

/** Fields that no manager owns (upstream `stripMetaManager`). */
export const untrackedFields: FieldSet = FieldSet.of(
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [fieldElement('metadata')],
  ...metadataFields.map((name) => [fieldElement('metadata'), fieldElement(name)]),
);
