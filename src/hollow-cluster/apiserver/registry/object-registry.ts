/**
 * Writes objects: from a decoded body to a committed version, in the order of upstream's generic registry: names,
 * admission, preparation, validation, versions, no-op check, commit. Everything is synchronous, so checks against the
 * stored object still hold when the new one is written.
 */
import { formatTime, parseTimestamp } from '../../../machinery/api/timestamps.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import type { Draft, StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { alignNames, assertNamed, type FieldValidation, patchedObjectError, readBody } from './body-reader.ts';
import { buildStored, keyOfDraft } from './stored-version.ts';
import { decideDeletion, type Deletion, type DeletionInput } from './decide-deletion.ts';
import { asEventV1 } from '../kinds/event/event-forms.ts';
import { applyConfiguration, ownersAfterUpdate, sameOwners } from './field-owners.ts';
import type { ManagerEntry } from '../managed-fields/manager-entry.ts';
import {
  applyPropagation,
  dropRepeatedOwners,
  generateName,
  generateTriesMax,
  makeUid,
  type Propagation,
  validateMetadata,
  validateMetadataUpdate,
} from './metadata-rules.ts';
import { parseRevision } from './list-query.ts';
import { assertNamespaceAccepts, assertNamespaceDeletable } from '../kinds/namespace/namespace-lifecycle.ts';
import { type ObjectPatch, patchObject, touchesManagers } from '../patch/object-patch.ts';
import {
  alreadyExists,
  conflict,
  invalid,
  notFound,
  noUniqueName,
  objectModified,
  statusError,
} from '../api-errors/api-errors.ts';
import { apiVersionOf } from '../resources.ts';
import { isEventsV1, keyOfTarget, kindName, resourceName, type Target } from './request-target.ts';
import { isAbsent, listOf } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import { type FieldError, invalidField } from '../api-errors/field-errors.ts';
import { type MutableJsonMap, numberAt, textAt } from '../../../machinery/api/select-field.ts';
import type { Strategy, WriteContext } from '../kinds/strategy.ts';

export interface WriteOptions {
  /** All steps but the commit. */
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** What is wrong with the text of the body or of the patch: keys that occur twice. */
  readonly problems?: readonly string[];
  /** Who owns what it writes. Without it, no owners are tracked. */
  readonly manager?: string;
  /** The owners after the write, where they are known already. */
  readonly owners?: readonly ManagerEntry[];
  /** Called before validation, with the stored object if there is one. Throws if the user must not write this object. */
  readonly authorize?: ((draft: Draft, stored: Draft | undefined) => void) | undefined;
}

export interface ApplyOptions extends WriteOptions {
  readonly manager: string;
  /** Takes fields from other managers instead of failing with conflicts. */
  readonly force: boolean;
}

export interface Written {
  readonly object: StoredObject;
  readonly created: boolean;
  /** Warnings for the client to display. */
  readonly warnings: readonly string[];
}

export interface DeleteRequest {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagation?: Propagation | undefined;
}

export interface Deleted {
  readonly object: StoredObject;
  /** False while a grace period or finalizers delay the removal. */
  readonly removed: boolean;
}

/** The options of a write whose body was read with `warnings`. */
interface ReadOptions extends WriteOptions {
  readonly warnings: readonly string[];
  /** `metadata.managedFields` of the body. */
  readonly given?: unknown;
}

/** A change that is ready to be written. */
interface Prepared {
  readonly draft: Draft;
  readonly managers: readonly ManagerEntry[];
}

