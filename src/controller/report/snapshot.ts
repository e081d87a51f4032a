// The current state of all stages, read only: the input of `explain/`. Keeps no state.
import type { NodeView } from '../../machinery/api/node.ts';
import { formatMicroTime } from '../../machinery/api/timestamps.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import { nodeLeaseNamespace } from '../../machinery/api/resources.ts';
import { podKey, type PodView } from '../../machinery/api/pod.ts';
import { hasTaint, taintKeys } from '../../machinery/api/taints.ts';
import { isExcludedFromDisruption } from '../../machinery/api/topology.ts';
import { outerZoneOf, zoneName } from '../../machinery/api/zone.ts';
import type { Informer } from '../../machinery/informer/informer.ts';
import type { NotedDecision } from '../decision-log/decision-log.ts';
import { estimateRateAfterLoss, estimateRecoveriesToNormal } from './estimate-hypotheses.ts';
import { buildPolicyReport, selectGracePolicy } from './build-policy-report.ts';
import { buildTaintReport } from './build-taint-report.ts';
import { describeDecision } from '../decision-log/describe-decision.ts';
import { podsByNode } from '../taint-eviction/taint-evictor.ts';
import { EvictionSnapshot } from './eviction-snapshot.ts';
import type {
  AwaitedReport,
  ClusterReport,
  HealthReport,
  HistoryLine,
  InformerReport,
  NodeReport,
  OutageHoldReport,
  PodBrief,
  PodReport,
  QueueReport,
  ZoneReport,
} from './reports.ts';
import { buildHolds } from './build-holds.ts';
import { buildNodeOutlook, type NodeOutlook } from './build-node-outlook.ts';
import { buildPodOutlook, type PodOutlook } from './build-pod-outlook.ts';
import { buildZoneOutlook, type ZoneOutlook } from './build-zone-outlook.ts';
import type { StatusOutlook } from './text/describe-status.ts';
import { formatEstimate, formatPast, toSeconds } from './format-time.ts';
import type { Now } from '../model/node-state.ts';
import type { PolicyCount } from '../model/policy.ts';
import { graceOf, readyOf } from '../health/assess-node.ts';
import { runningParts } from '../model/options.ts';
import { buildCollectionReport, buildPodGcReport } from './pod-gc-snapshot.ts';
import { type EvictionList, listEvictions, listNodes, type NodeList, type NodeQuery } from './node-list.ts';
import { toMonotonicMs, recordOf, type SnapshotSources } from './report-sources.ts';
import type { ZoneTally } from '../zones/plan-rates.ts';

/** The pages of explanations. Unknown names return undefined. */
export type Snapshot = Pick<LiveSnapshot, 'node' | 'pod' | 'zones' | 'status' | 'nodes' | 'evictions'>;

const stopped: QueueReport = { nodes: [], tokens: 0, nextTokenAtMs: Infinity, ratePerSecond: 0 };

/** The snapshot of a running controller: each call reads current state, at the cost of what it reads. */
export class LiveSnapshot {
  readonly #sources: SnapshotSources;
  /** Undefined in taint mode. */
  readonly #eviction: EvictionSnapshot | undefined;

  constructor(sources: SnapshotSources) {
    const { podEvictor } = sources.stages;
    this.#sources = sources;
    this.#eviction = podEvictor && new EvictionSnapshot(sources, podEvictor);
  }

