import type { NodeState } from '../protocol.ts';
import type { HealthTaintKey } from '../../machinery/api/taints.ts';
import type { Now } from '../../controller/model/node-state.ts';

/** What is known about the next act for a node. Times in Ms are on the monotonic clock, unless they are named wall. */
export interface NextStepEvidence {
  readonly now: Now;
  /** Status of the Ready condition, or `missing`. */
  readonly ready: string;
  /** Something holds it. */
  readonly isHeld: boolean;
  /** Acts of this process: it leads, and runs the controller that does them. */
  readonly acts: { readonly taints: boolean; readonly evicts: boolean };
  readonly mode: 'taint' | 'eviction';
  /** The NoExecute taint that it is to get. */
  readonly missingKey: HealthTaintKey | undefined;
  /** Time at which the queue serves the node; undefined: not known. */
  readonly slotAtMs: number | undefined;
  /** The pod of the node that is due first. */
  readonly first: { readonly pod: string; readonly atMs: number } | undefined;
  /** Wall time at which maintenance or pause of the node ends; undefined: no end is known. */
  readonly endsAtWallMs: number | undefined;
}

/** `atWallMs`: undefined if it is not known. */
export interface NextStep {
  readonly what: string;
  readonly atWallMs: number | undefined;
}

/** What happens to a node next if nothing else changes; undefined: nothing. */
export function buildNextStep(state: NodeState, evidence: NextStepEvidence): NextStep | undefined {
  switch (state) {
    case 'ready':
      return undefined;
    case 'paused':
      return buildEnd('the pause ends', evidence);
    case 'maintenance':
      return buildEnd('its planned maintenance ends at the latest', evidence);
    case 'suspect':
      return evidence.acts.taints ? { what: 'its conditions become Unknown', atWallMs: undefined } : undefined;
    case 'not-ready':
    case 'unreachable':
      return buildServing(evidence);
    case 'tainted':
    case 'emptying':
      return buildEviction(evidence);
  }
}

function buildEnd(what: string, { endsAtWallMs }: NextStepEvidence): NextStep | undefined {
  return endsAtWallMs === undefined ? undefined : { what, atWallMs: endsAtWallMs };
}

function buildServing({ acts, mode, missingKey, slotAtMs, isHeld, now }: NextStepEvidence): NextStep | undefined {
  if (!acts.taints || (mode === 'taint' && missingKey === undefined)) return undefined;
  const what = mode === 'taint' ? `it gets ${missingKey}:NoExecute` : 'its pods are deleted';
  return { what, atWallMs: isHeld ? undefined : toWallMs(slotAtMs, now) };
}

function buildEviction({ acts, ready, mode, first, isHeld, now }: NextStepEvidence): NextStep | undefined {
  if (ready === 'True')
    return acts.taints ? { what: 'its NoExecute taint is removed', atWallMs: undefined } : undefined;
  if (mode === 'eviction') return acts.taints ? { what: 'its pods are deleted', atWallMs: undefined } : undefined;
  if (!acts.evicts || first === undefined) return undefined;
  const isOverdue = isHeld && first.atMs <= now.monotonicMs;
  return { what: `pod ${first.pod} is evicted`, atWallMs: isOverdue ? undefined : toWallMs(first.atMs, now) };
}

function toWallMs(atMs: number | undefined, now: Now): number | undefined {
  return atMs === undefined || !Number.isFinite(atMs) ? undefined : now.wallMs + atMs - now.monotonicMs;
}