export class ObjectRegistry {
  readonly #store: VersionedStore;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(store: VersionedStore, clock: Clock, random: Random) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
  }

  exists(target: Target): boolean {
    return this.#store.get(target.strategy.table, keyOfTarget(target)) !== undefined;
  }

  /** Throws a 404 ApiError if it does not exist. */
  get(target: Target): StoredObject {
    const found = this.#store.get(target.strategy.table, keyOfTarget(target));
    if (found === undefined) throw notFound(resourceName(target), target.name ?? '');
    return found;
  }

  create(target: Target, body: unknown, options: WriteOptions): Written {
    const { draft, warnings, given } = readBody(body, target, options);
    alignNames(draft, target);
    // As upstream, a dry run does not reach the store, which refuses it.
    if (!isUnversioned(draft) && !options.dryRun) {
      throw statusError(500, '', 'resourceVersion should not be set on objects to be created');
    }
    return this.#insert(target, draft, { ...options, warnings, given });
  }

  update(target: Target, body: unknown, options: WriteOptions): Written {
    const { draft, warnings, given } = readBody(body, target, options);
    assertNamed(draft, target.name);
    alignNames(draft, target);
    const stored = this.#store.get(target.strategy.table, keyOfTarget(target));
    if (stored === undefined) return this.#insertByUpdate(target, draft, { ...options, warnings, given });
    assertUid(target, stored, draft);
    if (isUnversioned(draft) && target.strategy.needsVersion) throw versionMissing(target);
    return this.#replace(target, stored, draft, { ...options, warnings, given });
  }

  patch(target: Target, patch: ObjectPatch, options: WriteOptions): Written {
    const stored = this.get(target);
    const current = touchesManagers(patch) ? stored.presented() : stored.draft();
    const seen = isEventsV1(target) ? asEventV1(current) : current;
    const document = { kind: target.served.kind, apiVersion: apiVersionOf(target.served), ...seen };
    const changed = patchObject(document, patch);
    // As upstream, which patches the fields of a typed object.
    const { kind, apiVersion } = document;
    const patched = patch.type === 'strategic-merge' ? { ...changed, kind, apiVersion } : changed;
    const { draft, warnings, given } = readBody(patched, target, options, patchedObjectError);
    assertNamed(draft, target.name);
    alignNames(draft, target);
    return this.#replace(target, stored, draft, { ...options, warnings, given });
  }

  /** Server-side apply: creates the object, or merges the configuration into it. */
  apply(target: Target, body: MutableJsonMap, options: ApplyOptions): Written {
    const stored = this.#store.get(target.strategy.table, keyOfTarget(target));
    if (stored === undefined && target.endpoint !== '') throw notFound(resourceName(target), target.name ?? '');
    const { force, manager } = options;
    const now = formatTime(this.#clock.nowMs());
    const { object, managers } = applyConfiguration(target, stored, {
      body,
      force,
      manager,
      subresource: target.endpoint,
      now,
    });
    // Unknown fields were rejected above.
    const { draft } = readBody(object, target, { fieldValidation: 'Ignore' });
    const warnings = options.fieldValidation === 'Warn' ? (options.problems ?? []) : [];
    if (stored === undefined && draft.metadata.uid !== undefined) throw noUid(target, draft.metadata.uid);
    alignNames(draft, target);
    const read = { ...options, warnings, owners: managers };
    return stored === undefined ? this.#insert(target, draft, read) : this.#replace(target, stored, draft, read);
  }

  /**
   * Changes a stored object internally, as subresources do: without version comparison and validation. Returns the stored
   * object if `change` changed nothing.
   */
  amend(target: Target, change: (draft: Draft) => void, dryRun: boolean): StoredObject {
    const stored = this.get(target);
    const draft = stored.draft();
    change(draft);
    return sameJson(draft, stored.content) ? stored : this.#commit(target.strategy, keep(stored, draft), dryRun);
  }

  delete(target: Target, request: DeleteRequest): Deleted {
    const stored = this.get(target);
    assertPreconditions(target, stored, request);
    assertNamespaceDeletable(target);
    const draft = stored.draft();
    const kept = keep(stored, draft);
    if (target.served.kind === 'Namespace') return this.#deleteNamespace(target, kept, request.dryRun);
    const finalizersChanged = applyPropagation(draft, request.propagation);
    const decision = decideDeletion(this.#deletionInput(target.strategy, draft, request));
    if (decision.kind === 'remove') return this.#remove(target.strategy, kept, request.dryRun);
    if (decision.kind === 'unchanged' && !finalizersChanged) return { object: stored, removed: false };
    if (decision.kind === 'mark') markDeleted(draft, decision);
    const marked = this.#commit(target.strategy, kept, request.dryRun);
    if (decision.kind === 'mark' && decision.thenRemove) return this.#remove(target.strategy, kept, request.dryRun);
    return { object: marked, removed: false };
  }

  #insert(target: Target, draft: Draft, options: ReadOptions): Written {
    const { strategy } = target;
    this.#begin(target, draft);
    assertNamespaceAccepts(target, draft.metadata.name ?? '', this.#store);
    strategy.setDefaults(draft);
    options.authorize?.(draft, undefined);
    const context = this.#context();
    const managers = ownersAfterWrite(target, undefined, draft, { ...options, now: context.now });
    strategy.admit(draft, context);
    strategy.prepareCreate(draft, context);
    const warnings = [...options.warnings, ...dropRepeatedOwners(draft.metadata)];
    assertValid(target, draft, [
      ...validateMetadata(draft, strategy),
      ...strategy.validate(draft, target.served.group),
      ...strategy.validateCreate(draft, target.served.group),
    ]);
    const taken = this.#store.get(strategy.table, keyOfDraft(strategy, draft));
    if (taken !== undefined) {
      const terminating = taken.content.metadata.deletionTimestamp !== undefined;
      throw alreadyExists(resourceName(target), taken.name, terminating);
    }
    return { object: this.#commit(strategy, { draft, managers }, options.dryRun), created: true, warnings };
  }

  #context(): WriteContext {
    return { objects: this.#store, now: formatTime(this.#clock.nowMs()) };
  }

  /** Sets the fields that only the server may set, whatever the client sent. */
  #begin(target: Target, draft: Draft): void {
    const { metadata } = draft;
    delete metadata.deletionTimestamp;
    delete metadata.deletionGracePeriodSeconds;
    delete metadata.generation;
    delete metadata.resourceVersion;
    metadata.uid = makeUid(this.#random);
    metadata.creationTimestamp = formatTime(this.#clock.nowMs());
    if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '') {
      metadata.name = this.#freeName(target, draft);
    }
  }

  #freeName(target: Target, draft: Draft): string {
    const base = draft.metadata.generateName ?? '';
    let name = '';
    for (let tried = 0; tried < generateTriesMax; tried += 1) {
      name = generateName(base, this.#random);
      draft.metadata.name = name;
      if (this.#store.get(target.strategy.table, keyOfDraft(target.strategy, draft)) === undefined) return name;
    }
    throw noUniqueName(resourceName(target), name);
  }

  #insertByUpdate(target: Target, draft: Draft, options: ReadOptions): Written {
    const name = target.name ?? '';
    if (!target.strategy.createsOnUpdate || target.endpoint !== '') throw notFound(resourceName(target), name);
    const { uid } = draft.metadata;
    if (uid !== undefined) throw uidConflict(target, uid, '');
    return this.#insert(target, draft, options);
  }

  #replace(target: Target, stored: StoredObject, draft: Draft, options: ReadOptions): Written {
    const { strategy } = target;
    const before = stored.content;
    assertVersion(target, stored, draft);
    restoreSystemFields(draft, before);
    strategy.setDefaults(draft);
    options.authorize?.(draft, before);
    const context = this.#context();
    const owned = { managers: stored.managers, content: before };
    const managers = ownersAfterWrite(target, owned, draft, { ...options, now: context.now });
    strategy.admit(draft, context, before);
    strategy.prepareUpdate(draft, before, target.endpoint, context);
    const warnings = [...options.warnings, ...dropRepeatedOwners(draft.metadata)];
    assertValid(target, draft, [
      ...validateMetadata(draft, strategy),
      ...validateMetadataUpdate(draft, before),
      ...strategy.validate(draft, target.served.group),
      ...strategy.validateUpdate(draft, before, target.endpoint, target.served.group),
    ]);
    const object = this.#commitUpdate(target, { stored, before }, { draft, managers }, options.dryRun);
    return { object, created: false, warnings };
  }

  /** A write without changes takes no revision; one that removes the last finalizer of a deleted object removes the object. */
  #commitUpdate(
    target: Target,
    { stored, before }: { readonly stored: StoredObject; readonly before: Draft },
    prepared: Prepared,
    dryRun: boolean,
  ): StoredObject {
    const { draft, managers } = prepared;
    if (isReleased(draft)) return this.#remove(target.strategy, prepared, dryRun).object;
    draft.metadata.resourceVersion = String(stored.revision);
    if (sameOwners(stored.managers, managers) && sameJson(draft, before)) return stored;
    return this.#commit(target.strategy, prepared, dryRun);
  }

  #deletionInput(strategy: Strategy, draft: Draft, request: DeleteRequest): DeletionInput {
    const { metadata, spec, status } = draft;
    const own = spec?.['terminationGracePeriodSeconds'];
    return {
      nowMs: this.#clock.nowMs(),
      deletionAtMs: parseTimestamp(metadata.deletionTimestamp),
      deletionGraceSeconds: metadata.deletionGracePeriodSeconds,
      hasFinalizers: (metadata.finalizers ?? []).length > 0,
      grace: strategy.graceful
        ? {
            requestedSeconds: request.gracePeriodSeconds,
            ownSeconds: isAbsent(own) ? undefined : numberAt(spec, 'terminationGracePeriodSeconds'),
            idle: textAt(spec, 'nodeName') === '' || ['Failed', 'Succeeded'].includes(textAt(status, 'phase')),
          }
        : undefined,
    };
  }

  /** A namespace is removed only when its `spec.finalizers` are emptied through `/finalize`. */
  #deleteNamespace(target: Target, prepared: Prepared, dryRun: boolean): Deleted {
    const { draft } = prepared;
    const { metadata } = draft;
    if (metadata.deletionTimestamp !== undefined) {
      if (isReleased(draft)) return this.#remove(target.strategy, prepared, dryRun);
      return { object: this.get(target), removed: false };
    }
    metadata.deletionTimestamp = formatTime(this.#clock.nowMs());
    draft.status = { ...draft.status, phase: 'Terminating' };
    if (isReleased(draft)) return this.#remove(target.strategy, prepared, dryRun);
    return { object: this.#commit(target.strategy, prepared, dryRun), removed: false };
  }

  #commit(strategy: Strategy, { draft, managers }: Prepared, dryRun: boolean): StoredObject {
    const build = (revision: number): StoredObject => buildStored(strategy, draft, revision, managers);
    return dryRun ? build(this.#store.revision) : this.#store.put(strategy.table, build);
  }

  #remove(strategy: Strategy, { draft, managers }: Prepared, dryRun: boolean): Deleted {
    const build = (revision: number): StoredObject => buildStored(strategy, draft, revision, managers);
    const object = dryRun ? build(this.#store.revision) : this.#store.remove(strategy.table, build);
    return { object, removed: true };
  }
}

