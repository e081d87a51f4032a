/**
 * Decisions with their reasons, as values: logged, counted, kept and exposed. Text is made from them only for output.
 */
import type { ApiReason } from '../../machinery/api/api-error.ts';
import type { Labels } from '../../machinery/api/topology.ts';
import type { EvictionRefusal, FailureReason } from './commands.ts';
import type { ZoneCondition } from '../../machinery/api/zone.ts';
import type { FlappingEnd } from './flapping.ts';
import type { StaleReason } from './freshness.ts';
import type { FencingDoubt } from './out-of-service.ts';
import type { HoldSource, NodeAct, NodeHold, OverdueEnd, UnhealthyCount } from './policy.ts';

/** Which rule set the grace period in force. `probes`: nothing at the addresses of the node answered, so that it ended early. */
export type GraceRule = 'monitor' | 'startup' | 'probes';

/** The arithmetic behind a zone's condition and rate. */
export interface ZoneArithmetic {
  readonly ready: number;
  readonly unready: number;
  readonly unhealthyZoneThreshold: number;
  readonly largeClusterSizeThreshold: number;
  readonly rule: RateRule;
}

export type RateRule =
  | 'normal'
  | 'large-zone-disrupted'
  | 'small-zone-disrupted'
  | 'zone-fully-disrupted'
  | 'full-disruption';

/** Class of an outage of nodes, known before any action. */
export type SilenceOutageClass = 'NodeFailure' | 'ZoneFailure' | 'ControlPlanePathFailure';

/**
 * What the leases of control-plane nodes show of the path to the API server, while the API server answers this
 * controller. silent: all of them became silent with the other nodes, so the fault is in front of the API server.
 * partly-silent: some of them. renewing: none of them, so the API server is reachable at least from its own machines.
 * none: no control-plane node is visible, as in a managed cluster. Only `silent` is evidence.
 */
export type ControlPlaneEvidence = 'silent' | 'partly-silent' | 'renewing' | 'none';

/** The arithmetic behind the class of an outage. */
export interface OutageArithmetic {
  readonly outage: SilenceOutageClass;
  /** Zone of the node for which it was classified. */
  readonly zone: string;
  /**
   * Nodes whose last heartbeats are within the window, of those that had renewed until then: of the zone, or of all zones
   * unless the class is that of one zone.
   */
  readonly together: number;
  readonly of: number;
  /** Number of zones in which most nodes became silent. */
  readonly zonesStruck: number;
  /** Share of the nodes that had renewed until then from which it is `most`. */
  readonly shareMin: number;
  readonly zones: number;
  readonly windowMs: number;
  readonly controlPlane: {
    /** Control-plane nodes whose last heartbeats are within the window, of those that had renewed until then. */
    readonly together: number;
    readonly of: number;
    readonly evidence: ControlPlaneEvidence;
  };
}

/** What the leases of control-plane nodes show, for a sentence about an outage. */
export function describeControlPlane({ together, of, evidence }: OutageArithmetic['controlPlane']): string {
  if (evidence === 'none') return 'no control-plane node is visible';
  const counts = `${together} of ${of} control-plane nodes silent`;
  return evidence === 'silent' ? `${counts} although the API server answers` : counts;
}

/** Why a hold of this class ended before its time, for a sentence: nodes renewed, were deleted, or are in maintenance. */
export function describeHoldEnd(held: SilenceOutageClass, evidence: OutageArithmetic): string {
  const { outage, together, of, zonesStruck, zones, controlPlane } = evidence;
  const counts = `${together} of ${of} nodes silent together, most nodes in ${zonesStruck} of ${zones} zones`;
  const why = outage === held ? 'the evidence for a longer hold is gone' : `the silence is no ${held} any more`;
  return `${why}: ${counts}, ${describeControlPlane(controlPlane)}`;
}

/** Why a breaker is open, for a sentence. */
export function describeBreakerOpening({ inherited, count }: BreakerOpening): string {
  return `${describeBreakerCount(count)}${inherited ? ', and more than that within the cooldown before this leader' : ''}`;
}

/** The numbers of a breaker, for a sentence. */
export function describeBreakerCount({ nodes, unhealthy, exempt, limit }: BreakerCount): string {
  const reset = exempt === 0 ? '' : ` (${exempt} of them do not count because of a reset)`;
  return `${unhealthy} of ${nodes} nodes unhealthy${reset}, limit ${limit}`;
}

