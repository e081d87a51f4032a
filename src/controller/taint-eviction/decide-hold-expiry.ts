// Decides what follows when a deletion was held for the maximum time of its reason, from a live read of the node.
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { isForHealth, noExecuteTaints, type Taint } from '../../machinery/api/taints.ts';
import type { EvictionHold } from '../model/decisions.ts';
import type { LiveNode } from '../model/live-node.ts';
import { decideEviction, type EvictAt } from './decide-eviction.ts';

/** Evidence about a node when a hold has expired. Where reading nodes is not permitted it is the cached node. */
type NodeEvidence = Exclude<LiveNode, 'not-permitted'>;

/** What a taint is a reason for: the health of the node, or whatever its key stands for. */
export type TaintKind = 'health' | { readonly key: string };

/** The taint for which a pod is to be deleted. */
export type EvictionCause = Pick<EvictAt, 'taint' | 'forHealth'>;

export function kindOf({ taint, forHealth }: EvictionCause): TaintKind {
  return forHealth ? 'health' : { key: taint };
}

export function isSameKind(a: TaintKind, b: TaintKind): boolean {
  return a === 'health' || b === 'health' ? a === b : a.key === b.key;
}

function isOfKind(taint: Taint, kind: TaintKind): boolean {
  return isSameKind(kindOf({ taint: taint.key, forHealth: isForHealth(taint) }), kind);
}

/** Whether the node has no NoExecute taint of this kind, as far as its list is known. */
export function lacksTaint({ taints, isTaintListCut }: NodeView, kind: TaintKind): boolean {
  return isTaintListCut !== true && !noExecuteTaints(taints).some((taint) => isOfKind(taint, kind));
}

/** `hold`: for another maximum period. */
export type HoldExpiry = 'evict' | 'hold' | 'read-again';

/**
 * For a taint of another client: a pod is evicted from a node that still has it. For the health of the node: from one that
 * is not Ready=True and has a health taint that ends for this pod. Also from a Ready
 * node that still has the taint after its own maximum: another client keeps it there, and kube-controller-manager would
 * honour it. A node without such a taint, or Ready though only its lease was known, or deleted, shows that the cache is
 * behind: hold.
 */
export function decideHoldExpiry(
  { why, kind }: { readonly why: EvictionHold; readonly kind: TaintKind },
  pod: Pick<PodView, 'tolerations' | 'terminating'>,
  live: NodeEvidence,
): HoldExpiry {
  if (live === 'unreadable') return 'read-again';
  if (live === 'gone' || !endsFor(pod, live, kind)) return 'hold';
  if (kind !== 'health') return 'evict';
  const isReady = findCondition(live.conditions, 'Ready')?.status === 'True';
  return isReady && why !== 'node-is-ready' ? 'hold' : 'evict';
}

/** Whether the node has a taint of this kind that the pod does not tolerate without a time limit. */
function endsFor(pod: Pick<PodView, 'tolerations' | 'terminating'>, { taints }: NodeView, kind: TaintKind): boolean {
  const ofKind = noExecuteTaints(taints).filter((taint) => isOfKind(taint, kind));
  const running = ofKind.map((taint) => ({ taint, sinceMs: 0 }));
  return decideEviction(pod, { taints: running, boundMs: 0 }).kind === 'evict';
}
