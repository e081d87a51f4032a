/** `4,812`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en', { maximumFractionDigits: 0 });
}

/** A number with at most three significant digits: `0.1`, `12.5`, `1,240`. */
export function formatAmount(amount: number): string {
  return amount.toLocaleString('en', amount >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
}

/** A value that is not known is a dash. */
export function formatKnown(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}

/** `0.1/s`; `stopped` at 0. */
export function formatRate(perSecond: number): string {
  return perSecond === 0 ? 'stopped' : `${formatAmount(perSecond)}/s`;
}

/** `1 node`, `12 nodes`. */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
