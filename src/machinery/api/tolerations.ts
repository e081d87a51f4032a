import type { FieldReader } from './field-reader.ts';
import { listLimits } from './limits.ts';
import type { Taint } from './taints.ts';

export interface Toleration {
  readonly key?: string;
  /** `Exists`, `Equal` (the default), `Lt` or `Gt`; an unknown operator tolerates nothing. */
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  /** Absent: without limit. Zero or less: not at all. */
  readonly tolerationSeconds?: number;
}

const tolerationTexts = ['key', 'operator', 'value', 'effect'] as const satisfies readonly (keyof Toleration)[];

/** In place of the tolerations that are not used: the first that matches decides, so it counts where none before it does. */
const toleratesAll: Toleration = { operator: 'Exists' };

/**
 * The tolerations of a spec as received. What cannot be read must not evict: malformed seconds tolerate without limit, and
 * a list that is longer than is used ends with a toleration of everything.
 */
export function readTolerations(fields: FieldReader, value: unknown): readonly Toleration[] {
  const items = fields.items<Toleration>('spec.tolerations', value, tolerationTexts);
  const used = fields.limited('spec.tolerations', items, listLimits.tolerations, () => false);
  const tolerations = used === items ? items : [...used, toleratesAll];
  if (tolerations.every(({ tolerationSeconds }) => isWholeOrAbsent(tolerationSeconds))) return tolerations;
  return tolerations.map(({ tolerationSeconds, ...toleration }, index) => {
    const seconds = fields.whole(`spec.tolerations[${index}].tolerationSeconds`, tolerationSeconds);
    return seconds === undefined ? toleration : { ...toleration, tolerationSeconds: seconds };
  });
}

function isWholeOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || Number.isSafeInteger(value);
}

/** True if the toleration tolerates the taint. An empty effect or key matches all (upstream `Toleration.ToleratesTaint`). */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  return (
    isUnsetOr(toleration.effect, taint.effect) &&
    isUnsetOr(toleration.key, taint.key) &&
    acceptsValue(toleration, taint.value ?? '')
  );
}

/** Comparisons up to which no index is built: most pods have some five tolerations, most nodes one or two taints. */
const comparedMax = 256;

/**
 * Finds the first toleration in list order that matches a taint, which is the one that decides. For `taints` taints in time
 * linear in both lists.
 */
export function tolerationFinder(
  tolerations: readonly Toleration[],
  taints: number,
): (taint: Taint) => Toleration | undefined {
  if (tolerations.length * taints <= comparedMax)
    return (taint) => tolerations.find((candidate) => tolerates(candidate, taint));
  const index = new TolerationIndex(tolerations);
  return (taint) => index.find(taint);
}

/** First places of the tolerations of one effect: of equal ones only the first can decide. */
interface Places {
  /** By key. */
  readonly exists: Map<string, number>;
  /** By key and value. */
  readonly equal: Map<string, number>;
  /** By operator and key. */
  readonly compared: Map<string, Bound[]>;
}

/** A toleration that compares. Of one operator and key only those count that tolerate more than each before them. */
interface Bound {
  readonly place: number;
  readonly value: bigint;
}

class TolerationIndex {
  readonly #tolerations: readonly Toleration[];
  /** Empty effect: any. */
  readonly #byEffect = new Map<string, Places>();

  constructor(tolerations: readonly Toleration[]) {
    this.#tolerations = tolerations;
    for (const [place, toleration] of tolerations.entries()) this.#add(place, toleration);
  }

