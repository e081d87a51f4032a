import type { DaemonSetView } from '../api/daemonset.ts';
import type { LeaseView } from '../api/lease.ts';
import type { NodeView } from '../api/node.ts';
import type { PodView } from '../api/pod.ts';
import type { Informer } from '../informer/informer.ts';
import type { Clock } from '../ports/clock.ts';
import type { Leadership } from '../ports/leadership.ts';
import type { Sight } from '../ports/sight.ts';
import type { DecisionLog } from './decision-log.ts';
import type { TaintEvictor } from './eviction/taint-evictor.ts';
import type { ConfigFileFacts } from './explain/facts.ts';
import type { HealthRecord } from './health/health-record.ts';
import type { HealthTable } from './health/health-table.ts';
import type { ControllerOptions, ControllerSelection, PodGcOptions } from './options.ts';
import type { OutageWatch } from './outage/outage-watch.ts';
import type { PodEvictor } from './pod-eviction/pod-evictor.ts';
import type { PodGarbageCollector } from './pod-gc/pod-garbage-collector.ts';
import type { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import type { ZoneTable } from './zones/zone-table.ts';

/** What a snapshot is read from. */
export interface SnapshotSources {
  readonly options: ControllerOptions;
  readonly controllers: ControllerSelection;
  readonly podGc: PodGcOptions;
  /** The stages as they run; a NodeLifecycle has them all. */
  readonly stages: {
    readonly decisions: Pick<DecisionLog, 'of'>;
    readonly zones: Pick<ZoneTable, 'zones' | 'plan' | 'condition' | 'everyZoneDark'>;
    readonly queues: Pick<ZoneTaintQueues, 'get' | 'zoneOf'>;
    readonly health: Pick<HealthTable, 'get'>;
    readonly evictor: Pick<TaintEvictor, 'appointment' | 'runningTaints' | 'scheduled'>;
    /** Undefined in taint mode. */
    readonly podEvictor: Pick<PodEvictor, 'markOf' | 'dueAtMs' | 'notInLine' | 'evictedCount' | 'fateOf'> | undefined;
    readonly podGc: Pick<PodGarbageCollector, 'roundFromMs' | 'quarantineEndsAtMs' | 'missingNodes'>;
    readonly outage: Pick<OutageWatch, 'hold'>;
    readonly sight: Pick<Sight, 'nowMs' | 'blindness'>;
  };
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    readonly leases: Informer<LeaseView>;
    /** With the index `podsByNode`. */
    readonly pods: Informer<PodView>;
    /** In eviction mode. */
    readonly daemonSets?: Informer<DaemonSetView>;
  };
  /** Nothing is written; nodes and pods are as they would be by our hand alone. */
  readonly shadow?: boolean;
  /** The file that settings come from; absent without one. */
  readonly configFile?: () => ConfigFileFacts | undefined;
  readonly leadership: Leadership;
  /** Identity of the leader as far as we know. */
  readonly holder: () => string | undefined;
  readonly clock: Clock;
}

/** What health remembers of this very node, not of a namesake before it. */
export function recordOf(
  node: Pick<NodeView, 'name' | 'uid'>,
  { stages }: Pick<SnapshotSources, 'stages'>,
): HealthRecord | undefined {
  const record = stages.health.get(node.name);
  return record?.uid === node.uid ? record : undefined;
}

/** Health has a clock of its own that stands still while we are blind: told on ours, as if we went on seeing. */
export function onOurClock(healthMs: number, { stages, clock }: Pick<SnapshotSources, 'stages' | 'clock'>): number {
  return clock.monotonicMs() + healthMs - stages.sight.nowMs();
}