  /**
   * State of the cluster; with a node, as it applies to the node. A hold applies to the nodes for which it was
   * classified.
   */
  #cluster(node?: string): ClusterReport {
    const { leadership, holder, stages, controllers, options } = this.#sources;
    return {
      now: this.#now,
      leading: leadership.holds(),
      shadow: this.#sources.shadow === true,
      leader: holder() ?? null,
      mode: this.#eviction === undefined ? 'taint' : 'eviction',
      runs: runningParts(controllers, options.current()),
      stale: stages.freshness.staleness(),
      podsStale: stages.freshness.arePodsStale(),
      fullDisruption: stages.zones.fullDisruption,
      outageHold: this.#outageHold(node),
      nodeHold: stages.policies.modeOf(node ?? ''),
      policySource: options.current().policySource,
      maintenance: stages.policies.maintenanceOf(node ?? ''),
      breaker: node === undefined ? undefined : stages.policies.breakerOf(node),
      emptying: node === undefined ? undefined : stages.policies.emptying.statusHolding(node),
    };
  }

  node(name: string): NodeOutlook | undefined {
    const cluster = this.#cluster(name);
    const report = this.#nodeReport(name, cluster);
    return report && buildNodeOutlook(report, cluster);
  }

  pod(namespace: string, name: string): PodOutlook | undefined {
    const pod = this.#sources.informers.pods.store.get(objectKey(namespace, name));
    if (pod === undefined) return undefined;
    const cluster = this.#cluster(pod.nodeName);
    return buildPodOutlook(this.#podReport(pod, cluster), cluster);
  }

  #nodeReport(name: string, cluster: ClusterReport): NodeReport | undefined {
    const { stages, informers } = this.#sources;
    const node = informers.nodes.store.get(name);
    if (node === undefined) return undefined;
    const ready = readyOf(node);
    const zone = stages.policies.zoneOf(node);
    const isMaintained = cluster.maintenance !== undefined;
    const counted = !isExcludedFromDisruption(node.labels) && !(isMaintained && ready !== 'True');
    return {
      node: name,
      ready,
      counted,
      health: this.#health(node, cluster),
      policy: buildPolicyReport(this.#sources.options.current(), stages.policies.selectionOf(name)),
      outOfService: stages.outOfService.assess(node),
      flapping: stages.flapping.reportOf(node),
      taints: buildTaintReport(node, ready, cluster),
      eviction: this.#eviction?.of(node),
      awaited: this.#awaitedFor(node),
      zone: this.#zone(zone),
      ratePerSecondIfSilent:
        counted && ready === 'True' && !isMaintained ? this.#rateAfterLoss(zone) : this.#rateOf(zone),
      pods: informers.pods.store.byIndex(podsByNode, name).map((pod) => this.#brief(pod)),
      problems: [...(node.problems ?? []), ...this.#problemsOfLease(name)],
      history: stages.decisions.of(name).filter(isOfNode).map(toHistoryLine),
    };
  }

  /** Nothing is awaited for a node that reports itself as not ready, or has its taint. */
  #awaitedFor(node: NodeView): AwaitedReport | undefined {
    const { name, taints } = node;
    const { awaited, outage } = this.#sources.stages;
    if (readyOf(node) === 'False') return undefined;
    if ([taintKeys.unreachable, taintKeys.notReady].some((key) => hasTaint(taints, key, 'NoExecute'))) return undefined;
    const undecidedUntilMs = outage.undecidedUntilMs(name);
    const found = undecidedUntilMs === undefined ? awaited.awaitedFor(name) : { nodes: [], untilMs: undecidedUntilMs };
    return found && { ...found, untilMs: toMonotonicMs(found.untilMs, this.#sources) };
  }

  #podReport(pod: PodView, cluster: ClusterReport): PodReport {
    const node = this.#nodeReport(pod.nodeName, cluster);
    return {
      ...this.#brief(pod),
      nodeName: pod.nodeName,
      phase: pod.phase,
      running: this.#sources.stages.evictor.countdownsOf(pod),
      node,
      queueOfLostNode: node === undefined ? this.#queueOfLost(pod.nodeName) : undefined,
      collection: buildCollectionReport(pod, this.#sources, cluster),
      problems: pod.problems ?? [],
      ...this.#historyOfPod(pod, node),
    };
  }

  nodes(query: NodeQuery): NodeList {
    return listNodes(this.#sources, (name) => this.node(name), query);
  }

  /** The pods that are due first. */
  evictions(limit: number): EvictionList {
    return listEvictions(this.#sources, limit);
  }

  /** Outlooks of all zones, by name. */
  zones(): readonly ZoneOutlook[] {
    return this.#sources.stages.zones.zonesOfAllLevels().map((zone) => buildZoneOutlook(this.#zone(zone), this.#now));
  }

  status(): StatusOutlook {
    const { stages, informers } = this.#sources;
    const { nodes, leases, pods, daemonSets, policies } = informers;
    const cluster = this.#cluster();
    const { now, mode, runs, leading, shadow, leader } = cluster;
    const zones = this.zones();
    return {
      at: formatMicroTime(now.wallMs),
      mode,
      runs,
      leading,
      shadow,
      leader,
      configFile: this.#sources.configFile?.() ?? null,
      holds: [...buildHolds(cluster), ...zones.flatMap(({ holds }) => holds)],
      informers: [nodes, leases, pods, daemonSets, policies].flatMap((informer) =>
        informer === undefined ? [] : [toInformerReport(informer, now)],
      ),
      policies: this.#policyCounts(),
      ...this.#policyObjects(),
      zones,
      waiting: zones.reduce((sum, { queue }) => sum + queue.waiting, 0),
      evictions: formatScheduled([...stages.evictor.scheduled().values()], now),
      evictedNodes: this.#eviction?.nodes() ?? null,
      podGc: runs.podGc ? buildPodGcReport(this.#sources, cluster) : null,
      history: stages.decisions.of('cluster').map(toHistoryLine),
    };
  }

  #policyCounts(): readonly PolicyCount[] {
    const { policies, flapping } = this.#sources.stages;
    const usages = flapping.usages();
    return policies.counts().map((count) => {
      const usage = usages.get(count.policy);
      return usage === undefined ? count : { ...count, flapping: usage };
    });
  }

  #policyObjects(): Pick<StatusOutlook, 'policyObjects'> {
    const policyObjects = this.#sources.policyObjects?.();
    return policyObjects === undefined ? {} : { policyObjects };
  }

  get #now(): Now {
    const { clock } = this.#sources;
    return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
  }

  #queueOfLost(node: string): ZoneReport | undefined {
    const zone = this.#eviction && this.#sources.stages.queues.zoneOf(node);
    return zone === undefined ? undefined : this.#zone(zone);
  }

  /** The outage hold; for a node undefined unless the hold applies to it. */
  #outageHold(node: string | undefined): OutageHoldReport | undefined {
    const { outage } = this.#sources.stages;
    const hold = outage.hold();
    const untilMs = node === undefined ? hold?.untilMs : outage.heldUntilMs(node);
    if (hold === undefined || untilMs === undefined) return undefined;
    const { why, recovering } = hold;
    return { why, recovering, untilMs: toMonotonicMs(untilMs, this.#sources) };
  }

  #health(node: NodeView, { now, stale }: ClusterReport): HealthReport | undefined {
    const { stages } = this.#sources;
    const record = recordOf(node, this.#sources);
    if (record === undefined) return undefined;
    const { rule, graceMs } = graceOf(record, stages.policies.current(node.name));
    const policy = selectGracePolicy(rule, stages.policies.selectionOf(node.name));
    const heartbeatAtMs = toMonotonicMs(record.heartbeatAtMs, this.#sources);
    const silentFromMs = heartbeatAtMs + graceMs + 1;
    const silent = stages.freshness.nowMs() - record.heartbeatAtMs > graceMs;
    return {
      lastHeartbeat: { ...formatPast(heartbeatAtMs, now), channel: record.channel },
      grace: { seconds: toSeconds(graceMs), rule, flag: `node-${rule}-grace-period`, policy },
      silence: {
        silent,
        since: silent ? formatPast(silentFromMs, now) : null,
        from: silent ? null : formatEstimate(stale === undefined ? silentFromMs : Infinity, now),
      },
      silentFromMs,
    };
  }

  #zone(zone: string): ZoneReport {
    const { stages } = this.#sources;
    const arithmetic = stages.zones.plan(zone)?.why;
    const outer = outerZoneOf(zone);
    return {
      ...(outer === undefined ? {} : { outer: { ...this.#zone(outer), competing: this.#competing(zone) } }),
      zone: zoneName(zone),
      condition: stages.zones.condition(zone),
      arithmetic,
      queue: this.#queueReport(zone),
      recoveriesToNormal:
        arithmetic === undefined
          ? undefined
          : estimateRecoveriesToNormal(arithmetic, stages.policies.zoneOptions(zone).unhealthyZoneThreshold),
    };
  }

  /** Numbers of the nodes that wait in the other zones of its outer zone. */
  #competing(zone: string): readonly number[] {
    const { queues } = this.#sources.stages;
    const others = queues.competing(zone).filter((other) => other !== zone);
    return others.map((other) => queues.get(other)?.size ?? 0);
  }

  /** Queue of the zone itself: its outer zone has a bucket of its own. */
  #queueReport(zone: string): QueueReport {
    const nowMs = this.#sources.clock.monotonicMs();
    const queue = this.#sources.stages.queues.get(zone);
    if (queue === undefined) return stopped;
    return {
      nodes: queue.keysInOrder(),
      tokens: queue.bucket.available(nowMs),
      nextTokenAtMs: queue.bucket.nextAtMs(nowMs),
      ratePerSecond: queue.bucket.ratePerSecond,
    };
  }

  /** Rate of a zone, as far as its outer zone allows. */
  #rateOf(zone: string): number {
    return this.#sources.stages.queues.get(zone)?.ratePerSecond ?? 0;
  }

  #rateAfterLoss(zone: string): number {
    const { stages } = this.#sources;
    const tallies = stages.zones.zonesOfAllLevels().flatMap((name): (readonly [string, ZoneTally])[] => {
      const why = stages.zones.plan(name)?.why;
      return why === undefined ? [] : [[name, why]];
    });
    return estimateRateAfterLoss(zone, new Map(tallies), (each) => stages.policies.zoneOptions(each));
  }

  #brief(pod: PodView): PodBrief {
    const { tolerations, terminating } = pod;
    const fate = this.#eviction?.fateOf(pod) ?? { terminating, daemonSet: undefined };
    const { evictor } = this.#sources.stages;
    return {
      pod: podKey(pod),
      tolerations,
      timedEviction: evictor.timedEviction(podKey(pod)),
      wait: evictor.waitOf(podKey(pod)) ?? this.#eviction?.waitOf(pod),
      keeper: this.#eviction === undefined ? this.#sources.stages.policies.keeperOf(pod) : undefined,
      ...fate,
    };
  }

  #problemsOfLease(node: string): readonly string[] {
    const lease = this.#sources.informers.leases.store.get(objectKey(nodeLeaseNamespace, node));
    return (lease?.problems ?? []).map((problem) => `lease ${problem}`);
  }

  /** The history of a node that no longer exists is shown with its pods: it has no page of its own. */
  /** History of a pod, which begins after the last decision about another pod of its name. */
  #historyOfPod(pod: PodView, node: NodeReport | undefined): Pick<PodReport, 'history' | 'historyOfFormer'> {
    const { decisions } = this.#sources.stages;
    const ofName = decisions.of(podKey(pod)).filter(isOfPod);
    const begins = ofName.findLastIndex(({ uid }) => uid !== undefined && uid !== pod.uid) + 1;
    const historyOfFormer = ofName.slice(0, begins).map(toHistoryLine);
    const own = ofName.slice(begins);
    if (node === undefined && pod.nodeName !== '') own.push(...decisions.of(pod.nodeName).filter(isOfNode));
    return { history: own.sort((a, b) => a.atMs - b.atMs).map(toHistoryLine), historyOfFormer };
  }
}

function toHistoryLine({ atMs, decision }: NotedDecision): HistoryLine {
  return { at: formatMicroTime(atMs), decision, text: describeDecision(decision) };
}

/** A pod and a zone can have the same key, as can a node and a zone without a region. */
function isOfPod({ decision }: NotedDecision): boolean {
  return 'pod' in decision || 'subject' in decision;
}

function isOfNode({ decision }: NotedDecision): boolean {
  return 'node' in decision || 'subject' in decision;
}

function toInformerReport(informer: Informer<unknown>, now: Now): InformerReport {
  const { state, synced, lastFrameAtMs, consecutiveFailures, lastError = null } = informer.status();
  const lastFrame = lastFrameAtMs === undefined ? null : formatPast(lastFrameAtMs, now);
  return {
    name: informer.name,
    objects: informer.store.size,
    state,
    synced,
    consecutiveFailures,
    lastFrame,
    lastError,
  };
}

function formatScheduled(dueMs: readonly number[], now: Now): StatusOutlook['evictions'] {
  const firstMs = dueMs.reduce((earliest, atMs) => Math.min(earliest, atMs), Infinity);
  return { scheduled: dueMs.length, first: dueMs.length === 0 ? null : formatEstimate(firstMs, now) };
}
