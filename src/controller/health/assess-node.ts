// The one decision everything else hangs on: has this node fallen silent? Silence is measured by our own clock from the
// moment at which we noticed a change. What kubelets write into leases and statuses is only compared with itself.
import {
  type Condition,
  findCondition,
  heartbeatConditionTypes,
  neverUpdated,
  stoppedPosting,
} from '../../api/conditions.ts';
import type { LeaseView } from '../../api/lease.ts';
import type { NodeView } from '../../api/node.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { GraceRule } from '../decisions.ts';
import type { HealthRecord } from './health-record.ts';

export interface Now {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Status of the Ready condition, or `missing` while the kubelet has not posted one. */
export type ReadyAnswer = string;
export const missing = 'missing';

export function readyOf(node: NodeView): ReadyAnswer {
  return findCondition(node.conditions, 'Ready')?.status ?? missing;
}

/**
 * Takes notice of what the caches show of a node: a changed Ready heartbeat or a renewed lease is a sign of life
 * (upstream `tryUpdateNodeHealth`, up to the lease). A status heartbeat does not make us forget the lease, as it does
 * upstream: decision 0004.
 */
export function deriveRecord(
  record: HealthRecord | undefined,
  seen: { readonly node: NodeView; readonly lease: LeaseView | undefined },
  now: Now,
): HealthRecord {
  const known = record !== undefined && record.uid === seen.node.uid ? record : undefined;
  return hearLease(hearStatus(known, seen.node, now), seen.lease, now.monotonicMs);
}

function hearStatus(record: HealthRecord | undefined, node: NodeView, now: Now): HealthRecord {
  const ready = findCondition(node.conditions, 'Ready');
  if (ready === undefined) return record === undefined ? recordFromCreation(node, now) : { ...record, hasReady: false };
  if (record === undefined || !record.hasReady) return recordFromNow(node, ready, now.monotonicMs);
  if (record.readyHeartbeat === ready.lastHeartbeatTime) return hearVerdict(record, ready, now.monotonicMs);
  const transitioned = record.readyTransition !== ready.lastTransitionTime;
  return {
    ...record,
    heardAtMs: now.monotonicMs,
    channel: 'status',
    readyChangedAtMs: transitioned ? now.monotonicMs : record.readyChangedAtMs,
    readyHeartbeat: ready.lastHeartbeatTime,
    readyTransition: ready.lastTransitionTime,
    heardSinceUnknown: true,
  };
}

/** Unknown without a heartbeat was said by a controller: by another replica while we stood by, or by us. */
function hearVerdict(record: HealthRecord, ready: Condition, monotonicMs: number): HealthRecord {
  const { status, lastTransitionTime } = ready;
  if (status !== 'Unknown' || record.readyTransition === lastTransitionTime) return record;
  return {
    ...record,
    readyChangedAtMs: monotonicMs,
    readyTransition: lastTransitionTime,
    heardSinceUnknown: false,
  };
}

/** A node that never posted a status is as old as the API server says, and no younger than nothing; if it says nothing, new. */
function recordFromCreation(node: NodeView, now: Now): HealthRecord {
  const ageMs = node.createdAtMs === 0 ? 0 : Math.max(0, now.wallMs - node.createdAtMs);
  const atMs = now.monotonicMs - ageMs;
  return {
    uid: node.uid,
    heardAtMs: atMs,
    channel: 'creation',
    readyChangedAtMs: atMs,
    readyHeartbeat: undefined,
    readyTransition: undefined,
    hasReady: false,
    lease: undefined,
    heardSinceUnknown: false,
  };
}

function recordFromNow(node: NodeView, ready: Condition, monotonicMs: number): HealthRecord {
  return {
    uid: node.uid,
    heardAtMs: monotonicMs,
    channel: 'status',
    readyChangedAtMs: monotonicMs,
    readyHeartbeat: ready.lastHeartbeatTime,
    readyTransition: ready.lastTransitionTime,
    hasReady: true,
    lease: undefined,
    heardSinceUnknown: false,
  };
}

function hearLease(record: HealthRecord, lease: LeaseView | undefined, monotonicMs: number): HealthRecord {
  if (lease === undefined || !isRenewed(lease, record.lease)) return record;
  return {
    ...record,
    lease,
    heardAtMs: monotonicMs,
    channel: 'lease',
    heardSinceUnknown: record.heardSinceUnknown || record.lease !== undefined,
  };
}

/**
 * The first lease we see counts; after that a changed renewTime does, and none at all does not. Changed, not later: a
 * kubelet whose clock was set back is as alive as any other (decision 0004).
 */
function isRenewed(lease: LeaseView, known: LeaseView | undefined): boolean {
  if (known === undefined) return true;
  return lease.renewTime !== undefined && lease.renewTime !== known.renewTime;
}

export interface Graces {
  readonly nodeMonitorGracePeriodMs: number;
  readonly nodeStartupGracePeriodMs: number;
}

export type Verdict =
  /** `silentFromMs`: the first moment at which it would be silent. */
  | { readonly kind: 'alive'; readonly silentFromMs: number }
  | {
      readonly kind: 'silent';
      readonly silentMs: number;
      readonly graceMs: number;
      readonly rule: GraceRule;
      /** Conditions to write; empty when the node is Unknown already. */
      readonly conditions: readonly Condition[];
    };

/** The silence that is tolerated of this node, and the rule that says so. */
export function graceOf(
  record: Pick<HealthRecord, 'hasReady'>,
  graces: Graces,
): { readonly rule: GraceRule; readonly graceMs: number } {
  return record.hasReady
    ? { rule: 'monitor', graceMs: graces.nodeMonitorGracePeriodMs }
    : { rule: 'startup', graceMs: graces.nodeStartupGracePeriodMs };
}

/** The first moment at which it would be silent. */
export function silentFromMs(record: Pick<HealthRecord, 'hasReady' | 'heardAtMs'>, graces: Graces): number {
  return record.heardAtMs + graceOf(record, graces).graceMs + 1;
}

/** Silent, if nothing was heard for longer than (not: as long as) the grace period. */
export function assessNode(node: NodeView, record: HealthRecord, now: Now, graces: Graces): Verdict {
  const { rule, graceMs } = graceOf(record, graces);
  const silentMs = now.monotonicMs - record.heardAtMs;
  if (silentMs <= graceMs) return { kind: 'alive', silentFromMs: silentFromMs(record, graces) };
  return { kind: 'silent', silentMs, graceMs, rule, conditions: unknownConditions(node, now.wallMs) };
}

/** The conditions a silent node gets; those that are Unknown already are left as they are. */
function unknownConditions(node: NodeView, wallMs: number): readonly Condition[] {
  if (readyOf(node) === 'Unknown') return [];
  return heartbeatConditionTypes.flatMap((type) => unknownCondition(node, type, wallMs) ?? []);
}

function unknownCondition(node: NodeView, type: string, wallMs: number): Condition | undefined {
  const condition = findCondition(node.conditions, type);
  const lastTransitionTime = formatTime(wallMs);
  if (condition === undefined) {
    const lastHeartbeatTime = formatTime(node.createdAtMs === 0 ? wallMs : node.createdAtMs);
    return { type, status: 'Unknown', ...neverUpdated, lastHeartbeatTime, lastTransitionTime };
  }
  if (condition.status === 'Unknown') return undefined;
  return { ...condition, status: 'Unknown', ...stoppedPosting, lastTransitionTime };
}
