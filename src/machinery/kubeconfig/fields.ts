import { ownValue } from '../api/json-map.ts';
import type { JsonMap } from '../api/json-map.ts';

/** Undefined if absent or empty. */
export function textField(fields: JsonMap, name: string): string | undefined {
  const value = ownValue(fields, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
