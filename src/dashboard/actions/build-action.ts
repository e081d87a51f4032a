import { isFiltering } from '../nodes/select-nodes.ts';
import type { NodeFilter } from '../page/parse-route.ts';

/** The body of an action. */
export type Action =
  | {
      readonly kind: 'cut';
      readonly nodes: readonly string[] | null;
      readonly zone: string | null;
      readonly share: number | null;
      readonly seconds: number | null;
    }
  | { readonly kind: 'stall-api'; readonly seconds: number }
  | { readonly kind: 'stop-leader' }
  | { readonly kind: 'undo' };

/** Whose network is cut. */
export type CutTarget =
  | { readonly kind: 'filter' }
  | { readonly kind: 'all' }
  | { readonly kind: 'zone'; readonly zone: string };

interface CutRequest {
  readonly target: CutTarget;
  /** Above 0, at most 1. */
  readonly share: number;
  /** Null: until it is undone. */
  readonly seconds: number | null;
}

/** Names in one request. */
export const cutNamesMax = 1_000;

/** `selected`: the names of the nodes that the filter selects. */
export function buildCut(
  { target, share, seconds }: CutRequest,
  filter: NodeFilter,
  selected: readonly string[],
): Action {
  const part = share >= 1 ? null : share;
  if (target.kind === 'zone') return { kind: 'cut', nodes: null, zone: target.zone, share: part, seconds };
  if (target.kind === 'all' || !isFiltering(filter))
    return { kind: 'cut', nodes: null, zone: null, share: part, seconds };
  const isOneZone = filter.zone !== null && filter.policy === null && filter.name === '' && filter.states.length === 0;
  if (isOneZone) return { kind: 'cut', nodes: null, zone: filter.zone, share: part, seconds };
  return { kind: 'cut', nodes: selected.slice(0, cutNamesMax), zone: null, share: part, seconds };
}

/** The value of an option of the list of targets, and back: zones may have any name. */
export function formatTarget(target: CutTarget): string {
  return target.kind === 'zone' ? `zone:${target.zone}` : target.kind;
}

export function parseTarget(text: string): CutTarget {
  if (text.startsWith('zone:')) return { kind: 'zone', zone: text.slice('zone:'.length) };
  return text === 'all' ? { kind: 'all' } : { kind: 'filter' };
}
