import { pauseAnnotation } from '../../machinery/api/node.ts';
import { nodeLeaseNamespace } from '../../machinery/api/resources.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import { zoneName } from '../../machinery/api/zone.ts';
import {
  type BootEvidence,
  type BreakerClosing,
  describeBreakerCount,
  describeBreakerOpening,
  type Decision,
  type NodeEvictionReason,
  describeControlPlane,
  describeHoldEnd,
  describeStaleness,
  type EvictionHold,
  type OutageArithmetic,
  type PodGcReason,
  type RateRule,
  type ZoneArithmetic,
} from '../model/decisions.ts';
import { describeFlappingEnd, describeRecoveries } from '../model/flapping.ts';
import { describeFencingDoubt } from '../model/out-of-service.ts';
import { describeHoldSource, type NodeAct, type OverdueEnd } from '../model/policy.ts';

/** The key under which the decision is kept: a pod, a node, a zone, or `cluster`. */
export function subjectOfDecision(decision: Decision): string {
  if ('pod' in decision) return decision.pod;
  if ('node' in decision) return decision.node;
  if ('zone' in decision) return zoneName(decision.zone);
  return 'subject' in decision ? decision.subject : 'cluster';
}

type Describers = { readonly [K in Decision['kind']]: (decision: Extract<Decision, { readonly kind: K }>) => string };

