import { listConditions } from '../../../machinery/api/conditions.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { PressureType } from '../machine/plan-eviction-pass.ts';
import {
  type ConditionsChange,
  buildPressure,
  buildReady,
  describeCustomCondition,
  pressureTexts,
} from './build-conditions.ts';
import type { SetterContext, StatusSetter } from './setter-context.ts';

/**
 * A setter for a condition that behaves like MemoryPressure: its heartbeat time changes with every status, reason and
 * message change with its status, and each change is an Event about the node. A forced condition on the machine wins.
 */
function pressureSetter(type: PressureType): StatusSetter {
  return (node, context) => {
    const holds = context.machine.forcedConditions.get(type) ?? context.health.pressure.conditions().has(type);
    return withPressure(node, { type, holds, texts: pressureTexts[type] }, context);
  };
}

export const memoryPressure = pressureSetter('MemoryPressure');
export const diskPressure = pressureSetter('DiskPressure');
export const pidPressure = pressureSetter('PIDPressure');

/** Custom conditions that were forced on the machine. */
export const customConditions: StatusSetter = (node, context) => {
  let composed = node;
  for (const [type, holds] of context.machine.forcedConditions) {
    if (Object.hasOwn(pressureTexts, type)) continue;
    composed = withPressure(composed, { type, holds, texts: describeCustomCondition(type) }, context);
  }
  return composed;
};

export const ready: StatusSetter = (node, context) => {
  return withChange(node, buildReady(conditionsOf(node), problemsOf(context), context.nowMs), context);
};

/** In the order in which they are reported (kubelet `ReadyCondition`); an injected fault comes last. */
function problemsOf({ health, machine }: SetterContext): readonly string[] {
  return [
    ...health.runtime.runtimeErrors(),
    ...health.runtime.networkErrors(),
    ...health.runtime.storageErrors(),
    ...(health.shutdown.isShuttingDown ? ['node is shutting down'] : []),
    ...(machine.fault === undefined ? [] : [machine.fault]),
  ];
}

function conditionsOf(node: Node): ReturnType<typeof listConditions> {
  return listConditions(node.status?.conditions);
}

function withPressure(node: Node, pressure: Parameters<typeof buildPressure>[1], context: SetterContext): Node {
  return withChange(node, buildPressure(conditionsOf(node), pressure, context.nowMs), context);
}

function withChange(node: Node, { conditions, event }: ConditionsChange, context: SetterContext): Node {
  if (event !== undefined) context.recordEvent('Normal', event);
  return { ...node, status: { ...node.status, conditions } };
}
