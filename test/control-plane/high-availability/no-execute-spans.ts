// The time spans in which each node had a NoExecute taint, with timeAdded.
import { noExecuteTaints } from '../../../src/machinery/api/taints.ts';
import type { TaintAct } from './taint-history.ts';

export interface NoExecuteSpan {
  readonly addedAtMs: number;
  /** `timeAdded`, in whole seconds. */
  readonly stampMs: number;
  /** Infinity if it was not removed. */
  readonly removedAtMs: number;
}

/** Only nodes that ever had one. */
export function findSpans(acts: readonly TaintAct[]): ReadonlyMap<string, readonly NoExecuteSpan[]> {
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
