import { policyObjectName, resetAnnotation } from '../../machinery/api/node-lifecycle-policy.ts';
import { pauseAnnotation } from '../../machinery/api/node.ts';
import { nodeLeaseNamespace } from '../../machinery/api/resources.ts';
import type { RateRule, UnconfirmedReason } from '../model/decisions.ts';
import { controllerNames, type ControllerSelection, type PolicySource } from '../model/options.ts';
import type { Now } from '../model/node-state.ts';
import type { BreakerStatus, EmptyingStatus, HoldSource, Maintenance, NodeHold } from '../model/policy.ts';
import { formatEstimate, formatPast } from './format-time.ts';
import type { ClusterReport, Hold, NodeReport, PodBrief, Unblocker, ZoneReport } from './reports.ts';

type Part = keyof ControllerSelection;

/** The controller that deletes the pods of failed nodes. */
export function selectEvictingPart({ mode }: ClusterReport): Part {
  return mode === 'taint' ? 'taintEviction' : 'nodeLifecycle';
}

/** Holds because the controllers that evict pods do not run in this process. */
export function buildEvictionPartHolds(cluster: ClusterReport): readonly Hold[] {
  return buildPartHolds([...new Set<Part>(['nodeLifecycle', selectEvictingPart(cluster)])], cluster);
}

/** Holds for those of these controllers that do not run in this process: their actions are not predicted. */
export function buildPartHolds(parts: readonly Part[], { runs }: ClusterReport): readonly Hold[] {
  const unblockedBy: readonly Unblocker[] = [{ kind: 'flag', flag: 'controllers', wanted: 'naming it' }];
  return parts
    .filter((part) => !runs[part])
    .map((part) => ({ kind: 'not-run', part: controllerNames[part], unblockedBy }));
}

/** Holds that apply to all nodes. */
export function buildHolds(cluster: ClusterReport): readonly Hold[] {
  const { now, leading, shadow, leader, stale, fullDisruption, outageHold } = cluster;
  const holds: Hold[] = [];
  if (shadow) holds.push({ kind: 'shadow', unblockedBy: [{ kind: 'flag', flag: 'shadow', wanted: 'left out' }] });
  holds.push(...buildPolicyHolds(cluster));
  if (!leading) holds.push({ kind: 'not-leader', unblockedBy: [{ kind: 'ask-leader', holder: leader }] });
  if (stale !== undefined) holds.push({ kind: 'stale', reason: stale, unblockedBy: [{ kind: 'contact-with-api' }] });
  if (fullDisruption)
    holds.push({ kind: 'full-disruption', unblockedBy: [{ kind: 'nodes-ready', zone: null, count: 1 }] });
  if (outageHold !== undefined) {
    const { why, untilMs, recovering } = outageHold;
    const byTime: Unblocker = { kind: 'time', when: formatEstimate(untilMs, now) };
    // At most so many of the silent nodes must recover before the rest is too few for an outage.
    const count = why.together - Math.ceil(why.of * why.shareMin) + 1;
    const byNodes: Unblocker = { kind: 'nodes-ready', zone: null, count };
    holds.push({ kind: 'outage', why, unblockedBy: recovering ? [byTime] : [byTime, byNodes] });
  }
  return holds;
}

/** The hold of deletions of pods while their watch is stale. */
export function buildStalePodsHolds({ podsStale }: ClusterReport): readonly Hold[] {
  return podsStale ? [{ kind: 'stale-pods', unblockedBy: [{ kind: 'pods-watched' }] }] : [];
}

/** Holds by policies and pauses. */
function buildPolicyHolds(cluster: ClusterReport): readonly Hold[] {
  const { now, nodeHold, maintenance, breaker, emptying, policySource } = cluster;
  return [
    ...(nodeHold === undefined ? [] : [buildPolicyHold(nodeHold, cluster)]),
    ...(maintenance === undefined ? [] : [buildMaintenanceHold(maintenance, now)]),
    ...(breaker === undefined ? [] : [buildBreakerHold(breaker, cluster)]),
    ...(emptying === undefined ? [] : [buildConcurrencyHold(emptying, policySource)]),
  ];
}

