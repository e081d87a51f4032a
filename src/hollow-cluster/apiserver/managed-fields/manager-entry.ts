/** What one manager owns, and `metadata.managedFields` as JSON (upstream `managedfields/internal/managedfields.go`). */
import { JsonText } from '../codec/encode-json-value.ts';
import { isMap, type JsonMap, listOf, ownValue, textOf } from '../../../machinery/api/json-map.ts';
import { isCanonicalTime, formatTime, parseTimestamp } from '../../../machinery/api/timestamps.ts';
import type { MutableJsonMap } from '../../../machinery/api/select-field.ts';
import type { FieldSet } from './field-set.ts';
import { decodeFields, encodes } from './fields-v1.ts';

type Operation = 'Apply' | 'Update';

export interface ManagerEntry {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** RFC 3339, of the last change; undefined if it never changed anything. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

type Identity = Omit<ManagerEntry, 'time' | 'fields'>;

/** An applier is the same manager in every version. */
export function isSameManager(a: ManagerEntry, b: ManagerEntry): boolean {
  if (a.manager !== b.manager || a.operation !== b.operation || a.subresource !== b.subresource) return false;
  return a.operation === 'Apply' || a.apiVersion === b.apiVersion;
}

/** Identity of a manager: equal for entries of the same manager, and for no others. */
function identityOf({ manager, operation, subresource, apiVersion }: Identity): string {
  const version = operation === 'Apply' ? '' : apiVersion;
  // The lengths separate the parts: names may contain any character.
  return `${manager.length},${subresource.length},${manager}${subresource}${operation}${version}`;
}

/**
 * Undefined if one of the entries is invalid: the caller then ignores all of them. A field set that is that of the same manager
 * in `known` is not decoded: clients usually send back what they received.
 */
export function decodeManagers(
  json: unknown,
  known: readonly ManagerEntry[] = [],
): readonly ManagerEntry[] | undefined {
  const parts = listOf(json);
  const knownFields = new Map(parts.length === 0 ? [] : known.map((entry) => [identityOf(entry), entry.fields]));
  const entries = new Map<string, ManagerEntry>();
  for (const part of parts) {
    const about = isMap(part) ? readIdentity(part) : undefined;
    if (!isMap(part) || about === undefined) return undefined;
    const identity = identityOf(about);
    const fields = readFields(part['fieldsV1'] ?? {}, knownFields.get(identity));
    if (fields === undefined) return undefined;
    // Of entries for the same manager, the last one counts.
    entries.set(identity, { ...about, time: timeOf(part['time']), fields });
  }
  return [...entries.values()];
}

/** The managers of entries in which one may occur twice: its last entry counts. */
export function lastOfEach(entries: readonly ManagerEntry[]): readonly ManagerEntry[] {
  if (entries.length < 2) return entries;
  const last = new Map(entries.map((entry) => [identityOf(entry), entry]));
  if (last.size === entries.length) return entries;
  return entries.filter((entry) => last.get(identityOf(entry)) === entry);
}

/** Undefined if it is invalid. */
function readIdentity(json: JsonMap): Identity | undefined {
  const { operation, fieldsType } = json;
  const apiVersion = textOf(json['apiVersion']);
  if (fieldsType !== 'FieldsV1' || (operation !== 'Apply' && operation !== 'Update') || apiVersion === '') {
    return undefined;
  }
  return { manager: textOf(json['manager']), operation, apiVersion, subresource: textOf(json['subresource']) };
}

/** Undefined if they are invalid. */
function readFields(json: unknown, known: FieldSet | undefined): FieldSet | undefined {
  if (known !== undefined && encodes(json, known)) return known;
  try {
    return decodeFields(json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const entryFields: ReadonlySet<string> = new Set([
  'manager',
  'operation',
  'apiVersion',
  'time',
  'fieldsType',
  'fieldsV1',
  'subresource',
]);

/** Whether all entries of `metadata.managedFields` are as a server writes them: no unknown fields, and the types of the others. */
export function areWellFormed(json: unknown): boolean {
  return Array.isArray(json) && json.every((entry: unknown) => isMap(entry) && isWellFormed(entry));
}

function isWellFormed(entry: JsonMap): boolean {
  for (const name in entry) {
    const value = ownValue(entry, name);
    if (!entryFields.has(name)) return false;
    if (name === 'fieldsV1' ? !isMap(value) : typeof value !== 'string') return false;
  }
  return entry['time'] === undefined || isCanonicalTime(textOf(entry['time']));
}

function timeOf(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === '' || isCanonicalTime(text)) return text === '' ? undefined : text;
  const ms = parseTimestamp(text);
  return ms === undefined ? undefined : formatTime(ms);
}

/** Whether a client asks for all managers to be forgotten: an empty list, or one empty entry. */
export function isReset(json: unknown): boolean {
  if (!Array.isArray(json)) return false;
  return json.length === 0 || (json.length === 1 && isMap(json[0]) && Object.keys(json[0]).length === 0);
}

/** The order of `metadata.managedFields`: appliers first, then by time. */
export function sortManagers(entries: readonly ManagerEntry[]): readonly ManagerEntry[] {
  const isSorted = entries.every(
    (entry, index) => index === 0 || compareEntries(entries[index - 1] ?? entry, entry) <= 0,
  );
  return isSorted ? entries : [...entries].sort(compareEntries);
}

function compareEntries(a: ManagerEntry, b: ManagerEntry): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time ?? '', b.time ?? '') ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  );
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The JSON text of `metadata.managedFields`; `encodeFields` gives the text of the fields. */
export function encodeManagers(entries: readonly ManagerEntry[], encodeFields: (fields: FieldSet) => string): string {
  return `[${entries.map((entry) => encodeEntry(entry, encodeFields)).join(',')}]`;
}

function encodeEntry(
  { manager, operation, apiVersion, time, fields, subresource }: ManagerEntry,
  encodeFields: (fields: FieldSet) => string,
): string {
  const named = manager === '' ? '' : `"manager":${JSON.stringify(manager)},`;
  const timed = time === undefined ? '' : `"time":"${time}",`;
  const head = `{${named}"operation":"${operation}","apiVersion":${JSON.stringify(apiVersion)},${timed}`;
  const tail = subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`;
  return `${head}"fieldsType":"FieldsV1","fieldsV1":${encodeFields(fields)}${tail}}`;
}

/** Managers as JSON values. */
export function managersAsJson(
  entries: readonly ManagerEntry[],
  encodeFields: (fields: FieldSet) => string,
): readonly MutableJsonMap[] {
  const json: unknown = JSON.parse(encodeManagers(entries, encodeFields));
  return Array.isArray(json) ? json.filter(isMap).map((entry) => ({ ...entry })) : [];
}

/** Managers as values for an encoder, which writes the texts of the fields as they are. */
export function managersAsFields(
  entries: readonly ManagerEntry[],
  encodeFields: (fields: FieldSet) => string,
): MutableJsonMap[] {
  return entries.map(({ fields, ...entry }) => ({
    ...entry,
    fieldsType: 'FieldsV1',
    fieldsV1: new JsonText(encodeFields(fields)),
  }));
}
