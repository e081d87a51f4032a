import type { ResourceName } from '../../../src/machinery/api/resources.ts';
import type { Fault } from '../../../src/hollow-cluster/kubelet/faults/fault.ts';
import type { Verb } from '../../../src/simulator/network/network.ts';
import type { SettingsChange } from '../../../src/simulator/world.ts';

/** Messages of a connection that a fault affects: `both` requests and responses, frames included. */
export type Direction = 'both' | 'requests' | 'responses' | 'frames';

/** Between processes and servers. Processes, servers and machines are named. */
export type NetworkFault =
  | {
      readonly kind: 'partition';
      readonly process: string;
      readonly direction: Direction;
      readonly manner: 'lose' | 'reset';
    }
  | { readonly kind: 'slow-network'; readonly process: string; readonly direction: Direction; readonly msMax: number }
  | { readonly kind: 'duplicate-frames'; readonly rate: number }
  /** The controller cannot decode this share of the objects, by name, until they are repaired at the end. */
  | { readonly kind: 'undecodable-objects'; readonly resource: ResourceName; readonly share: number }
  /** From a proxy the answer names no object; from the API server it does. */
  | {
      readonly kind: 'error-answers';
      readonly code: number;
      readonly from: 'proxy' | 'server';
      readonly verb: Verb | 'any';
      readonly resource: ResourceName | 'any';
      readonly retryAfterMs: number | undefined;
      readonly rate: number;
    }
  /** Requests of this kind are never answered. */
  | { readonly kind: 'hang'; readonly verb: Verb; readonly resource: ResourceName }
  /** Writes are carried out, and their answer is lost. */
  | { readonly kind: 'ambiguous-writes'; readonly manner: 'lose' | 'reset'; readonly rate: number }
  /** Requests about a node, its lease included, are not answered, or with this code, or are carried out and answered late. */
  | {
      readonly kind: 'stuck-object';
      readonly name: string;
      readonly verbs: readonly Verb[];
      /** Patches of its status, or only others. */
      readonly part: 'any' | 'status' | 'spec';
      readonly answer: 'none' | 'late' | number;
    }
  /** This share of the open watches of the resource delivers nothing more, without an error. */
  | { readonly kind: 'stalled-watch'; readonly resource: ResourceName; readonly rate: number };

/** In the API servers and their storage. */
export type ServerFault =
  | { readonly kind: 'server-down'; readonly server: string }
  | { readonly kind: 'all-servers-down' }
  | { readonly kind: 'cache-lag'; readonly server: string; readonly ms: number }
  | { readonly kind: 'compaction'; readonly server: string }
  | { readonly kind: 'watches-ended'; readonly server: string }
  | { readonly kind: 'no-bookmarks'; readonly server: string }
  /** etcd is restored from the backup that is this old. */
  | { readonly kind: 'restore'; readonly ageMs: number };

/** In the processes of the controller and their machines. */
export type ReplicaFault =
  | { readonly kind: 'clock-step'; readonly replica: string; readonly byMs: number }
  | { readonly kind: 'pause'; readonly replica: string }
  | { readonly kind: 'suspend'; readonly replica: string }
  | { readonly kind: 'kill'; readonly replica: string }
  | { readonly kind: 'terminate'; readonly replica: string };

/** In the nodes, and what users do. */
export type ClusterFault =
  | { readonly kind: 'node'; readonly names: readonly string[]; readonly fault: Fault }
  | { readonly kind: 'settings'; readonly change: SettingsChange }
  | {
      readonly kind: 'foreign-taint';
      readonly node: string;
      readonly key: string;
      readonly effect: string;
      readonly ageSeconds?: number;
    }
  /** A node has more taints than are used, and conditions with long messages. */
  | { readonly kind: 'large-object'; readonly node: string; readonly effect: string }
  | { readonly kind: 'label'; readonly node: string; readonly key: string; readonly value: string }
  | { readonly kind: 'zone-move'; readonly node: string; readonly zone: string }
  | { readonly kind: 'delete-pods'; readonly count: number }
  | { readonly kind: 'recreate-node'; readonly node: string }
  /**
   * An administrator says that the node is in planned maintenance, and no more at the end; `plain`: a taint without a time.
   * `ageSeconds`: the time in the signal is so long ago.
   */
  | {
      readonly kind: 'maintenance';
      readonly node: string;
      readonly signal: 'condition' | 'taint' | 'plain';
      readonly ageSeconds?: number;
    }
  /**
   * The machine is switched off, and the fencing agent says so `afterMs` later: of this boot, or, wrongly, of another one.
   * `isLeft`: the agent does not take it back when the machine is switched on, as where it is down itself.
   */
  | {
      readonly kind: 'fencing';
      readonly node: string;
      readonly evidence: 'annotation' | 'condition' | 'taint';
      readonly boot: 'this' | 'another';
      readonly afterMs: number;
      readonly isLeft: boolean;
    }
  | UserFault
  /** Nodes without a kubelet are created, with pods, and deleted at the end. */
  | { readonly kind: 'temporary-nodes'; readonly prefix: string; readonly count: number; readonly zone: string };