/** The hold by a policy or a pause. */
function buildPolicyHold({ mode, source, untilMs }: NodeHold, { now, policySource }: ClusterReport): Hold {
  const unblockedBy = [unblockerOf(source, policySource), ...(Number.isFinite(untilMs) ? [endOf(untilMs, now)] : [])];
  if (mode === 'Observe' && source.kind === 'policy') return { kind: 'observed', policy: source.policy, unblockedBy };
  return { kind: 'paused', source, unblockedBy };
}

function buildMaintenanceHold({ policy, signals, untilMs }: Maintenance, now: Now): Hold {
  const when = formatEstimate(toMonotonicMs(untilMs, now), now);
  const unblockedBy: readonly Unblocker[] = [
    { kind: 'maintenance-cleared', signals },
    { kind: 'maintenance-maximum', when },
  ];
  return { kind: 'maintenance', policy, unblockedBy };
}

function buildConcurrencyHold({ policy, max, nodes }: EmptyingStatus, source: PolicySource): Hold {
  const unblockedBy: readonly Unblocker[] = [
    { kind: 'node-emptied', nodes },
    buildPolicyChange(policy, 'limits.maxConcurrentEvictions', 'a greater number', source),
  ];
  return { kind: 'concurrency', policy, max, unblockedBy };
}

/** Why the deletion of a pod, which is due, waits. */
export function buildRemovalHolds({ wait }: Pick<PodBrief, 'wait'>, now: Now): readonly Hold[] {
  const holds: Hold[] = [];
  if (wait?.refused !== undefined) {
    const { why, message, sinceMs, deletedAtMs } = wait.refused;
    const timeout: Unblocker = { kind: 'refusal-timeout', when: formatEstimate(deletedAtMs, now) };
    const unblockedBy: readonly Unblocker[] = [{ kind: 'eviction-allowed' }, timeout];
    holds.push({ kind: 'refused', why, message, since: formatPast(sinceMs, now), unblockedBy });
  }
  if (wait?.rate !== undefined) {
    const { policy, ratePerSecond, ahead } = wait.rate;
    const when = formatEstimate(estimateTokenMs(wait), now);
    holds.push({ kind: 'deletion-rate', policy, ratePerSecond, ahead, unblockedBy: [{ kind: 'token', when }] });
  }
  return holds;
}

/** When a pod that waits is removed at the latest, on the monotonic clock; -Infinity: it does not wait. */
export function estimateRemovalMs(wait: PodBrief['wait']): number {
  return Math.max(wait?.refused?.deletedAtMs ?? -Infinity, estimateTokenMs(wait));
}

function estimateTokenMs(wait: PodBrief['wait']): number {
  if (wait?.rate === undefined) return -Infinity;
  const { nextTokenAtMs, ahead, ratePerSecond } = wait.rate;
  return nextTokenAtMs + (ahead * 1_000) / ratePerSecond;
}

function unblockerOf(source: HoldSource, policySource: PolicySource): Unblocker {
  switch (source.kind) {
    case 'config-file':
      return { kind: 'setting', setting: 'paused', wanted: 'false' };
    case 'policy':
      return buildPolicyChange(source.policy, 'mode', 'Enforce', policySource);
    case 'annotation':
      return { kind: 'annotation', annotation: pauseAnnotation };
  }
}

/** A field of a policy, where policies come from. */
function buildPolicyChange(policy: string, field: string, wanted: string, source: PolicySource): Unblocker {
  if (source === 'crd') return { kind: 'field', object: policyObjectName(policy), field: `spec.${field}`, wanted };
  return { kind: 'setting', setting: `policies[${policy}].${field}`, wanted };
}

/** `untilMs`: wall time. */
function endOf(untilMs: number, now: Now): Unblocker {
  return { kind: 'pause-ends', when: formatEstimate(toMonotonicMs(untilMs, now), now) };
}

function buildBreakerHold(breaker: BreakerStatus, { now, policySource }: ClusterReport): Hold {
  const { policy, nodes, unhealthy, exempt, limit } = breaker;
  const unblockedBy = [endOfBreaker(breaker, now), ...buildResets(policy, policySource)];
  return { kind: 'breaker', policy, nodes, unhealthy, exempt, limit, unblockedBy };
}

