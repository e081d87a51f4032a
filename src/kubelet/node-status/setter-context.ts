import type { EventType } from '../../api/event.ts';
import type { Node } from '../../api/node.ts';
import type { PressureType } from '../machine/classify-signal.ts';
import type { FakeMachine } from '../machine/fake-machine.ts';
import type { NodeVolumes } from '../machine/node-volumes.ts';
import type { KubeletProfile } from '../profile.ts';

/** What the kubelet knows of its runtime and its own state: why the node would not be ready. */
export interface NodeHealth {
  runtimeErrors(): readonly string[];
  networkErrors(): readonly string[];
  storageErrors(): readonly string[];
  isShuttingDown(): boolean;
  pressures(): ReadonlySet<PressureType>;
}

/** What setters remember of a kubelet's life, from one status to the next. */
export interface SetterMemory {
  /** As last told. */
  unschedulable: boolean;
  /** A kubelet tells of a reboot once. */
  toldReboot: boolean;
}

/** What a status setter may use. Nothing of it outlives the call. */
export interface SetterContext {
  readonly nodeName: string;
  readonly profile: KubeletProfile;
  readonly machine: FakeMachine;
  readonly health: NodeHealth;
  readonly volumes: NodeVolumes;
  readonly memory: SetterMemory;
  /** The kubelet's operating system and architecture, as its labels say. */
  readonly platform: { readonly os: string; readonly architecture: string };
  /** Wall time in milliseconds, the same for all setters of one status. */
  readonly now: () => number;
  /** Tells what the node's status is now, in one word, as an event about the node. */
  readonly recordNodeStatusEvent: (type: EventType, reason: string) => void;
  readonly recordNodeEvent: (type: EventType, reason: string, message: string) => void;
  /** Is the node under this pressure, or was it within the hold for pressures? To be asked in every status. */
  readonly hold: (type: string, isUnderPressure: boolean) => boolean;
  /** Something went wrong that the status has to do without: it is logged, and what the setter returns counts. */
  readonly report: (problem: string) => void;
}

/**
 * One step of the chain that fills in a node's status. It returns the node as it should be then; one that takes its time
 * returns a promise of it, and is left out of this status when it takes too long. What it throws is logged, and the chain
 * goes on with the node as it was.
 */
export interface StatusSetter {
  readonly name: string;
  /** One of one's own runs right before the setter of this name; before `Ready` when absent. */
  readonly before?: string;
  set(node: Node, context: SetterContext): Node | Promise<Node>;
}
