import type { DaemonSetView } from '../../machinery/api/daemonset.ts';
import type { LeaseView } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import type { Informer } from '../../machinery/informer/informer.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Leadership } from '../../machinery/ports/leadership.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { DecisionLog } from '../decision-log/decision-log.ts';
import type { FlappingWatch } from '../flapping/flapping-watch.ts';
import type { WatchFreshness } from '../freshness/watch-freshness.ts';
import type { HealthTable } from '../health/health-table.ts';
import type { HoldReader } from '../model/holds.ts';
import type { ControllerOptions, ControllerSelection, PodGcOptions } from '../model/options.ts';
import type { OutOfServiceTainter } from '../out-of-service/out-of-service-tainter.ts';
import type { OutageWatch } from '../outage/outage-watch.ts';
import type { PodEvictor } from '../pod-eviction-mode/pod-evictor.ts';
import type { PodGarbageCollector } from '../pod-gc/pod-garbage-collector.ts';
import type { PolicyStage } from '../policies/policy-stage.ts';
import type { TaintEvictor } from '../taint-eviction/taint-evictor.ts';
import type { ZoneTaintQueues } from '../tainting/zone-taint-queues.ts';
import type { AwaitedHeartbeats } from '../zones/awaited-heartbeats.ts';
import type { ZoneTable } from '../zones/zone-table.ts';
import type { ConfigFileReport, PolicyObjectsReport } from './pages.ts';

/** The components that reports read. Nothing is written to any of them. */
export interface ReportSources {
  readonly options: Live<ControllerOptions>;
  readonly controllers: ControllerSelection;
  readonly podGc: Live<PodGcOptions>;
  /** The running stages; a NodeLifecycle has them all. */
  readonly stages: ReportedStages;
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

export interface ReportedStages {
  readonly decisions: DecisionLog;
  readonly zones: ZoneTable;
  readonly queues: ZoneTaintQueues;
  readonly health: HealthTable;
  readonly holds: HoldReader;
  readonly evictor: TaintEvictor;
  /** Undefined in taint mode. */
  readonly podEvictor: PodEvictor | undefined;
  readonly podGc: PodGarbageCollector;
  readonly outage: OutageWatch;
  readonly awaited: AwaitedHeartbeats;
  readonly freshness: WatchFreshness;
  readonly outOfService: OutOfServiceTainter;
  readonly flapping: FlappingWatch;
  readonly policies: PolicyStage;
}

/**
 * Converts a time of the health clock, which stands still while watches are stale, to the monotonic clock, assuming no
 * further pause.
 */
export function toMonotonicMs(healthMs: number, { stages, clock }: Pick<ReportSources, 'stages' | 'clock'>): number {
  return clock.monotonicMs() + healthMs - stages.freshness.nowMs();
}
