import type { FieldReader } from '../../api/field-reader.ts';
import { isAbsent, mapOf, textOf } from '../../api/json-map.ts';
import { isQualifiedName } from '../../api/names.ts';
import { parseQuantity } from '../../api/quantity.ts';

const quantityText = "an amount that is not negative, as '500m', '2' or '1.5Gi'";
const nameText = "'cpu', 'memory', 'ephemeral-storage', 'hugepages-…', or a name behind a domain, as 'example.com/gpu'";
const standard: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/** What a container asks for and may have: amounts, and never more asked for than allowed. */
export function assessResources(fields: FieldReader, path: string, value: unknown): void {
  const resources = fields.part(path, value);
  const limits = assessAmounts(fields, `${path}.limits`, resources['limits']);
  // What was only limited is requested as well by now, and has been looked at.
  const requested = Object.entries(fields.part(`${path}.requests`, resources['requests']));
  const own = requested.filter(([name, shown]) => shown !== mapOf(resources['limits'])[name]);
  const requests = assessAmounts(fields, `${path}.requests`, Object.fromEntries(own));
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

/** Notes what is no amount, and says which there are. */
function assessAmounts(fields: FieldReader, path: string, value: unknown): ReadonlyMap<string, Amount> {
  const amounts = new Map<string, Amount>();
  for (const [name, shown] of Object.entries(fields.part(path, value))) {
    if (isAbsent(shown)) continue;
    if (!isResourceName(name)) fields.refuse(path, name, `as a key: ${nameText}`);
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

/** Extended resources and huge pages are given out whole. */
function mayOvercommit(name: string): boolean {
  return standard.includes(name);
}