const describers: Describers = {
  'settings-changed': ({ changes }) =>
    `settings changed: ${changes.map(({ setting, from, to }) => `${setting} ${from} -> ${to}`).join(', ')}`,
  'node-registered': ({ node, zone }) => `node ${node}: registered in zone ${zoneName(zone)}`,
  'node-removed': ({ node }) => `node ${node}: deleted`,
  'node-silent': ({ node, silentMs, graceMs, rule, outage }) =>
    `node ${node} is silent: no heartbeat for ${seconds(silentMs)} (${rule} grace period ${seconds(graceMs)}, ${outage})`,
  'outage-named': ({ why }) => describeOutage(why),
  'acts-held': ({ holdMs, why }) =>
    `${describeOutage(why)}, ${describeControlPlane(why.controlPlane)}: ${Number.isFinite(holdMs) ? `for at most ${seconds(holdMs)}` : 'without a time limit'} the pods of these nodes stay ready and the nodes are neither tainted NoExecute nor evicted`,
  'acts-resumed': ({ outage, heldMs, evidence }) =>
    evidence !== null
      ? `${outage} hold ended after ${seconds(heldMs)}: ${describeHoldEnd(outage, evidence)}`
      : `${outage} hold expired after ${seconds(heldMs)}: nodes that are still silent are handled like any other silent node`,
  'confirmation-held': ({ node, why }) => `node ${node}: looks silent, not confirmed: ${heldReasons[why]}`,
  'silence-confirmed-by-cache': ({ node, why, heldMs }) =>
    `node ${node}: lease not readable for ${seconds(heldMs)} (${why}); the cache is fresh and is used as evidence`,
  'node-uncovered': ({ node }) => `node ${node}: had no deadline and was not queued; found by the resync`,
  'evaluation-paused': ({ why }) => `node health evaluation paused: ${describeStaleness(why)}`,
  'frames-stand-in': ({ why, staleMs }) =>
    `node health evaluation paused for ${seconds(staleMs)} (${why}) while frames of the lease watch arrive; the time between frames counts`,
  'lists-stand-in': ({ why, staleMs }) =>
    `watches stale for ${seconds(staleMs)} (${why}) while the API server answers; nodes and leases are listed instead`,
  'evaluation-resumed': ({ staleMs }) =>
    `node health evaluation resumed; the ${seconds(staleMs)} gap is not counted against any node`,
  'node-recovered': ({ node, boot }) => `node ${node}: no longer silent: ${boots[boot]}`,
  'node-ready': ({ node, was }) => `node ${node}: Ready again (was ${was})`,
  'node-not-ready': ({ node, reason }) => `node ${node}: its kubelet reports Ready=False: ${reason}`,
  'zone-changed': ({ zone, from, to, ratePerSecond, why }) =>
    `zone ${zoneName(zone)}: ${from === to ? `still ${to}` : `${from} -> ${to}`}, ${ratePerSecond} nodes/s: ${describeArithmetic(why)}`,
  'full-disruption-entered': ({ zones }) =>
    `all zones fully disrupted (${zones}), probably a control-plane or network fault; evictions stopped, NoExecute taints removed`,
  'full-disruption-left': () =>
    'a zone has a ready node again; eviction rates apply again, every node gets a full grace period from now',
  'taints-held': ({ zone, waiting, why }) =>
    `zone ${zoneName(zone)}: ${waiting} nodes wait for a NoExecute taint and none is added: ${describeArithmetic(why)}`,
  'taint-queued': ({ node, zone, key, ahead }) =>
    `node ${node}: added to the queue for ${key}:NoExecute in zone ${zoneName(zone)}, ${ahead} ahead`,
  'taint-withdrawn': ({ node, why }) => `node ${node}: removed from the NoExecute taint queue (${withdrawals[why]})`,
  'taints-changed': ({ node, added, removed, why }) =>
    `node ${node}: taints ${[...added.map((taint) => `+${taint}`), ...removed.map((taint) => `-${taint}`)].join(' ')} (${why})`,
  'policy-changed': ({ node, from, to }) =>
    `node ${node}: policy ${to ?? 'default'} applies (was ${from ?? 'default'})`,
  'policy-conflict': ({ node, policies }) =>
    `node ${node}: policies ${policies.join(', ')} have equal priority and equally many requirements, so the default applies`,
  'pause-annotation-changed': ({ node, value, reading }) =>
    `node ${node}: annotation ${pauseAnnotation} ${value === null ? 'removed' : `is ${JSON.stringify(value)}: ${pauseReadings[reading]}`}`,
  'act-withheld': ({ node, act, mode, source }) =>
    `node ${node}: ${withheldActs[act]} ${withholding[mode]}: ${describeHoldSource(source)}`,
  'maintenance-began': ({ node, policy, signals, untilMs }) =>
    `node ${node}: planned maintenance (${signals.join(', ')}; policy ${policy}) until ${formatTime(untilMs)} at the latest: not counted in the disruption state of its zone, no NoExecute taint and no eviction for its health`,
  'maintenance-ended': ({ node, why }) => `node ${node}: planned maintenance ended: ${maintenanceEnds[why]}`,
  'out-of-service-added': ({ node, evidence, bootID }) =>
    `node ${node}: taint out-of-service added: ${evidence} proves that boot ${bootID} was fenced`,
  'out-of-service-removed': ({ node, bootID, fenced }) =>
    `node ${node}: taint out-of-service removed: back with boot ${bootID}, after ${fenced}`,
  'fencing-not-proven': ({ node, evidence, bootID, why }) =>
    `node ${node}: ${evidence} does not prove that boot ${bootID} was fenced: ${describeFencingDoubt(why)}`,
  'fencing-not-confirmed': ({ node, evidence, bootID, reason }) =>
    `node ${node}: ${evidence} says that boot ${bootID} was fenced; the taint out-of-service waits until its lease can be read live (${reason})`,
  'never-fenced': ({ node, evidence, bootID }) =>
    `node ${node}: Ready with boot ${bootID}, which ${evidence} said was fenced: the taint out-of-service stays`,
  'flapping-kept': ({ node, policy, level, recoveries, withinMs, untilMs }) =>
    `node ${node}: ${describeRecoveries(recoveries, { withinMs })} (policy ${policy}): no new pods until ${formatTime(untilMs)}, level ${level}`,
  'flapping-not-kept': ({ node, policy, recoveries, withinMs, kept, limit }) =>
    `node ${node}: ${describeRecoveries(recoveries, { withinMs })}, and is not kept: policy ${policy} keeps ${kept} nodes of at most ${limit}`,
  'flapping-released': ({ node, why }) => `node ${node}: gets new pods again: ${describeFlappingEnd(why)}`,
  'breaker-opened': (opening) =>
    `breaker of policy ${opening.policy} open: ${describeBreakerOpening(opening)}; no further NoExecute taint and no further eviction for the health of its nodes`,
  'breaker-closed': ({ policy, why, openMs, count }) =>
    `breaker of policy ${policy} closed after ${seconds(openMs)}: ${breakerEndings[why]}${count === null ? '' : `; ${describeBreakerCount(count)}`}`,
  'overflow-admitted': ({ node, policy, ratePerHour }) =>
    `node ${node}: may be emptied although the breaker of policy ${policy} is open (limits.overflow, ${ratePerHour} an hour)`,
  'labels-set': ({ node, labels }) =>
    `node ${node}: labels set: ${Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(', ')}`,
  'node-overdue': ({ node, policy, silentMs, leftMs }) =>
    `node ${node}: no heartbeat for ${seconds(silentMs)}; its grace period ends in ${seconds(leftMs)} (early warning of policy ${policy})`,
  'silence-proven': ({ node, policy, silentMs, earlierMs }) =>
    `node ${node}: no heartbeat for ${seconds(silentMs)}, and nothing at its addresses answers: silent ${seconds(earlierMs)} before its grace period ends (detection of policy ${policy})`,
  'node-overdue-ended': ({ node, why }) => `node ${node}: early warning ended: ${overdueEndings[why]}`,
  'pod-marked-not-ready': ({ pod, node }) => `pod ${pod} marked not ready: its node ${node} is not Ready`,
  'eviction-scheduled': ({ pod, node, inMs, taint, toleratedSeconds }) =>
    `pod ${pod}: eviction from ${node} scheduled in ${seconds(inMs)}, it tolerates ${taint} for ${toleratedSeconds}s`,
  'eviction-cancelled': ({ pod, node, why }) => `pod ${pod}: eviction from ${node} cancelled (${why})`,
  'eviction-held': ({ pod, node, why }) => `pod ${pod}: eviction from ${node} is due but held: ${evictionHolds[why]}`,
  'eviction-refused': ({ pod, node, why, message }) =>
    `pod ${pod}: eviction from ${node} is due but the Eviction API refuses it (${why}): ${message}`,
  'eviction-wait-ended': ({ pod, node, why, waitedMs }) =>
    `pod ${pod}: deleted from ${node} after the Eviction API refused it for ${seconds(waitedMs)}: ${waitEndings[why]}`,
  'eviction-hold-expired': ({ pod, node, why, next }) =>
    `pod ${pod}: eviction from ${node} was held for the maximum time (${why}); after a live read of the node the pod is ${next === 'evict' ? 'deleted' : 'held again'}`,
  'pod-evicted': ({ pod, node, taint, toleratedSeconds }) =>
    `pod ${pod} evicted from ${node}: it ${toleratedSeconds === 0 ? `does not tolerate ${taint}` : `tolerated ${taint} for ${toleratedSeconds}s`}`,
  'pod-collected': ({ pod, node, why }) =>
    `pod ${pod} ${node === '' ? '' : `of ${node} `}deleted without a grace period: ${collectReasons[why]}`,
  'terminated-pods-surplus': ({ terminated, threshold, perNode = 0, aged = 0 }) => {
    const left = terminated - perNode - aged;
    const reasons = [
      ...(threshold > 0 && left > threshold ? [`${left - threshold} more than the threshold of ${threshold}`] : []),
      ...(perNode > 0 ? [`${perNode} more than are kept on their node`] : []),
      ...(aged > 0 ? [`${aged} completed too long ago`] : []),
    ];
    return `${terminated} terminated pods, ${reasons.join(', ')}: the oldest are deleted, evicted ones first`;
  },
  'node-missing': ({ node, pods, quarantineMs }) =>
    `node ${node}: not found, ${pods} pods are bound to it; they are deleted if it is still missing in ${seconds(quarantineMs)} and the API server confirms it`,
  'orphans-kept': ({ node, why }) => `pods of node ${node} kept: ${keepReasons[why]}`,
  'node-eviction-scheduled': ({ node, ready, inMs, timeoutMs }) =>
    `node ${node}: its pods are deleted in ${seconds(inMs)} if Ready is still ${ready} (pod eviction timeout ${seconds(timeoutMs)})`,
  'node-eviction-queued': ({ node, zone, ready, unreadyMs, timeoutMs, ahead }) =>
    `node ${node}: added to the pod deletion queue of zone ${zoneName(zone)}, ${ahead} ahead: Ready=${ready} for ${seconds(unreadyMs)} (pod eviction timeout ${seconds(timeoutMs)})`,
  'node-eviction-withdrawn': ({ node, why }) => `node ${node}: deletion of its pods cancelled (${withdrawals[why]})`,
  'node-evicted': ({ node, leaving, spared, terminating }) =>
    `node ${node}: deleting its pods: ${leaving} to delete, ${spared} of DaemonSets kept, ${terminating} already terminating`,
  'pod-spared': ({ pod, node, daemonSet }) => `pod ${pod} kept on ${node}: DaemonSet ${daemonSet} selects it`,
  'pod-evicted-with-node': ({ pod, node, why }) => `pod ${pod} evicted from ${node}: ${nodeEvictionReasons[why]}`,
  'evaluation-failed': ({ stage, subject, message }) =>
    `evaluation of ${subject} failed (${stage}), a defect of this controller; retrying: ${message}`,
  'write-failed': ({ write, subject, reason }) =>
    `${write} of ${subject} failed (${reason}); evaluated again, and repeated if still needed`,
};

