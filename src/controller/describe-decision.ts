import { nodeLeaseNamespace } from '../api/resources.ts';
import { zoneName } from '../api/zone.ts';
import type { BlindReason } from '../ports/sight.ts';
import type {
  BootEvidence,
  Decision,
  DepartureReason,
  OutageReckoning,
  PodGcReason,
  RateRule,
  ZoneReckoning,
} from './decisions.ts';

/** What the decision is about: the key under which it is kept. */
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
  'node-registered': ({ node, zone }) => `node ${node} is watched now, in zone ${zoneName(zone)}`,
  'node-removed': ({ node }) => `node ${node} was deleted and is forgotten`,
  'node-silent': ({ node, silentMs, graceMs, rule, outage }) =>
    `node ${node} is silent: nothing heard for ${seconds(silentMs)}, more than the ${rule} grace period of ${seconds(graceMs)} (${outage})`,
  'outage-named': ({ why }) => describeOutage(why),
  'acts-held': ({ holdMs, why }) =>
    `${describeOutage(why)}: for ${seconds(holdMs)} at the most pods stay ready and no node is tainted NoExecute or evicted`,
  'acts-resumed': ({ outage, heldMs, ending }) =>
    ending === 'recovered'
      ? `${outage} is over after ${seconds(heldMs)}: enough nodes are heard again`
      : `the hold for ${outage} has expired after ${seconds(heldMs)}: nodes that are still silent are treated like any other`,
  'verdict-held': ({ node, why }) => `node ${node} looks silent, but no verdict: ${heldReasons[why]}`,
  'sight-lost': ({ why }) =>
    `ObserverStale: we do not trust our eyes: ${blindReasons[why]}; no node is called silent for now`,
  'sight-regained': ({ blindMs }) => `we see again: ${seconds(blindMs)} without sight are held against no node`,
  'node-recovered': ({ node, boot }) => `node ${node} is no longer silent: ${boots[boot]}`,
  'node-ready': ({ node, was }) => `node ${node} is Ready again (was ${was})`,
  'node-not-ready': ({ node, reason }) => `node ${node} says itself that it is not ready: ${reason}`,
  'zone-changed': ({ zone, from, to, ratePerSecond, why }) =>
    `zone ${zoneName(zone)}: ${from} -> ${to}, ${ratePerSecond} turns/s: ${describeReckoning(why)}`,
  'outage-entered': ({ zones }) =>
    `every zone is dark (${zones}): the fault is more likely ours than theirs, so nothing is tainted or evicted, and what was tainted is pardoned`,
  'outage-left': () => 'a zone answers again: every node gets a full grace period from now, and the rates apply again',
  'taints-held': ({ zone, waiting, why }) =>
    `zone ${zoneName(zone)}: ${waiting} nodes wait for their turn and none is given: ${describeReckoning(why)}`,
  'taint-queued': ({ node, zone, key, ahead }) =>
    `node ${node} waits for ${key}:NoExecute in zone ${zoneName(zone)}, ${ahead} ahead`,
  'taint-withdrawn': ({ node, why }) => `node ${node} left the line for its NoExecute taint: ${why}`,
  'taints-changed': ({ node, added, removed, why }) =>
    `node ${node} ${[...added.map((taint) => `+${taint}`), ...removed.map((taint) => `-${taint}`)].join(' ')} (${why})`,
  'labels-set': ({ node, labels }) =>
    `node ${node} got ${Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(', ')}`,
  'pod-marked-not-ready': ({ pod, node }) => `pod ${pod} marked not ready: its node ${node} is silent`,
  'eviction-scheduled': ({ pod, node, inMs, taint, toleratedSeconds }) =>
    `pod ${pod} leaves ${node} in ${seconds(inMs)}: it tolerates ${taint} for ${toleratedSeconds} s`,
  'eviction-cancelled': ({ pod, node, why }) => `pod ${pod} stays on ${node}: ${why}`,
  'eviction-held': ({ pod, node, why }) => `pod ${pod} is due to leave ${node} but is held: ${why}`,
  'pod-evicted': ({ pod, node, taint, toleratedSeconds }) =>
    `pod ${pod} evicted from ${node}: it ${toleratedSeconds === 0 ? `does not tolerate ${taint}` : `tolerated ${taint} for ${toleratedSeconds} s`}`,
  'pod-collected': ({ pod, node, why }) =>
    `pod ${pod} ${node === '' ? '' : `of ${node} `}deleted without grace: ${collectReasons[why]}`,
  'terminated-pods-surplus': ({ terminated, threshold }) =>
    `${terminated} pods have finished, ${terminated - threshold} more than the threshold of ${threshold}: the oldest go, evicted ones first`,
  'node-missing': ({ node, pods, quarantineMs }) =>
    `node ${node} is not known and ${pods} pods are bound to it: if it is still missing in ${seconds(quarantineMs)} and the API server confirms it, they go`,
  'orphans-kept': ({ node, why }) => `the pods of ${node} stay: ${keepReasons[why]}`,
  'node-eviction-scheduled': ({ node, ready, inMs, timeoutMs }) =>
    `node ${node} loses its pods in ${seconds(inMs)} if it is ${ready} until then: the pod eviction timeout is ${seconds(timeoutMs)}`,
  'node-eviction-queued': ({ node, zone, ready, unreadyMs, timeoutMs, ahead }) =>
    `node ${node} waits to lose its pods in zone ${zoneName(zone)}, ${ahead} ahead: ${ready} for ${seconds(unreadyMs)}, more than ${seconds(timeoutMs)}`,
  'node-eviction-withdrawn': ({ node, why }) => `node ${node} keeps its pods: ${why}`,
  'node-evicted': ({ node, leaving, spared, terminating }) =>
    `node ${node} loses its pods: ${leaving} leave, ${spared} belong to a DaemonSet and stay, ${terminating} are terminating already`,
  'pod-spared': ({ pod, node, daemonSet }) => `pod ${pod} stays on ${node}: DaemonSet ${daemonSet} selects it`,
  'pod-evicted-with-node': ({ pod, node, why }) => `pod ${pod} evicted from ${node}: ${departures[why]}`,
  'look-failed': ({ stage, subject, message }) =>
    `looking at ${subject} (${stage}) failed, which is a fault of this controller; it is tried again: ${message}`,
  'write-failed': ({ write, subject, reason }) =>
    `${write} of ${subject} failed (${reason}); it is looked at again and repeated if still wanted`,
};

