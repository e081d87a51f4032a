import type { DaemonSetView } from '../../machinery/api/daemonset.ts';
import type { LeaseView } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import type { Informer } from '../../machinery/informer/informer.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Leadership } from '../../machinery/ports/leadership.ts';
import type { WatchFreshness } from '../freshness/watch-freshness.ts';
import type { Freshness } from '../model/freshness.ts';
import type { DecisionLog } from '../decision-log/decision-log.ts';
import type { TaintEvictor } from '../taint-eviction/taint-evictor.ts';
import type { ConfigFileReport, PolicyObjectsReport } from './reports.ts';
import type { FlappingWatch } from '../flapping/flapping-watch.ts';
import type { HealthRecord } from '../health/health-record.ts';
import type { HealthTable } from '../health/health-table.ts';
import type { ControllerOptions, ControllerSelection, PodGcOptions } from '../model/options.ts';
import type { OutageWatch } from '../outage/outage-watch.ts';
import type { OutOfServiceTainter } from '../out-of-service/out-of-service-tainter.ts';
import type { PolicyStage } from '../policies/policy-stage.ts';
import type { PodEvictor } from '../pod-eviction-mode/pod-evictor.ts';
import type { PodGarbageCollector } from '../pod-gc/pod-garbage-collector.ts';
import type { ZoneTaintQueues } from '../tainting/zone-taint-queues.ts';
import type { AwaitedHeartbeats } from '../zones/awaited-heartbeats.ts';
import type { ZoneTable } from '../zones/zone-table.ts';
import type { Live } from '../../machinery/ports/live.ts';

/** The components that a snapshot reads. */
export interface SnapshotSources {
  readonly options: Live<ControllerOptions>;
  readonly controllers: ControllerSelection;
  readonly podGc: Live<PodGcOptions>;
  /** The running stages; a NodeLifecycle has them all. */
  readonly stages: {
    readonly decisions: Pick<DecisionLog, 'of'>;
    readonly zones: Pick<ZoneTable, 'zonesOfAllLevels' | 'plan' | 'condition' | 'fullDisruption'>;
    readonly queues: Pick<ZoneTaintQueues, 'get' | 'zoneOf' | 'competing'>;
    readonly health: Pick<HealthTable, 'get'>;
    readonly evictor: Pick<TaintEvictor, 'timedEviction' | 'countdownsOf' | 'scheduled' | 'waitOf' | 'waitingPod'>;
    /** Undefined in taint mode. */
    readonly podEvictor:
      | Pick<PodEvictor, 'markOf' | 'dueAtMs' | 'notQueued' | 'evictedCount' | 'fateOf' | 'waitOf'>
      | undefined;
    readonly podGc: Pick<PodGarbageCollector, 'roundFromMs' | 'quarantineEndsAtMs' | 'missingNodes'>;
    readonly outage: Pick<OutageWatch, 'hold' | 'heldUntilMs' | 'undecidedUntilMs'>;
    readonly awaited: Pick<AwaitedHeartbeats, 'awaitedFor'>;
    readonly freshness: Pick<Freshness, 'nowMs' | 'staleness'> & Pick<WatchFreshness, 'arePodsStale'>;
    readonly outOfService: Pick<OutOfServiceTainter, 'assess'>;
    readonly flapping: Pick<FlappingWatch, 'reportOf' | 'usages'>;
    readonly policies: Pick<
      PolicyStage,
      | 'selectionOf'
      | 'current'
      | 'zoneOf'
      | 'zoneOptions'
      | 'modeOf'
      | 'maintenanceOf'
      | 'breakerOf'
      | 'counts'
      | 'emptying'
      | 'keeperOf'
    >;
  };
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    readonly leases: Informer<LeaseView>;
    /** Pods, with the index `podsByNode`. */
    readonly pods: Informer<PodView>;
    /** DaemonSets, in eviction mode. */
    readonly daemonSets?: Informer<DaemonSetView>;
    /** Where policies are objects of the API. */
    readonly policies?: Informer<unknown>;
  };
  /** Shadow mode: nothing is written; nodes and pods are as this process alone would have left them. */
  readonly shadow?: boolean;
  /** The config file; absent without one. */
  readonly configFile?: () => ConfigFileReport | undefined;
  /** Undefined where policies come from the config file. */
  readonly policyObjects?: () => PolicyObjectsReport | undefined;
  readonly leadership: Leadership;
  /** Identity of the leader, if known. */
  readonly holder: () => string | undefined;
  readonly clock: Clock;
}

/** The health record of this node, not of an earlier node of the same name. */
export function recordOf(
  node: Pick<NodeView, 'name' | 'uid'>,
  { stages }: Pick<SnapshotSources, 'stages'>,
): HealthRecord | undefined {
  const record = stages.health.get(node.name);
  return record?.uid === node.uid ? record : undefined;
}

/**
 * Converts a time of the health clock, which stands still while watches are stale, to the monotonic clock, assuming no
 * further pause.
 */
export function toMonotonicMs(healthMs: number, { stages, clock }: Pick<SnapshotSources, 'stages' | 'clock'>): number {
  return clock.monotonicMs() + healthMs - stages.freshness.nowMs();
}