/** Owners are those of what the client wrote: what admission and preparation change later has no owner. */
function ownersAfterWrite(
  target: Target,
  stored: Pick<StoredObject, 'managers' | 'content'> | undefined,
  draft: Draft,
  { manager, owners, given, now }: ReadOptions & { readonly now: string },
): readonly ManagerEntry[] {
  if (owners !== undefined) return owners;
  if (manager === undefined) return stored?.managers ?? [];
  const writer = { manager: manager || 'unknown', subresource: target.endpoint, now };
  return ownersAfterUpdate(target, stored, draft, { given, writer });
}

function assertValid(target: Target, { metadata: { name = '' } }: Draft, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(kindName(target), name, errors);
}

/** An internal change, which leaves the owners as they are. */
function keep({ managers }: StoredObject, draft: Draft): Prepared {
  return { draft, managers };
}

function markDeleted({ metadata }: Draft, mark: Deletion & { readonly kind: 'mark' }): void {
  metadata.deletionTimestamp = formatTime(mark.deletionAtMs);
  metadata.deletionGracePeriodSeconds = mark.graceSeconds;
  const { generation = 0 } = metadata;
  if (mark.firstTime && generation > 0) metadata.generation = generation + 1;
}

/** Restores fields that clients may omit or cannot set; a differing value in the others is rejected by validation. */
function restoreSystemFields({ metadata }: Draft, { metadata: kept }: Draft): void {
  for (const field of ['creationTimestamp', 'generation'] as const) {
    const value = kept[field];
    if (metadata[field] === value) continue;
    if (value === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: value });
  }
  for (const field of ['uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (metadata[field] === undefined && kept[field] !== undefined) Object.assign(metadata, { [field]: kept[field] });
  }
}