const overdueEndings: Readonly<Record<OverdueEnd, string>> = {
  heartbeat: 'it sent a heartbeat',
  silent: 'its grace period is over',
  withdrawn: 'it is in planned maintenance, or its policy changed',
  gone: 'it does not exist any more',
};

const breakerEndings: Readonly<Record<BreakerClosing['why'], string>> = {
  'cooldown-over': 'not too many nodes were unhealthy for the cooldown',
  reset: 'it was reset',
  'limits-removed': 'the policy has no limits any more',
};

const heldReasons = {
  'lease-renewed': 'its lease is newer in the API server; the lease watch is behind',
  'leases-missing': `most nodes have no lease: the namespace ${nodeLeaseNamespace} may have been deleted`,
  'api-not-answering': 'the API server did not answer the read of its lease',
  'not-permitted': `reading its lease is forbidden: grant get and list of leases in ${nodeLeaseNamespace}`,
} as const;

const pauseReadings = {
  none: 'not paused',
  paused: 'paused',
  malformed: 'neither "true", "false" nor an RFC 3339 time, so the node is paused',
} as const;

const maintenanceEnds = {
  cleared: 'no condition or taint means maintenance any more, or the policy changed',
  maximum: 'its maximum duration is over',
  released: 'what is left on the node does not hold it, for example because it is silent now',
} as const;

