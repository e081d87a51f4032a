/**
 * From client-side to server-side apply (upstream `lastAppliedManager`, `lastAppliedUpdater`): an apply by `kubectl` may
 * take over the fields that its annotation says it applied, and keeps the annotation up to date.
 */
import { escapeAsGo, parseExactJson, stringifyExact } from '../codec/parse-exact-json.ts';
import { isMap, type JsonMap, mapOf, sortKeys, textOf } from '../../../machinery/api/json-map.ts';
import { isMap as isObject, type MutableJsonMap } from '../../../machinery/api/select-field.ts';
import { annotationBytesMax, annotationBytesOf } from '../validation/field-checks.ts';
import { collectFields } from './collect-fields.ts';
import { compareObjects } from './compare-values.ts';
import { FieldSet } from './field-set.ts';
import type { Conflict } from './applied-object.ts';
import { validateValue } from './value-problems.ts';
import type { Version } from './value-type.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
/** The only manager for which the annotation counts. */
export const kubectlManager = 'kubectl';

/** The conflicts that remain, when the fields of the annotation with the values of the object are left out. */
export function conflictsBeyondLastApplied(
  conflicts: readonly Conflict[],
  live: JsonMap,
  version: Version,
): readonly Conflict[] {
  const allowed = fieldsOfLastApplied(live, version);
  return conflicts.filter(({ path }) => !allowed.has(path));
}

function fieldsOfLastApplied(live: JsonMap, { apiVersion, type }: Version): FieldSet {
  const applied = parse(textOf(mapOf(mapOf(live['metadata'])['annotations'])[annotation]));
  if (applied?.['apiVersion'] !== apiVersion) return FieldSet.empty;
  const { apiVersion: _apiVersion, kind: _kind, ...object } = applied;
  if (validateValue(type, object).length > 0) return FieldSet.empty;
  const { changed, removed } = compareObjects(type, object, live);
  return collectFields(type, object).difference(changed).difference(removed);
}

function parse(text: string): JsonMap | undefined {
  try {
    const value = parseExactJson(text);
    return isMap(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Sets the annotation to the applied configuration, if the object has one and it still fits. */
export function updateLastApplied(object: MutableJsonMap, applied: JsonMap): MutableJsonMap {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {};
  if (textOf(annotations[annotation]) === '') return object;
  const { [annotation]: _last, ...others } = annotations;
  const updated = { ...others, [annotation]: describeApplied(applied) };
  const fits = annotationBytesOf(updated) <= annotationBytesMax;
  return { ...object, metadata: { ...metadata, annotations: fits ? updated : others } };
}

/** Applied configuration as Go encodes it: sorted keys, a line end, and without the annotation itself. */
function describeApplied(applied: JsonMap): string {
  const metadata = mapOf(applied['metadata']);
  if (!isMap(metadata['annotations'])) return encode(applied);
  const { [annotation]: _last, ...annotations } = metadata['annotations'];
  return encode({ ...applied, metadata: { ...metadata, annotations } });
}

function encode(value: JsonMap): string {
  return `${escapeAsGo(stringifyExact(sortKeys(value)))}\n`;
}
