import { flappingTaintKey, sameTaint, type Taint } from '../../machinery/api/taints.ts';
import {
  type Action,
  buildEvictionForecast,
  buildNodeForecast,
  type EvictionForecast,
  type NodeForecast,
} from './build-forecasts.ts';
import {
  buildEvictionPartHolds,
  buildHolds,
  buildNodeHolds,
  buildZoneHolds,
  estimateBreakerEndMs,
  estimateMaintenanceEndMs,
  estimatePauseEndMs,
} from './build-holds.ts';
import { buildAwaitedHolds } from './build-awaited-holds.ts';
import { formatAction, formatEstimate, formatEviction } from './format-time.ts';
import { buildZoneOutlook, type ZoneOutlook } from './build-zone-outlook.ts';
import type { FlappingReport } from '../model/flapping.ts';
import type { Now } from '../model/node-state.ts';
import type { ClusterReport, NodeReport } from './reports.ts';

export type NodeOutlook = ReturnType<typeof buildNodeOutlook>;

interface RareParts {
  /** The zone around its zone, which must allow a NoExecute taint too. */
  readonly outerZone?: ZoneOutlook;
  /**
   * Flapping of the node: it recovered within the window of its policy, is kept from new pods, or is to be released.
   */
  readonly flapping?: FlappingReport;
}

const evictionsShownMax = 50;
const notEvaluated = { lastHeartbeat: null, grace: null, silence: null };

/** Current state of a node, the wanted state, the holds, and the next action with its time. */
export function buildNodeOutlook(report: NodeReport, cluster: ClusterReport) {
  const { now, runs } = cluster;
  const { node, ready, counted, health, policy, outOfService, taints, zone, pods, problems, history } = report;
  const forecast = buildNodeForecast(report, cluster);
  const { taint, eviction } = forecast;
  const evictions = buildEvictionForecasts(report, forecast, cluster);
  const { lastHeartbeat, grace, silence } = health ?? notEvaluated;
  const ahead = zone.queue.nodes.indexOf(node);
  return {
    node,
    ready,
    lastHeartbeat,
    grace,
    silence,
    /** Null: there are no policies. */
    policy,
    /** Null: no policy or label allows the taint out-of-service, and no record of it exists. */
    outOfService: outOfService.kind === 'none' ? null : outOfService,
    zone: buildZoneOutlook(zone, now),
    ...buildRareParts(report, now),
    counted,
    /** `wanted` is null where this process does not manage taints. */
    taints: {
      carried: taints.carried,
      wanted: runs.nodeLifecycle ? [...taints.wanted, ...selectFlappingTaints(report)] : null,
    },
    /** Null: not queued. */
    queue: ahead < 0 ? null : { ahead, waiting: zone.queue.nodes.length },
    holds: [
      ...buildHolds(cluster),
      ...buildEvictionPartHolds(cluster),
      ...buildNodeHolds(report),
      ...buildAwaitedHolds(report, now),
      ...[zone, ...(zone.outer === undefined ? [] : [zone.outer])].flatMap(buildZoneHolds),
    ],
    next: formatAction(buildNodeActions(report, forecast, evictions, cluster), now),
    /** Null: it has the taint, or there is no cause, as in eviction mode. */
    noExecuteTaint: taint ? { key: taint.key, given: taint.given, when: formatEstimate(taint.atMs, now) } : null,
    /** Null in taint mode, and where this process does not evict nodes. */
    eviction: eviction
      ? {
          mark: eviction.mark,
          due: eviction.due,
          /** Time at which the node is served and its pods are deleted. Null: it is evicted. */
          slot: eviction.mark === 'evicted' ? null : formatEstimate(eviction.atMs, now),
          given: eviction.given,
        }
      : null,
    evictions: {
      scheduled: evictions.filter(({ state }) => state === 'scheduled').length,
      predicted: evictions.filter(({ state }) => state === 'predicted').length,
      /** Eviction mode: pods of DaemonSets, which stay. */
      spared: pods.filter(({ daemonSet }) => daemonSet !== undefined).length,
      first: evictions.slice(0, evictionsShownMax).map((predicted) => formatEviction(predicted, now)),
    },
    problems,
    history,
  } as const;
}

/** What most nodes do not have. */
function buildRareParts({ zone: { outer }, flapping }: NodeReport, now: Now): RareParts {
  const isUnknown = flapping.state.kind === 'none' && flapping.recoveries === 0;
  return {
    ...(outer === undefined ? {} : { outerZone: buildZoneOutlook(outer, now) }),
    ...(isUnknown ? {} : { flapping }),
  };
}

