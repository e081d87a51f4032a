/** Kubernetes quantities: a number with a binary, decimal or exponent suffix. */
import { ownValue } from './json-map.ts';

const quantityText = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+)?$/;
const binarySuffixes: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const fractionSuffixes: readonly string[] = ['n', 'u', 'm'];
const decimalSuffixes: readonly string[] = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
/** Upstream keeps the text of a quantity of at most so many digits. */
const keptDigitsMax = 18;
const nanoExponent = -9;
/** Larger exponents count as this one: no resource has so much, and exact powers would take too long. */
const exponentMax = 999;
const nanoPerUnit = 1_000_000_000n;
const parts: Readonly<Record<string, number>> = { m: 1e3, u: 1e6, n: 1e9 };

/** The value of a quantity in its base unit; undefined if malformed. Exact up to 2^53. */
export function parseQuantity(text: string): number | undefined {
  const match = quantityText.exec(text);
  if (match === null) return undefined;
  const [, digits = '', suffix = ''] = match;
  if (isExponent(suffix)) return Number(digits + suffix);
  // Divided, not multiplied, so that 300m equals 0.3 exactly.
  const part = ownValue(parts, suffix);
  return part === undefined ? Number(digits) * factor(suffix) : Number(digits) / part;
}

function isExponent(suffix: string): boolean {
  return /^[eE][+-]?\d/.test(suffix);
}

function factor(suffix: string): number {
  const binary = binarySuffixes.indexOf(suffix);
  if (binary >= 0) return 1_024 ** binary;
  return 1_000 ** decimalSuffixes.indexOf(suffix);
}

/** Whether two quantities have the same value: `1000m` is `1`. A malformed quantity equals only itself. */
export function sameQuantity(a: string, b: string): boolean {
  if (a === b) return true;
  const number = parseQuantity(a);
  return number !== undefined && number === parseQuantity(b);
}

/** A whole number of bytes in the shortest exact form, as in the API server: `1024` is `1Ki`, `1500` is `1500`. */
export function formatBinary(bytes: number): string {
  return shortest(bytes, 1_024, binarySuffixes);
}

/** A count in the shortest exact form: `1000` is `1k`; a fraction is formatted in thousandths. */
export function formatDecimal(count: number): string {
  return Number.isInteger(count) ? shortest(count, 1_000, decimalSuffixes) : `${Math.round(count * 1_000)}m`;
}

function shortest(value: number, step: number, suffixes: readonly string[]): string {
  let index = 0;
  let rest = value;
  while (rest !== 0 && rest % step === 0 && index < suffixes.length - 1) {
    rest /= step;
    index += 1;
  }
  return `${rest}${suffixes[index]}`;
}

/**
 * The value in billionths, exact up to an exponent of 999; smaller fractions are rounded up, as in the API server. Undefined if
 * malformed.
 */
export function parseQuantityNano(value: unknown): bigint | undefined {
  const match = typeof value === 'string' ? quantityText.exec(value) : null;
  if (match === null) return undefined;
  const [, digits = '', suffix = ''] = match;
  const [whole = '', fraction = ''] = digits.replace(/^[+-]/, '').split('.');
  const scaled = BigInt(whole + fraction) * nanoFactor(suffix);
  const divisor = 10n ** BigInt(fraction.length) * nanoDivisor(suffix);
  const nano = (scaled + divisor - 1n) / divisor;
  return digits.startsWith('-') ? -nano : nano;
}

function nanoFactor(suffix: string): bigint {
  if (isExponent(suffix)) return 10n ** BigInt(Math.max(0, 9 + boundedExponent(suffix)));
  const part = ownValue(parts, suffix);
  return part === undefined ? BigInt(factor(suffix)) * 1_000_000_000n : 1_000_000_000n / BigInt(part);
}

/** Divisor for exponents below 10^-9. */
function nanoDivisor(suffix: string): bigint {
  return isExponent(suffix) ? 10n ** BigInt(Math.max(0, -9 - boundedExponent(suffix))) : 1n;
}

function boundedExponent(suffix: string): number {
  return Math.max(-exponentMax, Math.min(exponentMax, Number(suffix.slice(1))));
}

/**
 * The form in which the API server writes a quantity (upstream `Quantity.String`): no fraction, and the largest suffix of
 * its format that keeps it exact. `1024Mi` is `1Gi`, `0.5` is `500m`, `1000m` is `1`. A malformed quantity is unchanged, as is
 * one with a larger exponent than is exact.
 */
export function canonicalQuantity(text: string): string {
  const nano = parseQuantityNano(text);
  const [, digits = '', suffix = ''] = quantityText.exec(text) ?? [];
  const isExact = !isExponent(suffix) || Math.abs(Number(suffix.slice(1))) <= exponentMax;
  if (nano === undefined || !isExact || keepsText(digits, suffix)) return text;
  return formatNano(nano, suffix);
}

/** Billionths in the form in which the API server writes a quantity that had this suffix. */
function formatNano(nano: bigint, suffix: string): string {
  if (nano === 0n) return '0';
  if (isExponent(suffix)) return inThousands(nano, (exponent) => (exponent === 0 ? '' : `e${exponent}`));
  return (isBinary(suffix) ? inKibi(nano) : undefined) ?? inThousands(nano, decimalSuffix);
}

/** Undefined below 1Ki and if not whole: such binary quantities are written as decimal ones. */
function inKibi(nano: bigint): string | undefined {
  const whole = nano / nanoPerUnit;
  if (whole * nanoPerUnit !== nano || absolute(whole) < 1_024n) return undefined;
  const { rest, steps } = divided(whole, 1_024n, binarySuffixes.length - 1);
  return `${rest}${binarySuffixes[steps]}`;
}

/** Upstream keeps some texts that are not canonical, such as `+2` and `1.250` (`ParseQuantity`, its fast path). */
function keepsText(digits: string, suffix: string): boolean {
  const [whole = '', fraction = ''] = digits.replace(/^[+-]/, '').split('.');
  const all = whole + fraction;
  if (all.length > keptDigitsMax) return false;
  if (isBinary(suffix)) return !digits.includes('.') && BigInt(whole) % 8n !== 0n;
  const scale = exponentOf(suffix) - fraction.length;
  return scale % 3 === 0 && scale >= nanoExponent && !all.endsWith('000') && !all.startsWith('0');
}

function isBinary(suffix: string): boolean {
  return binarySuffixes.indexOf(suffix) > 0;
}

function exponentOf(suffix: string): number {
  if (isExponent(suffix)) return Number(suffix.slice(1));
  const part = ownValue(parts, suffix);
  return part === undefined ? 3 * decimalSuffixes.indexOf(suffix) : -Math.round(Math.log10(part));
}

/** Suffix of a decimal exponent, a multiple of three from -9 to 18. */
function decimalSuffix(exponent: number): string {
  const suffix = exponent < 0 ? fractionSuffixes[3 + exponent / 3] : decimalSuffixes[exponent / 3];
  return suffix ?? '';
}

function inThousands(nano: bigint, suffixOf: (exponent: number) => string): string {
  const { rest, steps } = divided(nano, 1_000n, decimalSuffixes.length + 2);
  return `${rest}${suffixOf(3 * (steps - 3))}`;
}

/** Divides as long as the rest is whole. */
function divided(value: bigint, step: bigint, stepsMax: number): { readonly rest: bigint; readonly steps: number } {
  let rest = value;
  let steps = 0;
  while (steps < stepsMax && rest % step === 0n) {
    rest /= step;
    steps += 1;
  }
  return { rest, steps };
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
