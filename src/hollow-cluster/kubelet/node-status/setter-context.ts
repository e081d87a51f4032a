import type { EventType } from '../../../machinery/api/event.ts';
import { ownValue } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { PressureType } from '../machine/classify-signal.ts';
import type { FakeMachine } from '../machine/fake-machine.ts';
import type { KubeletProfile } from '../profile.ts';

/** The node status's view of volumes (the part of kubelet's `VolumeManager` that a status needs). */
export interface NodeVolumes {
  /** False until the volumes in use are known; until then the stored list is not changed. */
  hasSynced(): boolean;
  /** By their unique names, such as `kubernetes.io/csi/driver^volume`. */
  volumesInUse(): readonly string[];
  /** The API server has these as in use: they may be mounted now. */
  markReportedInUse(volumes: readonly string[]): void;
}

/** For a node without attachable volumes. Shared by all of them. */
export const noVolumes: NodeVolumes = { hasSynced: () => true, volumesInUse: () => [], markReportedInUse() {} };

/** State of the runtime and of the kubelet that determines the node's conditions. */
export interface NodeHealth {
  runtimeErrors(): readonly string[];
  networkErrors(): readonly string[];
  storageErrors(): readonly string[];
  isShuttingDown(): boolean;
  pressures(): ReadonlySet<PressureType>;
}

/** State of the setters during one run of a kubelet. */
export interface SetterMemory {
  /** Value of `spec.unschedulable` as last reported. */
  unschedulable: boolean;
  /** A kubelet records the Rebooted event once. */
  rebootReported: boolean;
}

/** The input of a status setter. Valid during the call only. */
export interface SetterContext {
  readonly nodeName: string;
  readonly profile: KubeletProfile;
  readonly machine: FakeMachine;
  readonly health: NodeHealth;
  readonly volumes: NodeVolumes;
  readonly memory: SetterMemory;
  /** The kubelet's operating system and architecture, from its labels. */
  readonly platform: { readonly os: string; readonly architecture: string };
  /** Wall time in milliseconds, the same for all setters of one status. */
  readonly now: () => number;
  /** Records an Event about the node with its new state as the reason. */
  readonly recordNodeStatusEvent: (type: EventType, reason: string) => void;
  readonly recordNodeEvent: (type: EventType, reason: string, message: string) => void;
  /** True under this pressure, or within the transition period after it. Must be called in every status. */
  readonly hold: (type: string, isUnderPressure: boolean) => boolean;
  /** Logs an error that does not abort the status; the returned node is used. */
  readonly report: (problem: string) => void;
}

/**
 * One step of the chain that fills in a node's status. Returns the updated node; an asynchronous setter returns a
 * promise, and is skipped in this status when it times out. An error is logged, and the chain continues with the node
 * as it was.
 */
export interface StatusSetter {
  readonly name: string;
  /** A custom setter runs right before the setter of this name; before `Ready` when absent. */
  readonly before?: string;
  set(node: Node, context: SetterContext): Node | Promise<Node>;
}

/**
 * The node with these fields of the status. A part with an equal value stays the same object, and so does the node if
 * nothing changes: most statuses are computed only to find that nothing changed.
 */
export function mergeStatus(node: Node, fields: NonNullable<Node['status']>): Node {
  return sameFields(node.status ?? {}, fields) ? node : { ...node, status: { ...node.status, ...fields } };
}

/** The node without this field of the status; the same node if it has none. */
export function withoutField(node: Node, field: keyof NonNullable<Node['status']>): Node {
  if (node.status?.[field] === undefined) return node;
  const { [field]: _, ...status } = node.status;
  return { ...node, status };
}

function sameFields(status: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(fields).every((name) => sameJson(ownValue(status, name), ownValue(fields, name)));
}
