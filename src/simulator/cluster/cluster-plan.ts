import type { ControllerOptions } from '../../controller/model/options.ts';

interface PlannedNode {
  readonly labels?: Readonly<Record<string, string>>;
  readonly name: string;
  readonly zone: string;
}

/** A cluster and its settings. */
export interface ClusterPlan {
  readonly nodes: readonly PlannedNode[];
  readonly podsPerNode: number;
  readonly replicas: number;
  readonly servers: number;
  readonly controller: ControllerOptions;
  readonly watchCanary: boolean;
  /** Absent: everything, by taints. */
  readonly mode?: ControllerMode;
  /** Another replica runs in shadow mode. */
  readonly hasShadow?: boolean;
  /** Writes in flight, of each kind; absent: the default. */
  readonly concurrentWrites?: number;
  /** A replica has changed settings after this time at most, each after another one; absent: all have them at once. */
  readonly settingsLagMsMax?: number;
  /** Labels of namespaces count too (`--namespace-autonomy`). */
  readonly namespaceAutonomy?: boolean;
  /** Requests per second and burst of the main client. */
  readonly limits: { readonly qps: number; readonly burst: number };
  /** One leg, without faults. */
  readonly latencyMs: { readonly min: number; readonly max: number };
  /** Maximum lag of watch caches behind the storage, without faults. */
  readonly lagMsMax: number;
  /** Clock rates of the machines of the replicas: at most this far from 1. */
  readonly driftMax: number;
}

/** A part of what the controller does, or eviction mode. `detector`: no evictions for taints; `evictor`: nothing else. */
export type ControllerMode = 'detector' | 'evictor' | 'deleter';
