import type { FaultOrder } from '../../hollow-cluster/kubelet/faults/fault-injector.ts';

/** Nodes that are alike. */
interface NodeGroup {
  readonly names: readonly string[];
  /** Empty: without a zone. */
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Time that a pod tolerates both health taints: seconds, without a limit, or not at all. */
export type Toleration = number | 'forever' | 'none';

/** Pods that are alike. */
export interface PodGroup {
  readonly node: string;
  readonly count: number;
  readonly tolerates: Toleration;
  readonly graceSeconds: number;
}

/** Step of a scenario, from a moment on. */
export type ScenarioStep =
  | { readonly atMs: number; readonly kind: 'nodes'; readonly order: FaultOrder }
  /** Number of API servers that are down, or all. */
  | { readonly atMs: number; readonly kind: 'servers-down'; readonly count: number | 'all'; readonly forMs: number }
  /** One API server after the other restarts. */
  | { readonly atMs: number; readonly kind: 'servers-rollout'; readonly downMs: number; readonly gapMs: number }
  /** Every message between the controller and the API servers takes up to this much longer. */
  | { readonly atMs: number; readonly kind: 'slow-network'; readonly msMax: number; readonly forMs: number }
  | { readonly atMs: number; readonly kind: 'leader'; readonly what: 'pause' | 'kill'; readonly forMs: number };

/** A cluster and what happens to it. Times count from when every node is ready and runs its pods. */
export interface Scenario {
  readonly name: string;
  readonly description: string;
  /** Wall time when the cluster starts, less than a minute before the steps count; absent: any. */
  readonly startsAtMs?: number | undefined;
  readonly durationMs: number;
  readonly seed: number;
  readonly nodes: readonly NodeGroup[];
  readonly pods: readonly PodGroup[];
  readonly servers: number;
  readonly replicas: number;
  /** Duration of the kubelets' leases; a lease is renewed every quarter of it. */
  readonly leaseDurationSeconds: number;
  readonly steps: readonly ScenarioStep[];
}
