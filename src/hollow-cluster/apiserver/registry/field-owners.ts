/**
 * Who owns which fields of an object, and server-side apply (upstream `apimachinery/pkg/util/managedfields`): from the writes
 * of the registry to the pure functions of `managed-fields`.
 */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { isMap as isObject, type JsonMap, mapOf, textOf } from '../../../machinery/api/json-map.ts';
import type { ApiError } from '../../../machinery/api/api-error.ts';
import { badRequest, statusError } from '../api-errors/api-errors.ts';
import { toWireForm } from '../codec/wire-form.ts';
import { typeOfSchema } from '../managed-fields/custom-types.ts';
import { decideApply } from '../managed-fields/applied-object.ts';
import { decideUpdate, type Writer } from '../managed-fields/updated-owners.ts';
import { ListElementError } from '../managed-fields/list-elements.ts';
import { applyConflict } from '../managed-fields/apply-conflict.ts';
import { conflictsBeyondLastApplied, kubectlManager, updateLastApplied } from '../managed-fields/last-applied.ts';
import {
  decodeManagers,
  isReset,
  isSameManager,
  lastOfEach,
  type ManagerEntry,
  sortManagers,
} from '../managed-fields/manager-entry.ts';
import { typeOfKind } from '../managed-fields/message-types.ts';
import { resetFieldsOf } from '../managed-fields/reset-fields.ts';
import { shareFields } from '../managed-fields/shared-field-sets.ts';
import { validateValue } from '../managed-fields/value-problems.ts';
import { anyValue, type Version, type Versions } from '../managed-fields/value-type.ts';
import { apiVersionOf, eventsV1Group, type ServedResource } from '../resources.ts';
import type { MutableJsonMap } from '../../../machinery/api/select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { asCoreEvent, asEventV1 } from '../kinds/event/event-forms.ts';
import { isEventsV1, type Target } from './request-target.ts';
import type { Endpoint } from '../kinds/strategy.ts';

const eventsV1Version = `${eventsV1Group}/v1`;
/** Owns the fields of an object whose managers are unknown when it is applied. */
const earlierManager = 'before-first-apply';

/** An object that is applied: the whole body, whose fields are not validated yet. */
interface Configuration {
  readonly body: JsonMap;
  readonly force: boolean;
  readonly manager: string;
  readonly subresource: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
}

/** A version of an object. A stored one parses its content on each access. */
interface Owned {
  readonly managers: readonly ManagerEntry[];
  readonly content: JsonMap;
}

/** The managers after a create, an update or a patch. `given` is `metadata.managedFields` of the body. */
export function ownersAfterUpdate(
  target: Target,
  stored: Owned | undefined,
  draft: JsonMap,
  { given, writer }: { readonly given: unknown; readonly writer: Writer },
): readonly ManagerEntry[] {
  const before = stored?.content ?? emptyObject(target);
  const current = lastOfEach(stored?.managers ?? []);
  const known = writer.subresource === '' ? knownManagers(given, current) : current;
  // Ownership that was reset is tracked again from the next apply on.
  if (stored !== undefined && known.length === 0) return known;
  try {
    return update(target, { before, after: draft }, known, writer);
  } catch (error) {
    // Elements of a list without identity: the fields of such an object keep their owners, as upstream.
    if (error instanceof ListElementError) return known;
    throw error;
  }
}

function update(
  target: Target,
  { before, after }: { readonly before: JsonMap; readonly after: JsonMap },
  known: readonly ManagerEntry[],
  writer: Writer,
): readonly ManagerEntry[] {
  const versions = versionsOf(target);
  const version = versionOf(target);
  const shown = { before: show(target, before), after: show(target, after) };
  return shareOwners(decideUpdate({ ...shown, version, versions }, known, writer));
}

function knownManagers(given: unknown, stored: readonly ManagerEntry[]): readonly ManagerEntry[] {
  if (isReset(given)) return [];
  const decoded = decodeManagers(given, stored) ?? [];
  return decoded.length === 0 ? stored : decoded;
}

interface AppliedObject {
  /** Object in the version of the request, without kind and apiVersion. */
  readonly object: MutableJsonMap;
  readonly managers: readonly ManagerEntry[];
}

/**
 * The object with the configuration applied; `stored` is undefined if it does not exist. Throws an ApiError: 400 for another
 * kind, 500 for fields that the kind does not have (as upstream), 409 for conflicts.
 */
export function applyConfiguration(
  target: Target,
  stored: Owned | undefined,
  configuration: Configuration,
): AppliedObject {
  const { body, force, manager, subresource, now } = configuration;
  assertApplicable(target, body);
  const { apiVersion: _apiVersion, kind: _kind, ...applied } = body;
  const version = versionOf(target);
  assertTyped(target, version, applied);
  const before = stored?.content ?? emptyObject(target);
  const live = show(target, before);
  const known = knownOrEarlier(target, stored, { subresource, now });
  const input = { live, applied, version, versions: versionsOf(target) };
  const result = typedLive(target, live, () => decideApply(input, known, { manager, subresource, now }));
  const beyond =
    manager === kubectlManager ? conflictsBeyondLastApplied(result.conflicts, live, version) : result.conflicts;
  if (!force && beyond.length > 0) throw applyConflict(beyond);
  const object = { ...result.object };
  return {
    object: manager === kubectlManager ? updateLastApplied(object, body) : object,
    managers: shareOwners(result.managers),
  };
}

/** Throws a 500 ApiError if the stored object has elements of a list without identity. */
function typedLive<T>(target: Target, live: JsonMap, decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    if (!(error instanceof ListElementError)) throw error;
    throw untyped(target, live, (about, why) => `failed to create typed live object (${about}): ${why}`);
  }
}