/** An object has an annotation for it, besides the field. */
function buildResets(policy: string, source: PolicySource): readonly Unblocker[] {
  const wanted = 'the current time';
  const field = buildPolicyChange(policy, 'limits.resetAt', wanted, source);
  if (source === 'file') return [field];
  const object = policyObjectName(policy);
  return [{ kind: 'field', object, field: `metadata.annotations[${resetAnnotation}]`, wanted }, field];
}

function endOfBreaker(breaker: BreakerStatus, now: Now): Unblocker {
  const { policy, unhealthy, exempt, limit, cooldownMs, untilMs = Infinity } = breaker;
  if (Number.isFinite(untilMs))
    return { kind: 'cooldown-ends', when: formatEstimate(toMonotonicMs(untilMs, now), now) };
  return { kind: 'nodes-healthy', policy, count: unhealthy - exempt - limit, cooldownSeconds: cooldownMs / 1_000 };
}

/** The end of an open breaker on the monotonic clock; -Infinity: closed; Infinity: no end is known. */
export function estimateBreakerEndMs({ breaker, now }: Pick<ClusterReport, 'breaker' | 'now'>): number {
  return breaker === undefined ? -Infinity : toMonotonicMs(breaker.untilMs ?? -Infinity, now);
}

/** The end of a pause on the monotonic clock; -Infinity: nothing is paused; Infinity: no end is known. */
export function estimatePauseEndMs({ nodeHold, now }: Pick<ClusterReport, 'nodeHold' | 'now'>): number {
  return nodeHold?.mode === 'Paused' ? toMonotonicMs(nodeHold.untilMs, now) : -Infinity;
}

/** The latest end of planned maintenance on the monotonic clock; -Infinity: the node is not in maintenance. */
export function estimateMaintenanceEndMs({ maintenance, now }: Pick<ClusterReport, 'maintenance' | 'now'>): number {
  return maintenance === undefined ? -Infinity : toMonotonicMs(maintenance.untilMs, now);
}

function toMonotonicMs(wallMs: number, now: Now): number {
  return now.monotonicMs + wallMs - now.wallMs;
}

const unconfirmedEnds: Readonly<Record<UnconfirmedReason | 'leases-missing', Unblocker>> = {
  'leases-missing': { kind: 'leases-exist' },
  'not-permitted': { kind: 'permission', needed: `get and list of leases in ${nodeLeaseNamespace}` },
  'api-not-answering': { kind: 'contact-with-api' },
};

/** Holds of this node: a silence has to be confirmed by a live read of the lease, and a failed read is no evidence. */
export function buildNodeHolds({ health, ready, history }: NodeReport): readonly Hold[] {
  const last = history.at(-1)?.decision;
  if (last?.kind !== 'confirmation-held' || last.why === 'lease-renewed') return [];
  if (health?.silence.silent !== true || ready === 'Unknown') return [];
  return [{ kind: 'unconfirmed', unblockedBy: [unconfirmedEnds[last.why]] }];
}

/** Holds of this zone's queue, besides those that apply to all zones. */
export function buildZoneHolds(report: ZoneReport): readonly Hold[] {
  const { zone, arithmetic, queue } = report;
  if (arithmetic === undefined || queue.ratePerSecond > 0 || arithmetic.rule === 'full-disruption') return [];
  return [{ kind: 'zone-stopped', zone, rule: arithmetic.rule, unblockedBy: unblockers(report, arithmetic.rule) }];
}

const rateFlags: Readonly<Partial<Record<RateRule, string>>> = {
  normal: 'node-eviction-rate',
  'zone-fully-disrupted': 'node-eviction-rate',
  'large-zone-disrupted': 'secondary-node-eviction-rate',
};

function unblockers({ zone, recoveriesToNormal }: ZoneReport, rule: RateRule): readonly Unblocker[] {
  const flag = rateFlags[rule];
  const byFlag: readonly Unblocker[] = flag === undefined ? [] : [{ kind: 'flag', flag, wanted: 'above 0' }];
  const helps = rule === 'small-zone-disrupted' || rule === 'large-zone-disrupted';
  if (!helps || recoveriesToNormal === undefined) return byFlag;
  return [{ kind: 'nodes-ready', zone, count: recoveriesToNormal }, ...byFlag];
}
