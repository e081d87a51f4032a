import type { FieldReader } from '../../../machinery/api/field-reader.ts';
import { isAbsent, mapOf, ownValue, textOf } from '../../../machinery/api/json-map.ts';
import { isQualifiedName } from '../../../machinery/api/names.ts';
import { parseQuantity } from '../../../machinery/api/quantity.ts';

const quantityText = "a quantity >= 0, such as '500m', '2' or '1.5Gi'";
const nameText =
  "'cpu', 'memory', 'ephemeral-storage', 'hugepages-…', or a name with a domain prefix, such as 'example.com/gpu'";
const standard: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/** Validates requests and limits: quantities, and no request above its limit. */
export function validateResources(fields: FieldReader, path: string, value: unknown): void {
  const resources = fields.part(path, value);
  const limits = validateAmounts(fields, `${path}.limits`, resources['limits']);
  // Requests that were defaulted from their limits are already validated.
  const requested = Object.entries(fields.part(`${path}.requests`, resources['requests']));
  const own = requested.filter(([name, shown]) => shown !== ownValue(mapOf(resources['limits']), name));
  const requests = validateAmounts(fields, `${path}.requests`, Object.fromEntries(own));
  for (const [name, { amount, shown }] of requests) {
    const limit = limits.get(name);
    if (limit === undefined) continue;
    if (amount > limit.amount || (amount < limit.amount && !mayOvercommit(name)))
      fields.refuse(
        `${path}.requests.${name}`,
        shown,
        `${mayOvercommit(name) ? 'at most ' : ''}its limit, ${String(limit.shown)}`,
      );
  }
}

interface Amount {
  readonly amount: number;
  readonly shown: unknown;
}

/** The valid amounts by resource; records a problem for the others. */
function validateAmounts(fields: FieldReader, path: string, value: unknown): ReadonlyMap<string, Amount> {
  const amounts = new Map<string, Amount>();
  for (const [name, shown] of Object.entries(fields.part(path, value))) {
    if (isAbsent(shown)) continue;
    if (!isResourceName(name)) fields.refuse(path, name, `one of ${nameText}`);
    const amount = parseQuantity(typeof shown === 'number' ? String(shown) : textOf(shown));
    if (amount === undefined || amount < 0) fields.refuse(`${path}.${name}`, shown, quantityText);
    else amounts.set(name, { amount, shown });
  }
  return amounts;
}

function isResourceName(name: string): boolean {
  if (standard.includes(name) || name.startsWith('hugepages-')) return true;
  return name.includes('/') && isQualifiedName(name);
}

/** Extended resources and huge pages cannot be overcommitted. */
function mayOvercommit(name: string): boolean {
  return standard.includes(name);
}
