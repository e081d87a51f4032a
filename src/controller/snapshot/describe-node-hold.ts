import { zoneName } from '../../machinery/api/zone.ts';
import { describeHoldSource, type EmptyingStatus, type NodeHold } from '../model/policy.ts';
import type { WaitingPod } from '../model/waiting-pods.ts';

/** What may hold the next act for a node; undefined: it does not apply. */
export interface NodeHoldEvidence {
  readonly nodeHold: NodeHold | undefined;
  /** The policy in whose planned maintenance the node is. */
  readonly maintenance: string | undefined;
  /** The policy whose breaker is open. */
  readonly breaker: string | undefined;
  readonly emptying: EmptyingStatus | undefined;
  readonly stale: string | undefined;
  readonly fullDisruption: boolean;
  /** The class of the outage for which its acts are held. */
  readonly outage: string | undefined;
  /** The node looks silent, and a live read of its lease does not confirm it. */
  readonly isUnconfirmed: boolean;
  /** The zone whose rate is 0, for a node that waits for a token of it. */
  readonly stoppedZone: string | undefined;
  /** Why the pod that is due first waits. */
  readonly wait: WaitingPod | undefined;
}

/** Why nothing further happens to a node now: the first reason that applies. Without numbers and times that move. */
export function describeNodeHold(evidence: NodeHoldEvidence): string | null {
  const { maintenance, breaker, emptying, stale, outage, stoppedZone } = evidence;
  const reasons = [
    describePolicyHold(evidence.nodeHold),
    maintenance === undefined ? undefined : `in planned maintenance (policy ${maintenance})`,
    breaker === undefined ? undefined : `the breaker of policy ${breaker} is open`,
    emptying === undefined
      ? undefined
      : `at most ${emptying.max} nodes of policy ${emptying.policy} are emptied at once`,
    stale === undefined ? undefined : `watch streams are stale (${stale})`,
    evidence.fullDisruption ? 'all zones are fully disrupted' : undefined,
    outage === undefined ? undefined : `${outage}: it became silent together with most nodes of several zones`,
    evidence.isUnconfirmed ? 'it looks silent, and a live read of its lease does not confirm it' : undefined,
    stoppedZone === undefined ? undefined : `the eviction rate of zone ${zoneName(stoppedZone)} is 0`,
    describeWait(evidence.wait),
  ];
  return reasons.find((reason) => reason !== undefined) ?? null;
}

function describePolicyHold(hold: NodeHold | undefined): string | undefined {
  if (hold === undefined) return undefined;
  const source = describeHoldSource(hold.source);
  return hold.mode === 'Observe' ? `mode Observe (${source}): nothing is written` : `paused by ${source}`;
}

function describeWait(wait: WaitingPod | undefined): string | undefined {
  if (wait === undefined) return undefined;
  const { policy, reason } = wait;
  return reason === 'rate'
    ? `its pod waits for a token of policy ${policy}`
    : `the Eviction API does not evict its pod (${reason})`;
}
