import { ownValue } from '../../../machinery/api/json-map.ts';
import { listConditions } from '../../../machinery/api/conditions.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { PressureType } from '../machine/classify-signal.ts';
import {
  type ConditionsChange,
  buildPressure,
  buildReady,
  describeCustomCondition,
  outOfDiskTexts,
  type PressureTexts,
  pressureTexts,
} from './build-conditions.ts';
import type { SetterContext, StatusSetter } from './setter-context.ts';

interface PressureSetter {
  /** The condition's type, and the setter's name. */
  readonly type: string;
  /** Derived from the type's name when absent. */
  readonly texts?: PressureTexts;
  /** Runs right before the setter of this name; before `Ready` when absent. */
  readonly before?: string;
  readonly isUnderPressure: (context: SetterContext) => boolean;
}

/**
 * A setter for a condition that behaves like MemoryPressure: its heartbeat time changes with every status, reason and
 * message change with its status, and each change is an Event about the node. A forced condition on the machine wins.
 */
export function pressureSetter({ type, texts, before, isUnderPressure }: PressureSetter): StatusSetter {
  const conditionTexts = texts ?? describeCustomCondition(type);
  return {
    name: type,
    ...(before === undefined ? {} : { before }),
    set(node, context) {
      const holds = context.machine.forcedConditions.get(type) ?? isUnderPressure(context);
      return withPressure(node, { type, holds, texts: conditionTexts }, context);
    },
  };
}

function fromSignals(type: PressureType): StatusSetter {
  const isUnderPressure = ({ health }: SetterContext): boolean => health.pressures().has(type);
  return pressureSetter({ type, texts: pressureTexts[type], isUnderPressure });
}

export const memoryPressure = fromSignals('MemoryPressure');
export const diskPressure = fromSignals('DiskPressure');
export const pidPressure = fromSignals('PIDPressure');

/** Condition OutOfDisk of v1.8: no longer measured, but still reported as False. */
export const outOfDisk: StatusSetter = {
  name: 'OutOfDisk',
  set(node, context) {
    return withPressure(node, { type: 'OutOfDisk', holds: false, texts: outOfDiskTexts }, context);
  },
};

/** Custom conditions that were forced on the machine. */
export const customConditions: StatusSetter = {
  name: 'CustomConditions',
  set(node, context) {
    let composed = node;
    for (const [type, holds] of context.machine.forcedConditions) {
      if (Object.hasOwn(pressureTexts, type)) continue;
      composed = withPressure(composed, { type, holds, texts: describeCustomCondition(type) }, context);
    }
    return composed;
  },
};

export const ready: StatusSetter = {
  name: 'Ready',
  set(node, context) {
    const plainJoin = context.profile.kind === 'v1.8';
    const readiness = { problems: problemsOf(node, context), warning: context.machine.warning, plainJoin };
    return withChange(node, buildReady(conditionsOf(node), readiness, context.now()), context);
  },
};

/** In the order in which they are reported (kubelet `ReadyCondition`); an injected fault comes last. */
function problemsOf(node: Node, { health, machine, profile }: SetterContext): readonly string[] {
  const capacity = node.status?.capacity ?? {};
  const missing = ['cpu', 'memory', 'pods', 'ephemeral-storage'].filter(
    (name) => ownValue(capacity, name) === undefined,
  );
  const word = profile.kind === 'v1.8' ? 'Missing' : 'missing';
  return [
    ...health.runtimeErrors(),
    ...health.networkErrors(),
    ...health.storageErrors(),
    ...(health.isShuttingDown() ? ['node is shutting down'] : []),
    ...(missing.length === 0 ? [] : [`${word} node capacity for resources: ${missing.join(', ')}`]),
    ...(machine.fault === undefined ? [] : [machine.fault]),
  ];
}

function conditionsOf(node: Node): ReturnType<typeof listConditions> {
  return listConditions(node.status?.conditions);
}

function withPressure(node: Node, pressure: Parameters<typeof buildPressure>[1], context: SetterContext): Node {
  return withChange(node, buildPressure(conditionsOf(node), pressure, context.now()), context);
}

function withChange(node: Node, { conditions, event }: ConditionsChange, context: SetterContext): Node {
  if (event !== undefined) context.recordNodeStatusEvent('Normal', event);
  return { ...node, status: { ...node.status, conditions } };
}