const withheldActs: Readonly<Record<NodeAct, string>> = {
  'mark-unknown': 'marking Ready=Unknown',
  'add-taints': 'adding taints',
  'mark-pods-not-ready': 'marking its pods NotReady',
  'delete-pods': 'deleting its pods',
  'remove-taints': 'removing taints',
  'set-labels': 'setting labels and annotations',
};

const withdrawals = {
  'node-ready': 'node is Ready',
  'node-gone': 'node was deleted',
  'zone-left': 'node changed its zone',
  'not-due': 'a heartbeat was received, the timeout starts again',
  'full-disruption': 'full disruption',
} as const;

const evictionHolds: Readonly<Record<EvictionHold, string>> = {
  'full-disruption': 'all zones are fully disrupted (full-disruption)',
  stale: 'the watch streams are stale (stale)',
  'stale-pods': 'the watch of pods is not open (stale-pods)',
  'node-is-ready': 'the node is Ready and its taint is about to be removed (node-is-ready)',
  'late-cache': 'the node cache may be behind, and a live read does not confirm the taint (late-cache)',
  'lease-is-renewed': 'the lease of the node is being renewed (lease-is-renewed)',
  breaker: 'the breaker of the policy of the node is open (breaker)',
  'hourly-limit': 'as many pods were evicted within an hour as the policy of the node allows (hourly-limit)',
  observed: 'the policy of the node has mode Observe (observed)',
  maintenance: 'the node is in planned maintenance (maintenance)',
  paused: 'the node is paused (paused)',
  veto: 'another tool says that the node is not to be repaired (veto)',
  'detect-only': 'the policy of the node has mode Detect (detect-only)',
};

