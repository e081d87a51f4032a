// Decides whether a node is silent. Silence is measured on the monotonic clock from when a change was observed. Times
// that kubelets write into leases and statuses are compared with each other only: for equality, and for the interval.
import {
  type Condition,
  findCondition,
  heartbeatConditionTypes,
  neverUpdated,
  stoppedPosting,
} from '../../machinery/api/conditions.ts';
import type { LeaseView } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { formatTime, parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { GraceRule } from '../model/decisions.ts';
import type { HealthRecord } from './health-record.ts';
import type { Now } from '../model/node-state.ts';
import { addInterval } from '../model/renewals.ts';

export const missing = 'missing';

/** Status of the Ready condition, or `missing` while the kubelet has not posted one. */
export function readyOf(node: NodeView): string {
  return findCondition(node.conditions, 'Ready')?.status ?? missing;
}

/**
 * Updates the record of a node from the caches: a changed Ready heartbeat or a renewed lease is a heartbeat (upstream
 * `tryUpdateNodeHealth`, up to the lease). Unlike upstream, a status heartbeat does not reset the known lease: decision
 * 0004.
 */
export function buildRecord(
  record: HealthRecord | undefined,
  seen: { readonly node: NodeView; readonly lease: LeaseView | undefined },
  now: Now,
): HealthRecord {
  const known = record !== undefined && record.uid === seen.node.uid ? record : undefined;
  return observeLease(observeStatus(known, seen.node, now), seen.lease, now.monotonicMs);
}

function observeStatus(record: HealthRecord | undefined, node: NodeView, now: Now): HealthRecord {
  const ready = findCondition(node.conditions, 'Ready');
  if (ready === undefined) return record === undefined ? recordFromCreation(node, now) : { ...record, hasReady: false };
  if (record !== undefined && !record.hasReady && isWrittenByController(ready)) {
    return {
      ...observeControllerStatus(record, ready, now.monotonicMs),
      readyHeartbeat: ready.lastHeartbeatTime,
      hasReady: true,
    };
  }
  if (record === undefined || !record.hasReady) return recordFromNow(node, ready, now.monotonicMs);
  if (record.readyHeartbeat === ready.lastHeartbeatTime) return observeControllerStatus(record, ready, now.monotonicMs);
  const transitioned = record.readyTransition !== ready.lastTransitionTime;
  return {
    ...record,
    heartbeatAtMs: now.monotonicMs,
    channel: 'status',
    readyChangedAtMs: transitioned ? now.monotonicMs : record.readyChangedAtMs,
    readyHeartbeat: ready.lastHeartbeatTime,
    readyTransition: ready.lastTransitionTime,
    heartbeatSinceUnknown: true,
    intervalsMs: addStatusInterval(record, ready),
  };
}

/** A kubelet with a lease posts its status less often than it renews. */
function addStatusInterval({ lease, intervalsMs, readyHeartbeat }: HealthRecord, ready: Condition): readonly number[] {
  return lease === undefined ? addInterval(intervalsMs, readyHeartbeat, ready.lastHeartbeatTime) : intervalsMs;
}

/** A controller wrote this condition, because the kubelet never posted one or stopped: not a heartbeat. */
function isWrittenByController({ status, reason }: Condition): boolean {
  return status === 'Unknown' && (reason === neverUpdated.reason || reason === stoppedPosting.reason);
}

/**
 * Unknown without a heartbeat was written by a controller: this one, or another replica while this one was a standby.
 */
function observeControllerStatus(record: HealthRecord, ready: Condition, monotonicMs: number): HealthRecord {
  const { status, lastTransitionTime } = ready;
  if (status !== 'Unknown' || record.readyTransition === lastTransitionTime) return record;
  return {
    ...record,
    readyChangedAtMs: monotonicMs,
    readyTransition: lastTransitionTime,
    heartbeatSinceUnknown: false,
  };
}

/**
 * The age of a node that never posted a status follows from its creationTimestamp; 0 if that is missing or in the
 * future.
 */
function recordFromCreation(node: NodeView, now: Now): HealthRecord {
  const ageMs = node.createdAtMs === 0 ? 0 : Math.max(0, now.wallMs - node.createdAtMs);
  const atMs = now.monotonicMs - ageMs;
  return {
    uid: node.uid,
    heartbeatAtMs: atMs,
    channel: 'creation',
    readyChangedAtMs: atMs,
    readyHeartbeat: undefined,
    readyTransition: undefined,
    hasReady: false,
    lease: undefined,
    heartbeatSinceUnknown: false,
    intervalsMs: [],
  };
}

function recordFromNow(node: NodeView, ready: Condition, monotonicMs: number): HealthRecord {
  return {
    uid: node.uid,
    heartbeatAtMs: monotonicMs,
    channel: 'status',
    readyChangedAtMs: monotonicMs,
    readyHeartbeat: ready.lastHeartbeatTime,
    readyTransition: ready.lastTransitionTime,
    hasReady: true,
    lease: undefined,
    heartbeatSinceUnknown: false,
    intervalsMs: [],
  };
}

function observeLease(record: HealthRecord, lease: LeaseView | undefined, monotonicMs: number): HealthRecord {
  if (lease === undefined || !isRenewed(lease, record.lease)) return record;
  return {
    ...record,
    lease,
    heartbeatAtMs: monotonicMs,
    channel: 'lease',
    heartbeatSinceUnknown: record.heartbeatSinceUnknown || record.lease !== undefined,
    intervalsMs: addInterval(record.intervalsMs, record.lease?.renewTime, lease.renewTime),
  };
}

/**
 * The first observed lease counts; after that a changed renewTime does, and a missing one does not. Changed, not later:
 * a kubelet whose clock was set back is alive (decision 0004).
 */
function isRenewed(lease: LeaseView, known: LeaseView | undefined): boolean {
  if (known === undefined) return true;
  return lease.renewTime !== undefined && lease.renewTime !== known.renewTime;
}

export interface Graces {
  readonly nodeMonitorGracePeriodMs: number;
  /** Set where probes have shown that the node is silent. */
  readonly provenGraceMs?: number;
  readonly nodeStartupGracePeriodMs: number;
}

export type NodeAssessment =
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

/** The grace period of this node, and the rule that sets it. */
export function graceOf(
  record: Pick<HealthRecord, 'hasReady'>,
  graces: Graces,
): { readonly rule: GraceRule; readonly graceMs: number } {
  const { nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs, provenGraceMs = Infinity } = graces;
  if (!record.hasReady) return { rule: 'startup', graceMs: nodeStartupGracePeriodMs };
  if (provenGraceMs < nodeMonitorGracePeriodMs) return { rule: 'probes', graceMs: provenGraceMs };
  return { rule: 'monitor', graceMs: nodeMonitorGracePeriodMs };
}

/** The first moment at which it would be silent. */
export function silentFromMs(record: Pick<HealthRecord, 'hasReady' | 'heartbeatAtMs'>, graces: Graces): number {
  return record.heartbeatAtMs + graceOf(record, graces).graceMs + 1;
}

/** Silent if the last heartbeat is older than (not: as old as) the grace period. */
export function assessNode(node: NodeView, record: HealthRecord, now: Now, graces: Graces): NodeAssessment {
  const { rule, graceMs } = graceOf(record, graces);
  const silentMs = now.monotonicMs - record.heartbeatAtMs;
  if (silentMs <= graceMs) return { kind: 'alive', silentFromMs: silentFromMs(record, graces) };
  return { kind: 'silent', silentMs, graceMs, rule, conditions: unknownConditions(node, now.wallMs) };
}

/** The conditions to write for a silent node; none if it is Unknown already. */
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

/**
 * The last renewal of the lease of a node without an observed heartbeat: by the clock of its kubelet, converted to the
 * monotonic clock. Only comparable with the same value of other nodes. Undefined where a heartbeat was observed, whose
 * time is exact, or where there is no lease.
 */
export function unobservedRenewalMs(
  record: Pick<HealthRecord, 'heartbeatSinceUnknown'> | undefined,
  lease: Pick<LeaseView, 'renewTime'> | undefined,
  now: Now,
): number | undefined {
  if (record?.heartbeatSinceUnknown === true) return undefined;
  const renewedAtMs = parseTimestamp(lease?.renewTime);
  return renewedAtMs === undefined ? undefined : now.monotonicMs - (now.wallMs - renewedAtMs);
}
