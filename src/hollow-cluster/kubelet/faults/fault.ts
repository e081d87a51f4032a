/** Verbs of requests to the API server that a node may make. */
export type RequestVerb = 'get' | 'list' | 'create' | 'replace' | 'patch' | 'delete';

/**
 * The faults of a node. Those of the first group last until they are withdrawn; those of {@link OneShotFault} are
 * events that end by themselves.
 */
export type LastingFault =
  /** The kubelet does not renew its lease, does not report its status, or neither; everything else continues. */
  | { readonly kind: 'silence'; readonly heartbeat: 'lease' | 'status' | 'both' }
  /** Each request, or its response, is delayed by this time. */
  | { readonly kind: 'lag'; readonly delayMs: number; readonly jitterMs: number; readonly on: 'request' | 'response' }
  /**
   * Disconnected and connected again, repeatedly: connected first. With `hash`, each node has its own offset in the
   * cycle.
   */
  | { readonly kind: 'flap'; readonly upMs: number; readonly downMs: number; readonly phase: 'aligned' | 'hash' }
  /** `writes`: requests are lost, watches continue; `watch`: watches stall, requests arrive. */
  | {
      readonly kind: 'partition';
      readonly direction: 'all' | 'writes' | 'watch';
      readonly manner: 'silent' | 'reset';
    }
  /** This share of the requests is answered with this HTTP status. */
  | {
      readonly kind: 'errors';
      readonly code: number;
      readonly rate: number;
      readonly verb?: RequestVerb | undefined;
      readonly resource?: string | undefined;
    }
  /** `of` may be a custom condition type. With `signal`, the condition clears only after its transition period. */
  | { readonly kind: 'pressure'; readonly of: string; readonly manner: 'signal' | 'forced' }
  | { readonly kind: 'unhealthy'; readonly reason: string }
  | { readonly kind: 'runtime-down'; readonly message: string }
  | { readonly kind: 'network-not-ready'; readonly message: string }
  | { readonly kind: 'pleg-hang' }
  /** `never`: killed at the end of the grace period; `stuck`: not even then. */
  | { readonly kind: 'slow-termination'; readonly stopMs: number | 'never' | 'stuck' }
  | { readonly kind: 'slow-start'; readonly startMs: number }
  | { readonly kind: 'image-pull-failure'; readonly message: string }
  | { readonly kind: 'crash-loop'; readonly exitCode: number; readonly afterMs: number }
  /** Shifts the wall clock and every timestamp; does not change when anything runs. */
  | { readonly kind: 'clock-skew'; readonly offsetMs: number; readonly driftMsPerHour: number }
  /** The machine reports a different capacity. */
  | {
      readonly kind: 'capacity';
      readonly cpuCores?: number | undefined;
      readonly memoryMiB?: number | undefined;
      readonly podsMax?: number | undefined;
    }
  /** Pods are terminated, but their API objects are not deleted. */
  | { readonly kind: 'ignore-deletes' }
  /**
   * The machine shuts down; withdrawing the fault cancels the shutdown. `conditions`: the kubelet says so by conditions of KEP-5683,
   * and leaves them on its node. `offMs`: when the pods have ended the machine is off for so long; absent: it goes on.
   */
  | { readonly kind: 'shutdown'; readonly conditions?: boolean; readonly offMs?: number | 'never' | undefined };

export type OneShotFault =
  /**
   * `machine`: all containers are gone and the boot id changes. `delete-node`: the same, and the Node object is
   * deleted.
   */
  | { readonly kind: 'crash'; readonly of: 'process' | 'machine' | 'delete-node'; readonly downMs: number }
  /** The Node object is deleted while the kubelet runs. */
  | { readonly kind: 'delete-node' };

export type Fault = LastingFault | OneShotFault;

/** True for a fault that ends by itself. */
export function isOneShot(fault: Fault): fault is OneShotFault {
  return fault.kind === 'crash' || fault.kind === 'delete-node';
}
