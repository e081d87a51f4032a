import type { Taint } from './taints.ts';

export interface Toleration {
  readonly key?: string;
  /** `Exists` or `Equal` (the default); an unknown one tolerates nothing. */
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  /** Absent: for ever. Zero or less: not at all. */
  readonly tolerationSeconds?: number;
}

/** Does this toleration cover that taint? An empty effect or key covers every one (upstream `Toleration.ToleratesTaint`). */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  return (
    isUnsetOr(toleration.effect, taint.effect) &&
    isUnsetOr(toleration.key, taint.key) &&
    acceptsValue(toleration, taint.value ?? '')
  );
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