const withholding = {
  Observe: 'withheld (mode Observe)',
  Paused: 'held (paused)',
  Detect: 'held (mode Detect)',
} as const;

const waitEndings = {
  timeout: 'the timeout is over',
  unreachable: 'its node is unreachable',
  'not-asked': 'the policy of its node does not set evictReachable any more',
} as const;

const boots: Readonly<Record<BootEvidence, string>> = {
  same: 'its boot ID is unchanged, the machine did not restart',
  changed: 'its boot ID changed, the machine restarted',
  unknown: 'no boot ID to compare, whether the machine restarted is unknown',
};

const collectReasons: Readonly<Record<PodGcReason, string>> = {
  terminated: 'it has terminated, and more terminated pods exist than the threshold allows',
  'out-of-service': 'it is terminating on a node that is not ready and has the out-of-service taint',
  orphaned: 'its node no longer exists',
  unscheduled: 'it is terminating and was never bound to a node',
};

const keepReasons = {
  'node-back': 'the node exists in the cache again',
  'node-found': 'the API server has the node; the node watch is behind',
  'api-not-answering': 'the API server did not answer the read of the node',
  'not-permitted': 'reading the node is forbidden: grant get of nodes',
} as const;

const nodeEvictionReasons: Readonly<Record<NodeEvictionReason, string>> = {
  'node-evicted': 'the node was not Ready for longer than the pod eviction timeout',
  'landed-on-evicted-node': 'it was bound to the node after its other pods were deleted',
  'node-gone': 'the node no longer exists',
};

/** One sentence, with the reason in it: for `explain`, the decisions page and the demo. Logs have constant messages instead. */
export function describeDecision(decision: Decision): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table's type ties each kind to its function
  const describe = describers[decision.kind] as (decision: Decision) => string;
  return describe(decision);
}

const rules: Readonly<Record<RateRule, string>> = {
  normal: 'below the threshold: the primary rate applies',
  'large-zone-disrupted': 'the share reaches the threshold in a large zone: the secondary rate applies',
  'small-zone-disrupted': 'the share reaches the threshold in a small zone: evictions stopped',
  'zone-fully-disrupted': 'no node is ready, but other zones have ready nodes: the full disruption rate applies',
  'full-disruption': 'no zone has a ready node: evictions stopped',
};

function describeArithmetic(why: ZoneArithmetic): string {
  const size = why.ready + why.unready;
  const share = size === 0 ? 0 : why.unready / size;
  return `${why.unready} of ${size} unready = ${share.toFixed(2)} (threshold ${why.unhealthyZoneThreshold}, large above ${why.largeClusterSizeThreshold}); ${rules[why.rule]}`;
}

function describeOutage({ outage, zone, together, of, zonesStruck, zones, windowMs }: OutageArithmetic): string {
  const where = outage === 'ControlPlanePathFailure' ? `${zonesStruck} of ${zones} zones` : `zone ${zoneName(zone)}`;
  return `${outage}: ${together} of ${of} nodes in ${where} sent their last heartbeat within ${seconds(windowMs)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)}s`;
}