/** A PUT with another uid than the stored object's is a conflict. For patches, validation rejects it instead. */
function assertUid(target: Target, stored: StoredObject, { metadata: { uid } }: Draft): void {
  if (uid !== undefined && uid !== stored.uid) throw uidConflict(target, uid, stored.uid);
}

/** Version 0 is none, as in upstream's `ObjectResourceVersion`. */
function isUnversioned({ metadata: { resourceVersion } }: Draft): boolean {
  return resourceVersion === undefined || parseRevision(resourceVersion) === 0;
}

function assertVersion(target: Target, stored: StoredObject, draft: Draft): void {
  const { resourceVersion } = draft.metadata;
  if (resourceVersion === undefined || isUnversioned(draft)) return;
  if (parseRevision(resourceVersion) === undefined) {
    throw statusError(500, '', `strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`);
  }
  if (resourceVersion !== String(stored.revision)) throw objectModified(resourceName(target), target.name ?? '');
}

function uidConflict(target: Target, wanted: string, actual: string): Error {
  const why = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${actual}`;
  return conflict(resourceName(target), target.name ?? '', `StorageError: invalid object, Code: 4, ${why}`);
}

/** An apply with a uid, of an object that does not exist. */
function noUid(target: Target, uid: string): Error {
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  return conflict(resourceName(target), target.name ?? '', why);
}

function versionMissing(target: Target): Error {
  const error = invalidField('metadata.resourceVersion', 0, 'must be specified for an update');
  return invalid(resourceName(target), target.name ?? '', [error]);
}

function assertPreconditions(target: Target, stored: StoredObject, request: DeleteRequest): void {
  const version = String(stored.revision);
  const about = kindName(target);
  if (request.uid !== undefined && request.uid !== stored.uid) {
    const why = `the UID in the precondition (${request.uid}) does not match the UID in record (${stored.uid}). The object might have been deleted and then recreated`;
    throw conflict(about, stored.name, why);
  }
  if (request.resourceVersion !== undefined && request.resourceVersion !== version) {
    const why = `the ResourceVersion in the precondition (${request.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`;
    throw conflict(about, stored.name, why);
  }
}

/** Being deleted, without finalizers or grace period left (upstream `ShouldDeleteDuringUpdate`). */
function isReleased({ metadata, spec }: Draft): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  const held = (metadata.finalizers ?? []).length + listOf(spec?.['finalizers']).length > 0;
  return !held && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}
