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

/** Does this toleration cover that taint? (upstream `Toleration.ToleratesTaint`) */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (isSet(toleration.effect) && toleration.effect !== taint.effect) return false;
  if (isSet(toleration.key) && toleration.key !== taint.key) return false;
  switch (toleration.operator ?? '') {
    case '':
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    case 'Exists':
      return true;
    default:
      return false;
  }
}

function isSet(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}
