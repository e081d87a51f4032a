/** Quantities by the name of their resource, as quotas add them up (upstream `apiserver/pkg/quota/v1/resources.go`). */
import {
  canonicalQuantity,
  formatNano,
  parseQuantityNano,
  type QuantityFormat,
  quantityFormat,
} from '../../api/quantity.ts';
import { mapAt } from '../select-field.ts';

export interface Amount {
  readonly nano: bigint;
  readonly format: QuantityFormat;
  /** As it was written; a sum has none. */
  readonly text?: string;
}

export type Amounts = ReadonlyMap<string, Amount>;

const none: Amount = { nano: 0n, format: 'decimal' };

function parseAmount(text: string): Amount {
  return { nano: parseQuantityNano(text) ?? 0n, format: quantityFormat(text), text: canonicalQuantity(text) };
}

export function countOf(count: number): Amount {
  return { nano: BigInt(count) * 1_000_000_000n, format: 'decimal' };
}

/** The quantities at a path of an object. */
export function amountsAt(owner: unknown, ...path: readonly string[]): Map<string, Amount> {
  return new Map(Object.entries(mapAt(owner, ...path)).map(([name, value]) => [name, parseAmount(String(value))]));
}

/** The format is that of the first amount, or of the second if the first is zero. */
export function addAmount(a: Amount = none, b: Amount = none): Amount {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format };
}

/** Adds each amount to that of its name. */
export function addTo(sums: Map<string, Amount>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? amount : addAmount(sum, amount));
  }
}

/** Raises each amount to that of `amounts` if it is lower. */
export function raiseTo(highest: Map<string, Amount>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const known = highest.get(name);
    if (known === undefined || amount.nano > known.nano) highest.set(name, amount);
  }
}

/** What `now` has more than `before`; what did not grow is left out. */
export function growth(now: Amounts, before: Amounts): Amounts {
  const grown = new Map<string, Amount>();
  for (const [name, { nano, format }] of now) {
    const difference = nano - (before.get(name)?.nano ?? 0n);
    if (difference > 0n) grown.set(name, { nano: difference, format });
  }
  return grown;
}

/** Only the amounts whose name is wanted. */
export function selectAmounts(amounts: Amounts, isWanted: (name: string) => boolean): Amounts {
  return new Map([...amounts].filter(([name]) => isWanted(name)));
}

/** Whether both have the same names with the same values, however they are written. */
export function sameAmounts(a: Amounts, b: Amounts): boolean {
  return a.size === b.size && [...a].every(([name, { nano }]) => b.get(name)?.nano === nano);
}

export function formatAmount({ nano, format, text }: Amount): string {
  return text ?? formatNano(nano, format);
}

/** As messages list them: `cpu=1,memory=1Gi`. */
export function formatAmounts(amounts: Amounts): string {
  return inOrder(amounts)
    .map(([name, amount]) => `${name}=${formatAmount(amount)}`)
    .join(',');
}

/** As objects have them. */
export function amountsAsJson(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(inOrder(amounts).map(([name, amount]) => [name, formatAmount(amount)]));
}

function inOrder(amounts: Amounts): readonly (readonly [string, Amount])[] {
  return [...amounts].sort(([a], [b]) => (a < b ? -1 : 1));
}