function knownOrEarlier(
  target: Target,
  stored: Owned | undefined,
  writer: Omit<Writer, 'manager'>,
): readonly ManagerEntry[] {
  if (stored === undefined || stored.managers.length > 0) return lastOfEach(stored?.managers ?? []);
  const change = { before: emptyObject(target), after: stored.content };
  try {
    return update(target, change, [], { ...writer, manager: earlierManager });
  } catch (error) {
    if (!(error instanceof ListElementError)) throw error;
    const failure = 'failed to create manager for existing fields: failed to convert new object';
    throw untyped(target, show(target, stored.content), (about, why) => `${failure} (${about}) to smd typed: ${why}`);
  }
}

function assertApplicable({ served }: Target, body: JsonMap): void {
  const { apiVersion, kind } = body;
  if (apiVersion !== apiVersionOf(served) || kind !== served.kind) {
    const group = textOf(apiVersion).includes('/') ? textOf(apiVersion) : `/${textOf(apiVersion)}`;
    throw badRequest(`invalid object type: ${group}, Kind=${textOf(kind)}`);
  }
  if (Array.isArray(mapOf(body['metadata'])['managedFields'])) {
    throw badRequest('metadata.managedFields must be nil');
  }
}

function assertTyped(target: Target, { type }: Version, applied: JsonMap): void {
  if (validateValue(type, applied).length === 0) return;
  throw untyped(target, applied, (about, why) => `failed to create typed patch object (${about}): ${why}`);
}

/** A 500 ApiError with everything that contradicts the types of the fields. */
function untyped(target: Target, object: JsonMap, describe: (about: string, why: string) => string): ApiError {
  const { served } = target;
  const group = served.group === '' ? `/${served.version}` : apiVersionOf(served);
  const { name, namespace } = mapOf(object['metadata']);
  const about = `${textOf(namespace)}/${textOf(name)}; ${group}, Kind=${served.kind}`;
  const problems = validateValue(versionOf(target).type, object);
  const list = ['errors:', ...problems.map((each) => `  ${each}`)].join('\n');
  return statusError(500, '', describe(about, problems.length === 1 ? `${problems[0]}` : list));
}

const emptyObjects = new WeakMap<ServedResource, JsonMap>();
const knownVersions = new WeakMap<ServedResource, Map<Endpoint, Version>>();

/** Object without any value, as Go encodes it. */
function emptyObject({ served }: Target): JsonMap {
  return getOrInsert(emptyObjects, served, buildEmpty);
}

function buildEmpty(served: ServedResource): JsonMap {
  if (served.custom !== undefined) return { metadata: {} };
  const apiVersion = served.group === eventsV1Group ? 'v1' : apiVersionOf(served);
  return toWireForm(apiVersion, served.kind, { metadata: {} }).object;
}

/** Version of the fields, which depends on the resource and the endpoint only. */
function versionOf({ served, endpoint }: Target): Version {
  const versions = getOrInsert(knownVersions, served, () => new Map<Endpoint, Version>());
  return getOrInsert(versions, endpoint, () => buildVersion(served, endpoint));
}

function buildVersion(served: ServedResource, endpoint: Endpoint): Version {
  const apiVersion = apiVersionOf(served);
  const type =
    served.custom === undefined
      ? (typeOfKind(apiVersion, served.kind) ?? anyValue)
      : typeOfSchema(served.custom.schema);
  const hasStatus = served.subresources.some(({ name }) => name === 'status');
  const { plural, group } = served;
  const reset = resetFieldsOf({ plural, group, isCustom: served.custom !== undefined, hasStatus }, endpoint);
  return { apiVersion, type, reset };
}

function versionsOf(target: Target): Versions {
  const own = versionOf(target);
  return {
    find: (apiVersion) => {
      if (apiVersion === own.apiVersion) return own;
      if (target.served.kind !== 'Event' || !['v1', eventsV1Version].includes(apiVersion)) return undefined;
      return { ...own, apiVersion, type: typeOfKind(apiVersion, 'Event') ?? anyValue };
    },
    convert: (object, from, to) => {
      if (from === to) return object;
      const draft = asDraft(object);
      return to === eventsV1Version ? asEventV1(draft) : asCoreEvent(draft);
    },
  };
}

/** The stored form in the version of the request. */
function show(target: Target, stored: JsonMap): JsonMap {
  return isEventsV1(target) ? asEventV1(asDraft(stored)) : stored;
}

function asDraft(object: JsonMap): Draft {
  const { metadata } = object;
  return { ...object, metadata: isObject(metadata) ? { ...metadata } : {} };
}

/** The entries in their order, with field sets that are shared between objects. */
function shareOwners(entries: readonly ManagerEntry[]): readonly ManagerEntry[] {
  return sortManagers(entries.map((entry) => shareEntry(entry)));
}

function shareEntry(entry: ManagerEntry): ManagerEntry {
  const fields = shareFields(entry.fields);
  return fields === entry.fields ? entry : { ...entry, fields };
}

/**
 * Whether the owners are the same but for their times. The earlier times stay if nothing else of the object changed, so that
 * the write takes no version (upstream `IgnoreManagedFieldsTimestampsTransformer`).
 */
export function sameOwners(before: readonly ManagerEntry[], after: readonly ManagerEntry[]): boolean {
  if (before === after) return true;
  return before.length === after.length && before.every((entry, index) => isSameEntry(entry, after[index]));
}

function isSameEntry(entry: ManagerEntry, other: ManagerEntry | undefined): boolean {
  if (other === undefined || !entry.fields.equals(other.fields)) return false;
  return isSameManager(entry, other) && entry.apiVersion === other.apiVersion;
}
