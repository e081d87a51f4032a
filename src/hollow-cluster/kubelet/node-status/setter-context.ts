import type { EventType } from '../../../machinery/api/event.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { PressureType } from '../machine/classify-signal.ts';
import type { FakeMachine } from '../machine/fake-machine.ts';
import type { NodeVolumes } from '../machine/node-volumes.ts';
import type { KubeletProfile } from '../profile.ts';

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
  /** As last reported. */
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
