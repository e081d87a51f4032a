import { isMap, type JsonMap } from '../../api/json-map.ts';
import type { CustomColumn } from '../resources.ts';
import { ageSince } from './describe-age.ts';
import type { Cell, PrintedColumn } from './describe-columns.ts';

const step = /\.([A-Za-z0-9_-]+)|\[\?\(@\.([A-Za-z0-9_-]+)=="([^"]*)"\)\]/g;

/** A column of a custom resource (upstream `apiextensions-apiserver/pkg/registry/customresource/tableconvertor`). */
export function describeCustomColumn({ name, type, description, jsonPath, ...rest }: CustomColumn): PrintedColumn {
  const cell = (object: JsonMap, nowMs: number): Cell => toCell(selectPath(object, jsonPath), type, nowMs);
  return { name, type, format: '', description, priority: rest.priority ?? 0, cell };
}

function toCell(value: unknown, type: CustomColumn['type'], nowMs: number): Cell {
  if (type === 'integer') return typeof value === 'number' ? value : null;
  if (typeof value !== 'string') return null;
  return type === 'date' ? ageSince(value, nowMs) : value;
}

/** The value at fields and filters of lists; undefined without one. */
function selectPath(object: JsonMap, jsonPath: string): unknown {
  let value: unknown = object;
  for (const [, field, key, wanted] of jsonPath.matchAll(step)) {
    if (field !== undefined) value = isMap(value) ? value[field] : undefined;
    else value = Array.isArray(value) ? value.find((item) => isMap(item) && item[key ?? ''] === wanted) : undefined;
  }
  return value;
}
