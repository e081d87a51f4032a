import { compare } from '../../machinery/api/compare.ts';
import { flappingTaintKey, type Taint } from '../../machinery/api/taints.ts';
import { buildEvictionForecast, buildNodeForecast, type EvictionForecast } from './build-forecasts.ts';
import { buildEvictionPartHolds, buildProcessHolds } from './build-holds.ts';
import { buildNextActions } from './build-next-actions.ts';
import { buildShownTaint } from './build-shown-fields.ts';
import { buildZoneOutlook } from './build-zone-outlook.ts';
import { formatAction, formatEstimate, formatEviction, formatPast, formatWallPast, toSeconds } from './format-time.ts';
import type { NodeOutlook } from './pages.ts';
import type { NodeReport } from './read-node.ts';

const evictionsShownMax = 50;

/** Current state of a node, the wanted state, the holds, and the next action with its time. */
export function buildNodeOutlook(report: NodeReport): NodeOutlook {
  const { name, ready, state, counted, policy, outOfService, zone, problems, history, cluster, now } = report;
  const forecast = buildNodeForecast(report);
  const { taint } = forecast;
  const { pods } = report;
  const evictions = buildEvictionForecasts(pods.map((pod) => buildEvictionForecast(pod, forecast, report)));
  const ahead = zone.placeOf(name);
  const scheduled = evictions.filter((eviction) => eviction.state === 'scheduled');
  return {
    node: name,
    ready,
    state,
    ...buildHeartbeat(report),
    policy,
    outOfService: outOfService.kind === 'none' ? null : outOfService,
    zone: buildZoneOutlook(zone, now),
    ...buildRareParts(report),
    counted,
    taints: buildTaints(report),
    queue: ahead === undefined ? null : { ahead, waiting: zone.waiting },
    holds: [...buildProcessHolds(cluster), ...buildEvictionPartHolds(cluster), ...report.holds],
    next: formatAction(buildNextActions(report, forecast, scheduled[0]), now),
    noExecuteTaint: taint ? { key: taint.key, given: taint.given, when: formatEstimate(taint.atMs, now) } : null,
    eviction: buildNodeEviction(report, forecast),
    evictions: {
      scheduled: scheduled.length,
      predicted: evictions.length - scheduled.length,
      spared: pods.filter(({ daemonSet }) => daemonSet !== undefined).length,
      first: evictions.slice(0, evictionsShownMax).map((predicted) => formatEviction(predicted, now)),
    },
    problems,
    history,
  };
}

function buildHeartbeat({
  heartbeat,
  isSilent,
  stale,
  now,
}: NodeReport): Pick<NodeOutlook, 'lastHeartbeat' | 'grace' | 'silence'> {
  if (heartbeat === undefined) return { lastHeartbeat: null, grace: null, silence: null };
  const { atMs, channel, graceMs, rule, policy, silentFromMs } = heartbeat;
  return {
    lastHeartbeat: { ...formatPast(atMs, now), channel },
    grace: {
      seconds: toSeconds(graceMs),
      rule,
      flag: `node-${rule === 'startup' ? rule : 'monitor'}-grace-period`,
      policy,
    },
    silence: {
      silent: isSilent,
      since: isSilent ? formatPast(silentFromMs, now) : null,
      from: isSilent ? null : formatEstimate(stale === undefined ? silentFromMs : Infinity, now),
    },
  };
}

function buildTaints({ taints, flapping, cluster }: NodeReport): NodeOutlook['taints'] {
  const isKept = flapping.state.kind === 'kept' || flapping.state.kind === 'due';
  const kept: readonly Taint[] = isKept ? [{ key: flappingTaintKey, effect: 'NoSchedule' }] : [];
  const carried = taints.carried.map(buildShownTaint);
  return { carried, wanted: cluster.runs.nodeLifecycle ? [...taints.wanted, ...kept] : null };
}

/** What most nodes do not have. */
function buildRareParts({
  zone: { outer },
  flapping,
  overdue,
  detection,
  lifecycle,
  now,
}: NodeReport): Pick<NodeOutlook, 'outerZone' | 'flapping' | 'overdue' | 'detection' | 'lifecycle'> {
  const isUnknown = flapping.state.kind === 'none' && flapping.recoveries === 0;
  return {
    ...(outer === undefined ? {} : { outerZone: buildZoneOutlook(outer, now) }),
    ...(isUnknown ? {} : { flapping }),
    ...(overdue && { overdue: { policy: overdue.policy, since: formatWallPast(overdue.sinceMs, now) } }),
    ...(detection && { detection }),
    ...(lifecycle.length === 0 ? {} : { lifecycle }),
  };
}

function buildNodeEviction(
  { now }: NodeReport,
  { eviction }: ReturnType<typeof buildNodeForecast>,
): NodeOutlook['eviction'] {
  if (eviction === undefined) return null;
  const { mark, due, atMs, given } = eviction;
  return { mark, due, slot: mark === 'evicted' ? null : formatEstimate(atMs, now), given };
}

/** Earliest first; pods with equal times by name, so that the order is deterministic. */
function buildEvictionForecasts(all: readonly (EvictionForecast | undefined)[]): readonly EvictionForecast[] {
  return all.flatMap((eviction) => eviction ?? []).sort((a, b) => compare(a.atMs, b.atMs) || compare(a.pod, b.pod));
}