const heldReasons = {
  'lease-renewed': 'the API server itself has a renewed lease, so our stream is behind',
  'api-not-answering': 'the API server could not be asked for its lease',
  'not-permitted': `the API server does not let us read its lease: permit get and list of leases in ${nodeLeaseNamespace}`,
} as const;

const blindReasons: Readonly<Record<BlindReason, string>> = {
  'no-contact': 'nothing comes from the API server and it does not answer',
  'streams-not-open': 'the streams of nodes and leases are being opened anew',
  'stream-behind': 'the stream of leases is behind what the API server has acknowledged',
  observing: 'contact is back, and everybody gets time to be heard',
};

const boots: Readonly<Record<BootEvidence, string>> = {
  same: 'its boot ID is the one it had, so it had never been down',
  changed: 'it has another boot ID, so it was restarted',
  unknown: 'whether it was restarted is not known, for want of a boot ID',
};

const collectReasons: Readonly<Record<PodGcReason, string>> = {
  terminated: 'it has finished, and more finished pods are kept than the threshold allows',
  'out-of-service': 'it is terminating on a node that is not ready and was declared out of service',
  orphaned: 'its node no longer exists',
  unscheduled: 'it is terminating and was never bound to a node',
};

const keepReasons = {
  'node-back': 'the node is known again',
  'node-found': 'the API server itself has the node, so our stream is behind',
  'api-not-answering': 'the API server could not be asked for the node',
  'not-permitted': 'the API server does not let us read the node: permit get of nodes',
} as const;

const departures: Readonly<Record<DepartureReason, string>> = {
  'node-evicted': 'the node was not Ready for longer than the pod eviction timeout',
  'landed-on-evicted-node': 'it was bound to the node after the others were sent away',
  'node-gone': 'the node no longer exists',
};

/** One sentence for people, with the reason in it. */
export function describeDecision(decision: Decision): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table's type ties each kind to its function
  const describe = describers[decision.kind] as (decision: Decision) => string;
  return describe(decision);
}

const rules: Readonly<Record<RateRule, string>> = {
  normal: 'too few are unready to slow down',
  'large-zone-disrupted': 'the share reaches the threshold in a large zone: the secondary rate applies',
  'small-zone-disrupted': 'the share reaches the threshold in a small zone: stopped',
  'zone-dark': 'none is ready, but other zones are: the fault is in the zone, its rate applies',
  'every-zone-dark': 'none is ready here nor anywhere: stopped',
};

function describeReckoning(why: ZoneReckoning): string {
  const size = why.ready + why.unready;
  const share = size === 0 ? 0 : why.unready / size;
  return `${why.unready} of ${size} unready = ${share.toFixed(2)} (threshold ${why.unhealthyZoneThreshold}, large above ${why.largeClusterSizeThreshold}); ${rules[why.rule]}`;
}

function describeOutage({ outage, zone, together, of, zonesStruck, zones, windowMs }: OutageReckoning): string {
  const where = outage === 'ControlPlanePathFailure' ? `${zonesStruck} of ${zones} zones` : `zone ${zoneName(zone)}`;
  return `${outage}: ${together} of ${of} nodes in ${where} fell silent within ${seconds(windowMs)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}
