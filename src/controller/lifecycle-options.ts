import type { DaemonSetView } from '../machinery/api/daemonset.ts';
import type { LeaseView } from '../machinery/api/lease.ts';
import type { NodeView } from '../machinery/api/node.ts';
import type { PodView } from '../machinery/api/pod.ts';
import type { Informer } from '../machinery/informer/informer.ts';
import type { Ambient } from '../machinery/ports/ambient.ts';
import type { Dialer } from '../machinery/ports/dialer.ts';
import type { EventRecorder } from '../machinery/ports/event-recorder.ts';
import type { Leadership } from '../machinery/ports/leadership.ts';
import type { CanaryLease, LiveLeases } from '../machinery/ports/leases.ts';
import type { Live } from '../machinery/ports/live.ts';
import type { WriteLanes } from '../machinery/ports/write-lanes.ts';
import type { ClosableWriter } from './model/commands.ts';
import type { WitnessReports } from './model/detection.ts';
import type { ControllerOptions, ControllerSelection, PodGcOptions } from './model/options.ts';
import type { EvictionSource } from './taint-eviction/eviction-responders.ts';
import type { ApiWriterOptions } from './writer/api-writer.ts';

/** With what nodes without heartbeats are asked, and where standbys report the answers. */
export interface Probing {
  readonly dialer: Dialer;
  readonly reports: WitnessReports;
}

export interface NodeLifecycleOptions extends Ambient {
  readonly options: Live<ControllerOptions>;
  readonly controllers: ControllerSelection;
  readonly podGc: Live<PodGcOptions>;
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    /** Of the namespace `kube-node-lease`. */
    readonly leases: Informer<LeaseView>;
    /** With the index `podsByNode`. */
    readonly pods: Informer<PodView>;
    /** With the index `daemonSetsByNamespace`; required in eviction mode only. */
    readonly daemonSets?: Informer<DaemonSetView>;
  };
  /** Evictions of lifecycle.k8s.io, for whose responders pods of reachable nodes wait; absent: for none. */
  readonly evictions?: EvictionSource | undefined;
  /** Whether the pods of a namespace ask to be kept (undefined: not known); absent: the labels of namespaces do not count. */
  readonly isAutonomous?: ((namespace: string) => boolean | undefined) | undefined;
  readonly api: ApiWriterOptions['api'];
  /** Replaces the writer to the API server, as in shadow mode. */
  readonly writer?: ClosableWriter | undefined;
  readonly lanes: WriteLanes;
  /** Live reads of leases, before a node is marked silent, and probes of the API server. */
  readonly liveLeases: LiveLeases;
  /** Written while leading, to measure whether the lease watch lags; absent: disabled. */
  readonly canaryLease?: CanaryLease | undefined;
  /** Absent: nodes are silent when their grace period is over, whatever their policy says. */
  readonly probing?: Probing | undefined;
  readonly leadership: Leadership;
  readonly recorders: { readonly nodes: EventRecorder; readonly evictions: EventRecorder };
}
