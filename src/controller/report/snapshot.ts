// The pages of explanations, each read when it is asked for.
import { formatMicroTime } from '../../machinery/api/timestamps.ts';
import type { Informer } from '../../machinery/informer/informer.ts';
import type { Now } from '../model/node-state.ts';
import type { BreakerStatus } from '../model/policy.ts';
import { buildNodeOutlook } from './build-node-outlook.ts';
import { buildPodOutlook } from './build-pod-outlook.ts';
import { buildZoneOutlook } from './build-zone-outlook.ts';
import { formatEstimate, formatPast } from './format-time.ts';
import type {
  BreakerOutlook,
  EvictionList,
  InformerReport,
  NodeList,
  NodeOutlook,
  PodOutlook,
  PolicyStatus,
  StatusOutlook,
  ZoneOutlook,
} from './pages.ts';
import { readCluster, readClusterHolds } from './read-cluster.ts';
import { readPodGc } from './read-collection.ts';
import { type NodeQuery, readEvictionList, readNodeList } from './read-lists.ts';
import { readNode, toHistoryLine } from './read-node.ts';
import { readPod } from './read-pod.ts';
import type { ReportSources } from './report-sources.ts';
import type { ClusterReport } from './reports.ts';

/** The pages of explanations. Unknown names return undefined. */
export type Snapshot = Pick<LiveSnapshot, 'node' | 'pod' | 'zones' | 'status' | 'nodes' | 'evictions'>;

/** The snapshot of a running controller: each call reads current state, at the cost of what it reads. */
export class LiveSnapshot {
  readonly #sources: ReportSources;

  constructor(sources: ReportSources) {
    this.#sources = sources;
  }

  node(name: string): NodeOutlook | undefined {
    const report = readNode(name, this.#sources, readCluster(this.#sources));
    return report && buildNodeOutlook(report);
  }

  pod(namespace: string, name: string): PodOutlook | undefined {
    const report = readPod(namespace, name, this.#sources, readCluster(this.#sources));
    return report && buildPodOutlook(report);
  }

  nodes(query: NodeQuery): NodeList {
    return readNodeList(this.#sources, query);
  }

  /** The pods that are due first. */
  evictions(limit: number): EvictionList {
    return readEvictionList(this.#sources, limit);
  }

  /** Outlooks of all zones, by name. */
  zones(): readonly ZoneOutlook[] {
    return this.#zonesOf(readCluster(this.#sources));
  }

  #zonesOf(cluster: ClusterReport): readonly ZoneOutlook[] {
    const keys = this.#sources.stages.zones.zonesOfAllLevels();
    return keys.map((key) => buildZoneOutlook(cluster.zone(key), cluster.now));
  }

  status(): StatusOutlook {
    const { stages, configFile } = this.#sources;
    const cluster = readCluster(this.#sources);
    const { now, mode, runs, leading, shadow, leader } = cluster;
    const zones = this.#zonesOf(cluster);
    return {
      at: formatMicroTime(now.wallMs),
      mode,
      runs,
      leading,
      shadow,
      leader,
      configFile: configFile?.() ?? null,
      holds: [...readClusterHolds(this.#sources, cluster), ...zones.flatMap(({ holds }) => holds)],
      informers: this.#informers(now),
      policies: this.#policies(),
      ...this.#policyObjects(),
      zones,
      waiting: zones.reduce((sum, { queue }) => sum + queue.waiting, 0),
      evictions: formatScheduled([...stages.evictor.scheduled().values()], now),
      evictedNodes: this.#evictedNodes(),
      podGc: runs.podGc ? readPodGc(this.#sources, cluster) : null,
      history: stages.decisions.of('cluster').map(toHistoryLine),
    };
  }

  #informers(now: Now): readonly InformerReport[] {
    const { nodes, leases, pods, daemonSets, policies, autonomousNamespaces } = this.#sources.informers;
    return [nodes, leases, pods, daemonSets, policies, autonomousNamespaces].flatMap((informer) =>
      informer === undefined ? [] : [toInformerReport(informer, now)],
    );
  }

  #evictedNodes(): StatusOutlook['evictedNodes'] {
    const { podEvictor } = this.#sources.stages;
    return podEvictor === undefined ? null : { timed: podEvictor.notQueued().length, evicted: podEvictor.evictedCount };
  }

  #policies(): readonly PolicyStatus[] {
    const { policies, flapping, overdue } = this.#sources.stages;
    const usages = flapping.usages();
    const warnings = overdue.counts();
    return policies.counts().map(({ breaker, ...count }) => {
      const usage = usages.get(count.policy);
      const warned = warnings.get(count.policy);
      return {
        ...count,
        ...(breaker === undefined ? {} : { breaker: toBreakerOutlook(breaker) }),
        ...(usage === undefined ? {} : { flapping: usage }),
        ...(warned === undefined ? {} : { overdue: warned }),
      };
    });
  }

  #policyObjects(): Pick<StatusOutlook, 'policyObjects'> {
    const policyObjects = this.#sources.policyObjects?.();
    return policyObjects === undefined ? {} : { policyObjects };
  }
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

/** JSON has no Infinity. */
function toBreakerOutlook({ untilMs, ...breaker }: BreakerStatus): BreakerOutlook {
  if (untilMs === undefined) return breaker;
  return { ...breaker, untilMs: Number.isFinite(untilMs) ? untilMs : null };
}

function formatScheduled(dueMs: readonly number[], now: Now): StatusOutlook['evictions'] {
  const firstMs = dueMs.reduce((earliest, atMs) => Math.min(earliest, atMs), Infinity);
  return { scheduled: dueMs.length, first: dueMs.length === 0 ? null : formatEstimate(firstMs, now) };
}
