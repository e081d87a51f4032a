import type { JsonMap } from '../../api/json-map.ts';

/** Undefined if absent or empty. */
export function textField(fields: JsonMap, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
