import type { EventType } from '../../../machinery/api/event.ts';
import { ownValue } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { FakeMachine } from '../machine/fake-machine.ts';
import type { NodeShutdown } from '../machine/node-shutdown.ts';
import type { PressureMonitor } from '../machine/pressure-monitor.ts';
import type { RuntimeState } from '../machine/runtime-state.ts';

/** The parts of a kubelet that determine the node's conditions. */
export interface NodeHealth {
  readonly runtime: RuntimeState;
  readonly pressure: PressureMonitor;
  readonly shutdown: NodeShutdown;
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
  readonly machine: FakeMachine;
  readonly health: NodeHealth;
  readonly memory: SetterMemory;
  /** The kubelet's operating system and architecture, from its labels. */
  readonly platform: { readonly os: string; readonly architecture: string };
  /** Wall time in milliseconds, the same for all setters of one status. */
  readonly nowMs: number;
  /** Records an Event about the node; without a message the reason is its new state. */
  readonly recordEvent: (type: EventType, reason: string, message?: string) => void;
}

/** One step of the chain that fills in a node's status: returns the updated node. */
export type StatusSetter = (node: Node, context: SetterContext) => Node;

/**
 * The node with these fields of the status. A part with an equal value stays the same object, and so does the node if
 * nothing changes: most statuses are computed only to find that nothing changed.
 */
export function mergeStatus(node: Node, fields: NonNullable<Node['status']>): Node {
  return sameFields(node.status ?? {}, fields) ? node : { ...node, status: { ...node.status, ...fields } };
}

function sameFields(status: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(fields).every((name) => sameJson(ownValue(status, name), ownValue(fields, name)));
}
