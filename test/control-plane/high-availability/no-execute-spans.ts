// When each node carried its NoExecute taint, and since when by the stamp.
import { noExecuteTaints } from '../../../src/api/taints.ts';
import type { TaintAct } from './taint-history.ts';

export interface NoExecuteSpan {
  readonly addedAtMs: number;
  /** `timeAdded`, in whole seconds. */
  readonly stampMs: number;
  /** Infinity if it is there to the end. */
  readonly removedAtMs: number;
}

/** Of nodes that ever carried one. */
export function deriveSpans(acts: readonly TaintAct[]): ReadonlyMap<string, readonly NoExecuteSpan[]> {
  const spans = new Map<string, NoExecuteSpan[]>();
  for (const { node, atMs, added, removed } of acts) {
    if (noExecuteTaints([...added, ...removed]).length === 0) continue;
    const own = spans.get(node) ?? [];
    spans.set(node, own);
    const last = own.at(-1);
    if (noExecuteTaints(removed).length > 0 && last !== undefined) own[own.length - 1] = { ...last, removedAtMs: atMs };
    for (const { timeAdded } of noExecuteTaints(added))
      own.push({ addedAtMs: atMs, stampMs: Date.parse(timeAdded ?? ''), removedAtMs: Number.POSITIVE_INFINITY });
  }
  return spans;
}
