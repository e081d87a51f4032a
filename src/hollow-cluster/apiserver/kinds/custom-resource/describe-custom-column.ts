import { canonicalJson, isMap, type JsonMap, ownValue } from '../../../../machinery/api/json-map.ts';
import { parseTimestamp } from '../../../../machinery/api/timestamps.ts';
import { escapeAsGo } from '../../codec/parse-exact-json.ts';
import type { CustomColumn } from '../../resources.ts';
import { ageSince } from '../../printing/describe-age.ts';
import type { Cell, PrintedColumn } from '../../printing/describe-columns.ts';

const step = /\.([A-Za-z0-9_-]+)|\[\?\(@\.([A-Za-z0-9_-]+)=="([^"]*)"\)\]/g;

/** A column of a custom resource (upstream `apiextensions-apiserver/pkg/registry/customresource/tableconvertor`). */
export function describeCustomColumn({ name, type, description, jsonPath, ...rest }: CustomColumn): PrintedColumn {
  const cell = (object: JsonMap, nowMs: number): Cell => toCell(selectPath(object, jsonPath), type, nowMs);
  return { name, type, format: '', description, priority: rest.priority ?? 0, cell };
}

function toCell(value: unknown, type: CustomColumn['type'], nowMs: number): Cell {
  if (value === undefined) return null;
  if (type === 'string') return describeAny(value);
  if (type === 'date') return typeof value === 'string' ? describeDate(value, nowMs) : null;
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  if (typeof value !== 'number') return null;
  return type === 'integer' ? Math.trunc(value) : value;
}

function describeAny(value: unknown): string {
  if (value === null) return '<no value>';
  return typeof value === 'string' ? value : escapeAsGo(canonicalJson(value));
}

function describeDate(text: string, nowMs: number): string {
  const isUnset = text === '' || text === 'null';
  return isUnset || parseTimestamp(text) !== undefined ? ageSince(text, nowMs) : '<invalid>';
}

/** The value at fields and filters of lists; undefined without one. */
function selectPath(object: JsonMap, jsonPath: string): unknown {
  let value: unknown = object;
  for (const [, field, key, wanted] of jsonPath.matchAll(step)) {
    if (field !== undefined) value = isMap(value) ? ownValue(value, field) : undefined;
    else
      value = Array.isArray(value)
        ? value.find((item) => isMap(item) && ownValue(item, key ?? '') === wanted)
        : undefined;
  }
  return value;
}
