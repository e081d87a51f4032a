import type { ContainerScript } from '../runtime/derive-container-script.ts';

/** Verbs of requests to the API server that a node may make. */
export type RequestVerb = 'get' | 'list' | 'create' | 'replace' | 'patch' | 'delete';

/**
 * What can be the matter with a node, as data. Those of the first group last until they are taken back; those of
 * {@link PassingFault} happen, and are over by themselves.
 */
export type LastingFault =
  /** The kubelet does not renew, does not report, or neither; all else goes on. */
  | { readonly kind: 'silence'; readonly heartbeat: 'lease' | 'status' | 'both' }
  /** Each request is late by so much, on its way there or its answer on the way back. */
  | { readonly kind: 'lag'; readonly delayMs: number; readonly jitterMs: number; readonly on: 'request' | 'response' }
  /** Cut off and back again, over and over: up first. By `hash`, each node is at its own point of the cycle. */
  | { readonly kind: 'flap'; readonly upMs: number; readonly downMs: number; readonly phase: 'aligned' | 'hash' }
  /** `writes`: its requests are lost, it sees all the same; `watch`: it sees nothing new, its requests arrive. */
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
  /** Of one's own: a condition type, which is told as it is. A driven signal ends the condition after its hold only. */
  | { readonly kind: 'pressure'; readonly of: string; readonly manner: 'signal' | 'forced' }
  | { readonly kind: 'unhealthy'; readonly reason: string }
  | { readonly kind: 'runtime-down'; readonly message: string }
  | { readonly kind: 'network-not-ready'; readonly message: string }
  | { readonly kind: 'pleg-hang' }
  /** `never`: killed when the grace period ends; `stuck`: not even then. */
  | { readonly kind: 'slow-termination'; readonly stopMs: number | 'never' | 'stuck' }
  | { readonly kind: 'slow-start'; readonly startMs: number }
  | { readonly kind: 'image-pull-failure'; readonly message: string }
  | { readonly kind: 'crash-loop'; readonly exitCode: number; readonly afterMs: number }
  /** The wall clock, and with it every timestamp; nothing is earlier or later for it. */
  | { readonly kind: 'clock-skew'; readonly offsetMs: number; readonly driftMsPerHour: number }
  /** The machine is found to be of another size. */
  | {
      readonly kind: 'capacity';
      readonly cpuCores?: number | undefined;
      readonly memoryMiB?: number | undefined;
      readonly podsMax?: number | undefined;
    }
  /** Pods are ended, and their objects stay. */
  | { readonly kind: 'ignore-deletes' }
  /** The machine is told to go down; taken back, it stays up after all. */
  | { readonly kind: 'shutdown' };

export type PassingFault =
  /** `machine`: nothing of its containers is left running and it has another boot id. `delete-node`: so, and the node object goes. */
  | { readonly kind: 'crash'; readonly of: 'process' | 'machine' | 'delete-node'; readonly downMs: number }
  /** Somebody deletes the node object while the kubelet runs. */
  | { readonly kind: 'delete-node' };

export type Fault = LastingFault | PassingFault;
export type FaultKind = Fault['kind'];

/** Is it over by itself? */
export function isPassing(fault: Fault): fault is PassingFault {
  return fault.kind === 'crash' || fault.kind === 'delete-node';
}

/** How a fault changes what containers do. */
export type ContainerTrouble = Partial<ContainerScript>;
