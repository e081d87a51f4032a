import type { Decision, RateRule, ZoneReckoning } from './decisions.ts';

/** What the decision is about: the key under which it is kept. */
export function subjectOfDecision(decision: Decision): string {
  if ('pod' in decision) return decision.pod;
  if ('node' in decision) return decision.node;
  if ('zone' in decision) return zoneName(decision.zone);
  return 'subject' in decision ? decision.subject : 'cluster';
}

type Describers = { readonly [K in Decision['kind']]: (decision: Extract<Decision, { readonly kind: K }>) => string };

const describers: Describers = {
  'node-registered': ({ node, zone }) => `node ${node} is watched now, in zone ${zoneName(zone)}`,
  'node-removed': ({ node }) => `node ${node} was deleted and is forgotten`,
  'node-silent': ({ node, silentMs, graceMs, rule }) =>
    `node ${node} is silent: nothing heard for ${seconds(silentMs)}, more than the ${rule} grace period of ${seconds(graceMs)}`,
  'node-ready': ({ node, was }) => `node ${node} is Ready again (was ${was})`,
  'node-not-ready': ({ node, reason }) => `node ${node} says itself that it is not ready: ${reason}`,
  'zone-changed': ({ zone, from, to, ratePerSecond, why }) =>
    `zone ${zoneName(zone)}: ${from} -> ${to}, ${ratePerSecond} NoExecute taints/s: ${describeReckoning(why)}`,
  'outage-entered': ({ zones }) =>
    `every zone is dark (${zones}): the fault is more likely ours than theirs, so nothing is tainted or evicted, and what was tainted is pardoned`,
  'outage-left': () => 'a zone answers again: every node gets a full grace period from now, and the rates apply again',
  'taints-held': ({ zone, waiting, why }) =>
    `zone ${zoneName(zone)}: ${waiting} nodes wait for a NoExecute taint and none is given: ${describeReckoning(why)}`,
  'taint-queued': ({ node, zone, key, ahead }) =>
    `node ${node} waits for ${key}:NoExecute in zone ${zoneName(zone)}, ${ahead} ahead`,
  'taint-withdrawn': ({ node, why }) => `node ${node} left the line for its NoExecute taint: ${why}`,
  'taints-changed': ({ node, added, removed, why }) =>
    `node ${node} ${[...added.map((taint) => `+${taint}`), ...removed.map((taint) => `-${taint}`)].join(' ')} (${why})`,
  'pod-marked-not-ready': ({ pod, node }) => `pod ${pod} marked not ready: its node ${node} is silent`,
  'eviction-scheduled': ({ pod, node, inMs, taint, toleratedSeconds }) =>
    `pod ${pod} leaves ${node} in ${seconds(inMs)}: it tolerates ${taint} for ${toleratedSeconds} s`,
  'eviction-cancelled': ({ pod, node, why }) => `pod ${pod} stays on ${node}: ${why}`,
  'eviction-held': ({ pod, node, why }) => `pod ${pod} is due to leave ${node} but is held: ${why}`,
  'pod-evicted': ({ pod, node, taint, toleratedSeconds }) =>
    `pod ${pod} evicted from ${node}: it ${toleratedSeconds === 0 ? `does not tolerate ${taint}` : `tolerated ${taint} for ${toleratedSeconds} s`}`,
  'write-failed': ({ write, subject, reason }) =>
    `${write} of ${subject} failed (${reason}); it is looked at again and repeated if still wanted`,
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
  'zone-dark': 'none is ready, but other zones are: the fault is in the zone, the full rate applies',
  'every-zone-dark': 'none is ready here nor anywhere: stopped',
};

function describeReckoning(why: ZoneReckoning): string {
  const size = why.ready + why.unready;
  const share = size === 0 ? 0 : why.unready / size;
  return `${why.unready} of ${size} unready = ${share.toFixed(2)} (threshold ${why.unhealthyZoneThreshold}, large above ${why.largeClusterSizeThreshold}); ${rules[why.rule]}`;
}

/** The unnamed zone of nodes without zone labels needs a name to be spoken of. */
export function zoneName(zone: string): string {
  return zone === '' ? '(none)' : zone;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}
