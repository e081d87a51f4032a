import { listConditions } from '../../api/conditions.ts';
import type { Node } from '../../api/node.ts';
import type { Machine } from '../profile.ts';
import { derivePressure, deriveReady, describeCustomCondition, pressureWords } from './derive-conditions.ts';
import { deriveAddresses, deriveCapacity, deriveVersionInfo } from './derive-machine-info.ts';
import type { HealthReading } from './machine-health.ts';

export interface StatusInput {
  readonly machine: Machine;
  readonly health: HealthReading;
  /** Wall time. */
  readonly nowMs: number;
}

/** One step of the chain that fills in a node's status. What it throws is logged, and the chain goes on without it. */
export interface StatusSetter {
  readonly name: string;
  set(node: Node, input: StatusInput): Node;
}

const machineSetters: readonly StatusSetter[] = [
  { name: 'NodeAddress', set: (node, { machine }) => deriveAddresses(node, machine) },
  { name: 'MachineInfo', set: (node, { machine }) => deriveCapacity(node, machine) },
  { name: 'VersionInfo', set: (node) => deriveVersionInfo(node) },
];

const pressureSetters: readonly StatusSetter[] = Object.entries(pressureWords).map(([type, words]) => ({
  name: type,
  set: (node, { health, nowMs }) =>
    withConditions(
      node,
      derivePressure(conditionsOf(node), { type, holds: health.conditions.get(type) === true, words }, nowMs),
    ),
}));

const customConditions: StatusSetter = {
  name: 'CustomConditions',
  set(node, { health, nowMs }) {
    let conditions = conditionsOf(node);
    for (const [type, holds] of health.conditions) {
      if (type in pressureWords) continue;
      conditions = derivePressure(conditions, { type, holds, words: describeCustomCondition(type) }, nowMs);
    }
    return withConditions(node, conditions);
  },
};

const readySetter: StatusSetter = {
  name: 'Ready',
  set: (node, { health, nowMs }) => withConditions(node, deriveReady(conditionsOf(node), health.problems, nowMs)),
};

/**
 * The chain, in the order that is a promise to readers of old: the machine, the pressures, conditions of one's own
 * (`extra` and those set by hand), and Ready as the last condition (kubelet `defaultNodeStatusFuncs`).
 */
export function statusSetters(extra: readonly StatusSetter[] = []): readonly StatusSetter[] {
  return [...machineSetters, ...pressureSetters, customConditions, ...extra, readySetter];
}

function conditionsOf(node: Node): ReturnType<typeof listConditions> {
  return listConditions(node.status?.conditions);
}

function withConditions(node: Node, conditions: ReturnType<typeof listConditions>): Node {
  return { ...node, status: { ...node.status, conditions } };
}