  find({ key, effect, value }: Taint): Toleration | undefined {
    let first = Infinity;
    for (const places of [this.#byEffect.get(effect), this.#byEffect.get('')]) {
      if (places === undefined) continue;
      const { exists, equal, compared } = places;
      first = Math.min(first, exists.get(key) ?? Infinity, exists.get('') ?? Infinity);
      if (compared.size > 0) first = Math.min(first, firstCompared(compared, key, value));
      if (equal.size === 0) continue;
      first = Math.min(first, equal.get(pairOf(key, value)) ?? Infinity, equal.get(pairOf('', value)) ?? Infinity);
    }
    return this.#tolerations[first];
  }

  #add(place: number, toleration: Toleration): void {
    const { key = '', value, effect = '' } = toleration;
    let places = this.#byEffect.get(effect);
    if (places === undefined)
      this.#byEffect.set(effect, (places = { exists: new Map(), equal: new Map(), compared: new Map() }));
    if (toleration.operator === 'Exists') setFirst(places.exists, key, place);
    else if (isEqualOperator(toleration)) setFirst(places.equal, pairOf(key, value), place);
    else addBound(places.compared, toleration, place);
  }
}

function addBound(compared: Map<string, Bound[]>, { operator, key = '', value }: Toleration, place: number): void {
  const bound = readInteger(value);
  if (bound === undefined || !isComparison(operator)) return;
  const name = `${operator} ${key}`;
  const bounds = compared.get(name);
  const last = bounds?.at(-1);
  if (bounds === undefined) compared.set(name, [{ place, value: bound }]);
  else if (last === undefined || compares(operator, last.value, bound)) bounds.push({ place, value: bound });
}

/** Place of the first toleration whose comparison the value of a taint meets; Infinity: none. */
function firstCompared(compared: ReadonlyMap<string, readonly Bound[]>, key: string, text: string | undefined): number {
  const value = readInteger(text);
  if (value === undefined) return Infinity;
  const first = (operator: Comparison, name: string): number => {
    const bounds = compared.get(`${operator} ${name}`) ?? [];
    let [from, to] = [0, bounds.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (compares(operator, value, bounds[middle]?.value ?? value)) to = middle;
      else from = middle + 1;
    }
    return bounds[from]?.place ?? Infinity;
  };
  return Math.min(...comparisons.flatMap((operator) => [first(operator, key), first(operator, '')]));
}

function setFirst(places: Map<string, number>, key: string, place: number): void {
  if (!places.has(key)) places.set(key, place);
}

/** Different for different pairs, whatever is in them. */
function pairOf(key: string, value = ''): string {
  return value === '' ? ` ${key}` : `${value.length} ${value} ${key}`;
}

/** Whether the first toleration that matches the taint has no time limit. */
export function toleratesForever(tolerations: readonly Toleration[], taint: Taint): boolean {
  const first = tolerations.find((toleration) => tolerates(toleration, taint));
  return first !== undefined && typeof first.tolerationSeconds !== 'number';
}

function isUnsetOr(wanted: string | undefined, actual: string): boolean {
  return wanted === undefined || wanted === '' || wanted === actual;
}

function acceptsValue(toleration: Toleration, value: string): boolean {
  const { operator } = toleration;
  if (isEqualOperator(toleration)) return (toleration.value ?? '') === value;
  if (!isComparison(operator)) return operator === 'Exists';
  const [bound, compared] = [readInteger(toleration.value), readInteger(value)];
  return bound !== undefined && compared !== undefined && compares(operator, compared, bound);
}

const comparisons = ['Lt', 'Gt'] as const;
type Comparison = (typeof comparisons)[number];

function isComparison(operator: string | undefined): operator is Comparison {
  return operator === 'Lt' || operator === 'Gt';
}

/** Whether the value of a taint is less or greater than that of a toleration (upstream `compareNumericValues`). */
function compares(operator: Comparison, value: bigint, bound: bigint): boolean {
  return operator === 'Lt' ? value < bound : value > bound;
}

const decimalInteger = /^(?:0|-?[1-9]\d{0,18})$/u;

/** An integer of 64 bits without sign `+` and leading zeros; undefined for any other text, which compares with nothing. */
function readInteger(text = ''): bigint | undefined {
  if (!decimalInteger.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function isEqualOperator({ operator = '' }: Toleration): boolean {
  return operator === '' || operator === 'Equal';
}