/** Earliest first; pods with equal times by name, so that the order is deterministic. */
function buildEvictionForecasts(
  { pods }: NodeReport,
  forecast: NodeForecast,
  cluster: ClusterReport,
): readonly EvictionForecast[] {
  return pods
    .flatMap((pod) => buildEvictionForecast(pod, forecast, cluster) ?? [])
    .sort((a, b) => compare(a.atMs, b.atMs) || compare(a.pod, b.pod));
}

function compare<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Actions of this process for a node and its pods; none unless it leads. `evictions`: soonest first. */
function buildNodeActions(
  report: NodeReport,
  { taint, eviction }: NodeForecast,
  evictions: readonly EvictionForecast[],
  cluster: ClusterReport,
): readonly Action[] {
  if (!cluster.leading) return [];
  const actions: Action[] = [];
  if (cluster.runs.nodeLifecycle) actions.push(...taintCorrections(report, cluster));
  if (cluster.runs.nodeLifecycle) actions.push(...markings(report, cluster), ...releases(report, cluster));
  if (report.taints.rationedKey !== undefined && taint !== undefined) {
    const { key, given, atMs } = taint;
    actions.push({ act: 'add-taint', subject: `${key}:NoExecute`, given, atMs });
  }
  if (eviction !== undefined && eviction.mark !== 'evicted') {
    actions.push({ act: 'evict-node', subject: null, given: eviction.given, atMs: eviction.atMs });
  }
  const scheduled = evictions.find(({ state }) => state === 'scheduled');
  if (scheduled !== undefined) {
    actions.push({ act: 'evict-pod', subject: scheduled.pod, given: scheduled.given, atMs: scheduled.atMs });
  }
  return actions;
}

/** Taint changes that are not rate-limited: due now. */
function taintCorrections({ taints }: NodeReport, cluster: ClusterReport): readonly Action[] {
  const { now } = cluster;
  const { carried, wanted, surplus, rationedKey } = taints;
  const isRationed = ({ key, effect }: Taint): boolean => effect === 'NoExecute' && key === rationedKey;
  const missing = wanted.filter((taint) => !isRationed(taint) && !carried.some((other) => sameTaint(taint, other)));
  if (missing.length + surplus.length === 0) return [];
  const signed = (sign: string, { key, effect }: Taint): string => `${sign}${key}:${effect}`;
  const changes = [...missing.map((taint) => signed('+', taint)), ...surplus.map((taint) => signed('-', taint))];
  const isSwap = missing.some(({ effect }) => effect === 'NoExecute');
  // A pause holds additions only; a breaker and maintenance those of NoExecute taints.
  const pausedUntilMs = missing.length > 0 ? estimatePauseEndMs(cluster) : -Infinity;
  const heldUntilMs = Math.max(estimateBreakerEndMs(cluster), estimateMaintenanceEndMs(cluster));
  const atMs = Math.max(now.monotonicMs, pausedUntilMs, isSwap ? heldUntilMs : -Infinity);
  return [{ act: 'change-taints', subject: changes.join(' '), given: 'nothing-changes', atMs }];
}

/** The taint of a node that is kept, or is to be kept. */
function selectFlappingTaints({ flapping }: NodeReport): readonly Taint[] {
  const isWanted = flapping.state.kind === 'kept' || flapping.state.kind === 'due';
  return isWanted ? [{ key: flappingTaintKey, effect: 'NoSchedule' }] : [];
}

/** The change of the taint of a node that flaps. */
function releases({ flapping }: NodeReport, cluster: ClusterReport): readonly Action[] {
  const { now } = cluster;
  const { state } = flapping;
  const change = (sign: string, atMs: number): readonly Action[] => {
    return [{ act: 'change-taints', subject: `${sign}${flappingTaintKey}:NoSchedule`, given: 'nothing-changes', atMs }];
  };
  if (state.kind === 'none') return [];
  if (state.kind === 'due') return change('+', Math.max(now.monotonicMs, estimatePauseEndMs(cluster)));
  return change('-', state.kind === 'kept' ? now.monotonicMs + state.record.untilMs - now.wallMs : now.monotonicMs);
}

function markings(report: NodeReport, cluster: ClusterReport): readonly Action[] {
  const { now, stale } = cluster;
  const { ready, health } = report;
  if (health === undefined || ready === 'Unknown') return [];
  const held = stale !== undefined || buildNodeHolds(report).length > 0;
  const atMs = held ? Infinity : Math.max(health.silentFromMs, now.monotonicMs, estimatePauseEndMs(cluster));
  return [{ act: 'mark-unknown', subject: null, given: 'no-heartbeat', atMs }];
}