/** Why node health evaluation is paused, for a sentence. */
export function describeStaleness(reason: StaleReason): string {
  switch (reason) {
    case 'no-contact':
      return 'API server unreachable';
    case 'streams-not-open':
      return 'watches of nodes and leases are being reopened';
    case 'stream-behind':
      return 'the lease watch is behind the API server';
    case 'observing':
      return 'watches are open again, waiting for lease renewals';
  }
}

/** Why a pod is not evicted, or its eviction was cancelled. */
export type StayReason =
  | 'taint-gone'
  | 'tolerates-forever'
  | 'kept-by-policy'
  | 'pod-gone'
  | 'pod-moved'
  | 'node-gone'
  | 'already-terminating';

/** The rule of the pod garbage collector that applies to a pod. The values are those of its metrics. */
export type PodGcReason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled';

/**
 * Why a pod is deleted in eviction mode: its node was evicted, it was bound to the node later, or the node no longer
 * exists.
 */
export type NodeEvictionReason = 'node-evicted' | 'landed-on-evicted-node' | 'node-gone';

/** Why the lease of a node that looks silent could not be read. */
export type UnconfirmedReason = 'api-not-answering' | 'not-permitted';

/** Whether the machine of a node that was silent restarted, by its boot ID. `unknown`: no boot ID to compare. */
export type BootEvidence = 'same' | 'changed' | 'unknown';

/**
 * Why deletions of pods for the health of their node are held. `node-is-ready`: the taint still exists and is about to
 * be removed. `lease-is-renewed`: the node is not Ready in the cache, but its lease is being renewed.
 * `late-cache`: a watch is stale, lists replace it, or the pod is newer than what the watch of nodes has delivered, so that the
 * cache may not show that the node recovered, or that another client removed its taint. `breaker`: the breaker of its policy is open.
 */
export type EvictionHold =
  | 'full-disruption'
  | 'stale'
  /** The watch of pods is not open: the pod may have changed. For the taints of other clients too. */
  | 'stale-pods'
  | 'late-cache'
  | 'node-is-ready'
  | 'lease-is-renewed'
  /** Planned maintenance of the node. */
  | 'maintenance'
  | 'breaker'
  | 'hourly-limit'
  /** Another tool says that the node is not to be repaired. */
  | 'veto'
  /** The policy of the node has mode Detect. */
  | 'detect-only'
  | PolicyEvictionHold;

/** A policy or a pause holds all deletions of pods of the node, for whatever taint. */
export type PolicyEvictionHold = 'observed' | 'paused';

/** The numbers with which a breaker opened or closed. */
export interface BreakerCount extends UnhealthyCount {
  readonly limit: number;
}

/** A breaker that opened. */
export interface BreakerOpening {
  readonly policy: string;
  /** The previous leader opened it, and its cooldown goes on. */
  readonly inherited: boolean;
  readonly count: BreakerCount;
}

/** A breaker that closed. */
export interface BreakerClosing {
  readonly policy: string;
  readonly why: 'cooldown-over' | 'reset' | 'limits-removed';
  /** Time for which the breaker was open. */
  readonly openMs: number;
  /** Null where the policy has no limits any more. */
  readonly count: BreakerCount | null;
}

/** A changed setting, with its values as text. */
export interface SettingChange {
  readonly setting: string;
  readonly from: string;
  readonly to: string;
}

type Of<Kind extends string, Fields> = { readonly kind: Kind } & Readonly<Fields>;

