import type { FieldReader } from './field-reader.ts';
import { listLimits } from './limits.ts';
import type { Taint } from './taints.ts';

export interface Toleration {
  readonly key?: string;
  /** `Exists` or `Equal` (the default); an unknown operator tolerates nothing. */
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
      const { exists, equal } = places;
      first = Math.min(first, exists.get(key) ?? Infinity, exists.get('') ?? Infinity);
      if (equal.size === 0) continue;
      first = Math.min(first, equal.get(pairOf(key, value)) ?? Infinity, equal.get(pairOf('', value)) ?? Infinity);
    }
    return this.#tolerations[first];
  }

  #add(place: number, toleration: Toleration): void {
    const { key = '', value, effect = '' } = toleration;
    let places = this.#byEffect.get(effect);
    if (places === undefined) this.#byEffect.set(effect, (places = { exists: new Map(), equal: new Map() }));
    if (toleration.operator === 'Exists') setFirst(places.exists, key, place);
    else if (isEqualOperator(toleration)) setFirst(places.equal, pairOf(key, value), place);
  }
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
  if (isEqualOperator(toleration)) return (toleration.value ?? '') === value;
  return toleration.operator === 'Exists';
}

function isEqualOperator({ operator = '' }: Toleration): boolean {
  return operator === '' || operator === 'Equal';
}