/** What users, administrators and webhooks do to objects that the controller reads and writes. */
export type UserFault =
  /** A PodDisruptionBudget of every pod, or of those of one app, allows so many evictions. It is deleted at the end. */
  | { readonly kind: 'budget'; readonly name: string; readonly app: 'a' | 'b' | undefined; readonly allowed: number }
  /** An annotation of a node, until the end; `inMs`: its value is the time in so long. */
  | {
      readonly kind: 'annotation';
      readonly node: string;
      readonly key: string;
      readonly value: string | { readonly inMs: number };
    }
  /** Running pods get tolerations of the health taints, which stay; absent: without a limit. */
  | { readonly kind: 'toleration'; readonly count: number; readonly seconds?: number }
  /** Another client adds a taint with a key of the controller, or removes it, once. */
  | {
      readonly kind: 'health-key';
      readonly node: string;
      readonly key: string;
      readonly effect: string;
      readonly act: 'add' | 'remove';
    }
  /** This share of the pods asks by its label to be kept, and the others no longer do. */
  | { readonly kind: 'autonomy'; readonly share: number }
  /** All pods ask by the label of their namespace, or none. */
  | { readonly kind: 'namespace-autonomy'; readonly asks: boolean }
  /** Pods of a node that run for so long and complete, one created after the other, and deleted at the end. */
  | {
      readonly kind: 'jobs';
      readonly node: string;
      readonly count: number;
      readonly everyMs: number;
      readonly runMs: number;
    }
  /** This share of the pods has a finalizer, until the end. */
  | { readonly kind: 'finalizer'; readonly share: number }
  /** A webhook removes from the controller's patches of the status, or of the rest, all that they change, and answers 200. */
  | { readonly kind: 'webhook'; readonly resource: 'nodes' | 'pods'; readonly part: 'status' | 'spec' };

/** Fault of the simulated world. */
export type WorldFault = NetworkFault | ServerFault | ReplicaFault | ClusterFault;

/** Kinds of faults that are drawn at random; the others occur in drills, or have a plan of their own. */
export type RandomFaultKind = Exclude<
  WorldFault['kind'],
  'temporary-nodes' | 'maintenance' | 'fencing' | 'large-object' | UserFault['kind']
>;

export interface PlannedFault {
  /** Virtual time. */
  readonly atMs: number;
  /** Duration of a fault that lasts. */
  readonly forMs: number;
  readonly fault: WorldFault;
}

const userKinds: ReadonlySet<string> = new Set<UserFault['kind']>([
  'budget',
  'annotation',
  'toleration',
  'health-key',
  'autonomy',
  'namespace-autonomy',
  'jobs',
  'finalizer',
  'webhook',
]);
const networkKinds: ReadonlySet<string> = new Set<NetworkFault['kind']>([
  'partition',
  'slow-network',
  'duplicate-frames',
  'undecodable-objects',
  'error-answers',
  'hang',
  'ambiguous-writes',
  'stuck-object',
  'stalled-watch',
]);
const serverKinds: ReadonlySet<string> = new Set<ServerFault['kind']>([
  'server-down',
  'all-servers-down',
  'cache-lag',
  'compaction',
  'watches-ended',
  'no-bookmarks',
  'restore',
]);

export function isNetworkFault(fault: WorldFault): fault is NetworkFault {
  return networkKinds.has(fault.kind);
}

export function isServerFault(fault: WorldFault): fault is ServerFault {
  return serverKinds.has(fault.kind);
}

export function isReplicaFault(fault: WorldFault): fault is ReplicaFault {
  return 'replica' in fault;
}

export function isUserFault(fault: WorldFault): fault is UserFault {
  return userKinds.has(fault.kind);
}
