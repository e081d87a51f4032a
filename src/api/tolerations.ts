import type { FieldReader } from './field-reader.ts';
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

/** The tolerations of a spec as received. Malformed seconds tolerate without limit: a malformed value must not evict. */
export function readTolerations(fields: FieldReader, value: unknown): readonly Toleration[] {
  const tolerations = fields.items<Toleration>('spec.tolerations', value, tolerationTexts);
  if (tolerations.every(({ tolerationSeconds }) => isWholeOrAbsent(tolerationSeconds))) return tolerations;
  return tolerations.map(({ tolerationSeconds, ...toleration }, index) => {
    const seconds = fields.whole(`spec.tolerations[${index}].tolerationSeconds`, tolerationSeconds);
    return seconds === undefined ? toleration : { ...toleration, tolerationSeconds: seconds };
  });
}

function isWholeOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || Number.isSafeInteger(value);
}

/** Whether it tolerates the taint. An empty effect or key matches all (upstream `Toleration.ToleratesTaint`). */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  return (
    isUnsetOr(toleration.effect, taint.effect) &&
    isUnsetOr(toleration.key, taint.key) &&
    acceptsValue(toleration, taint.value ?? '')
  );
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
  switch (toleration.operator ?? '') {
    case '':
    case 'Equal':
      return (toleration.value ?? '') === value;
    case 'Exists':
      return true;
    default:
      return false;
  }
}