export type Decision =
  | Of<'settings-changed', { changes: readonly SettingChange[] }>
  | Of<'node-registered', { node: string; zone: string }>
  | Of<'node-removed', { node: string }>
  | Of<'node-silent', { node: string; silentMs: number; graceMs: number; rule: GraceRule; outage: SilenceOutageClass }>
  | Of<'outage-named', { why: OutageArithmetic }>
  /**
   * The pods of these nodes stay ready, and the nodes get no NoExecute taint, for at most `holdMs`; Infinity: no limit.
   */
  | Of<'acts-held', { outage: SilenceOutageClass; holdMs: number; why: OutageArithmetic }>
  /** `evidence`: what ended the hold before its time; null: its time was over. */
  | Of<'acts-resumed', { outage: SilenceOutageClass; heldMs: number; evidence: OutageArithmetic | null }>
  /** The node looked silent, and its lease is newer in the API server or could not be read. */
  | Of<'confirmation-held', { node: string; why: 'lease-renewed' | 'leases-missing' | UnconfirmedReason }>
  /** The lease of the node could not be read for the maximum time of a hold: a fresh cache is the evidence. */
  | Of<'silence-confirmed-by-cache', { node: string; why: UnconfirmedReason; heldMs: number }>
  /** A defect: only the resync would have evaluated it again. */
  | Of<'node-uncovered', { node: string }>
  | Of<'evaluation-paused', { why: StaleReason }>
  /**
   * The clock has stood still for the maximum time of a hold although frames of leases arrive: they are the evidence.
   */
  | Of<'frames-stand-in', { why: StaleReason; staleMs: number }>
  /** A watch has been stale for the maximum time of a hold: complete lists are the evidence until it is fresh again. */
  | Of<'lists-stand-in', { why: StaleReason; staleMs: number }>
  | Of<'evaluation-resumed', { staleMs: number }>
  /** The node was silent and sent a heartbeat. */
  | Of<'node-recovered', { node: string; boot: BootEvidence }>
  | Of<'node-ready', { node: string; was: string }>
  | Of<'node-not-ready', { node: string; reason: string }>
  | Of<
      'zone-changed',
      { zone: string; from: ZoneCondition; to: ZoneCondition; ratePerSecond: number; why: ZoneArithmetic }
    >
  | Of<'full-disruption-entered', { zones: number }>
  | Of<'full-disruption-left', { zones: number }>
  | Of<'taint-queued', { node: string; zone: string; key: string; ahead: number }>
  | Of<'taint-withdrawn', { node: string; why: 'node-ready' | 'node-gone' | 'zone-left' | 'full-disruption' }>
  | Of<'taints-held', { zone: string; waiting: number; why: ZoneArithmetic }>
  | Of<'taints-changed', { node: string; added: readonly string[]; removed: readonly string[]; why: TaintReason }>
  /** The policy that applies to a node changed; null: the default. */
  | Of<'policy-changed', { node: string; from: string | null; to: string | null }>
  /** Policies that claim the node equally, so that none applies. */
  | Of<'policy-conflict', { node: string; policies: readonly string[] }>
  | Of<'pause-annotation-changed', { node: string; value: string | null; reading: 'none' | 'paused' | 'malformed' }>
  /** A policy or a pause holds writes of this kind; noted once until the node recovers or the hold changes. */
  | Of<'act-withheld', { node: string; act: NodeAct; mode: NodeHold['mode']; source: HoldSource }>
  /** Conditions or taints of the node mean planned maintenance by its policy, until this wall time at the latest. */
  | Of<'maintenance-began', { node: string; policy: string; signals: readonly string[]; untilMs: number }>
  /** `cleared`: before its maximum. `released`: what is left on the node does not hold it, as where it is silent. */
  | Of<'maintenance-ended', { node: string; why: 'cleared' | 'maximum' | 'released' }>
  /** `bootID`: of the boot that the evidence proves to be fenced. */
  | Of<'out-of-service-added', { node: string; evidence: string; bootID: string }>
  /** `bootID`: of the boot in which the node is back; `fenced`: of the one before. */
  | Of<'out-of-service-removed', { node: string; bootID: string; fenced: string }>
  /** The proof is all that is missing for the taint out-of-service. */
  | Of<'fencing-not-proven', { node: string; evidence: string; bootID: string; why: FencingDoubt }>
  /** The lease is read live before the taint out-of-service is added, and could not be. */
  | Of<'fencing-not-confirmed', { node: string; evidence: string; bootID: string; reason: ApiReason }>
  /** The node is Ready in the boot that was said to be fenced. */
  | Of<'never-fenced', { node: string; evidence: string; bootID: string }>
  /** The node recovered so often that it gets no new pods until this wall time; noted for each recovery. */
  | Of<
      'flapping-kept',
      { node: string; policy: string; level: number; recoveries: number; withinMs: number; untilMs: number }
    >
  /**
   * The node recovered so often that it is to get no new pods, and the budget of the policy is used up: so many nodes
   * are kept, and at most so many.
   */
  | Of<
      'flapping-not-kept',
      { node: string; policy: string; recoveries: number; withinMs: number; kept: number; limit: number }
    >
  | Of<'flapping-released', { node: string; why: FlappingEnd }>
  /** Too many nodes of the policy are unhealthy: no further one is tainted NoExecute, and no further pod is evicted. */
  | Of<'breaker-opened', BreakerOpening>
  | Of<'breaker-closed', BreakerClosing>
  /** A node is emptied although the breaker of its policy is open. */
  | Of<'overflow-admitted', { node: string; policy: string; ratePerHour: number }>
  | Of<'labels-set', { node: string; labels: Labels }>
  /** No heartbeat for longer than the policy waits; its grace period ends in `leftMs`. */
  | Of<'node-overdue', { node: string; policy: string; silentMs: number; leftMs: number }>
  /** Nothing at its addresses answers, `earlierMs` before its grace period ends. */
  | Of<'silence-proven', { node: string; policy: string; silentMs: number; earlierMs: number }>
  | Of<'node-overdue-ended', { node: string; why: OverdueEnd }>
  | Of<'pod-marked-not-ready', { pod: string; node: string }>
  | Of<'eviction-scheduled', { pod: string; node: string; taint: string; toleratedSeconds: number; inMs: number }>
  | Of<'eviction-cancelled', { pod: string; node: string; why: StayReason }>
  | Of<'eviction-held', { pod: string; node: string; why: EvictionHold }>
  /** Noted once for each reason. `message`: of the API server. */
  | Of<'eviction-refused', { pod: string; node: string; why: EvictionRefusal; message: string }>
  /** The pod is deleted although the Eviction API had not evicted it. `not-asked`: the policy does not use it any more. */
  | Of<
      'eviction-wait-ended',
      { pod: string; node: string; why: 'timeout' | 'unreachable' | 'not-asked'; waitedMs: number }
    >
  /** The deletion was held for the maximum time of `why`; a live read of the node decided `next`. */
  | Of<'eviction-hold-expired', { pod: string; node: string; why: EvictionHold; next: 'evict' | 'hold' }>
  | Of<'pod-evicted', { pod: string; node: string; taint: string; toleratedSeconds: number }>
  | Of<'pod-collected', { pod: string; node: string; why: PodGcReason }>
  /** `perNode`, `aged`: how many are more than are kept on their node, or for longer; absent: none. */
  | Of<'terminated-pods-surplus', { terminated: number; threshold: number; perNode?: number; aged?: number }>
  | Of<'node-missing', { node: string; pods: number; quarantineMs: number }>
  | Of<'orphans-kept', { node: string; why: 'node-back' | 'node-found' | UnconfirmedReason }>
  | Of<'node-eviction-scheduled', { node: string; ready: string; inMs: number; timeoutMs: number }>
  | Of<
      'node-eviction-queued',
      { node: string; zone: string; ready: string; unreadyMs: number; timeoutMs: number; ahead: number }
    >
  /** `not-due`: a heartbeat was received, and its timeout starts again. */
  | Of<'node-eviction-withdrawn', { node: string; why: 'node-ready' | 'not-due' | 'node-gone' | 'full-disruption' }>
  /** The pods of the node are being deleted, with their numbers by what happens to them. */
  | Of<'node-evicted', { node: string; zone: string; leaving: number; spared: number; terminating: number }>
  | Of<'pod-spared', { pod: string; node: string; daemonSet: string }>
  | Of<'pod-evicted-with-node', { pod: string; node: string; why: NodeEvictionReason }>
  /** A defect: the evaluation threw. It is retried and does not block other objects. */
  | Of<'evaluation-failed', { subject: string; stage: string; message: string }>
  | Of<'write-failed', { subject: string; write: string; reason: FailureReason }>;

/** Why the taints of a node were changed. */
export type TaintReason =
  | 'conditions'
  | 'node-ready'
  | 'node-silent'
  | 'node-not-ready'
  | 'other-key-wanted'
  | 'full-disruption';

/** The decision that records an exception in the evaluation of `subject`. */
export function evaluationFailed(stage: string, subject: string, error: unknown): Decision {
  return {
    kind: 'evaluation-failed',
    subject,
    stage,
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

/** Records decisions. Must not throw. */
export interface DecisionSink {
  /** `uid`: of the pod that the decision is about, if it is about one. */
  note(decision: Decision, uid?: string): void;
}
