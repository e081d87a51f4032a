import { findCondition, listConditions } from '../../api/conditions.ts';
import type { Node } from '../../api/node.ts';
import { formatTime } from '../../api/timestamps.ts';
import type { PressureType } from '../machine/classify-signal.ts';
import {
  type ConditionsChange,
  derivePressure,
  deriveReady,
  describeCustomCondition,
  outOfDiskWords,
  type PressureWords,
  pressureWords,
  putCondition,
} from './derive-conditions.ts';
import type { SetterContext, StatusSetter } from './setter-context.ts';

export interface PressureSetter {
  /** The condition's type, and the setter's name. */
  readonly type: string;
  /** Made from the type's name when absent. */
  readonly words?: PressureWords;
  /** Right before the setter of this name; before `Ready` when absent. */
  readonly before?: string;
  readonly isUnderPressure: (context: SetterContext) => boolean;
}

/**
 * A setter for a condition that behaves as MemoryPressure and its siblings do: its heartbeat moves with every status, its
 * words change with its status, and each change is an event about the node. What is forced by hand on the machine wins.
 */
export function pressureSetter({ type, words, before, isUnderPressure }: PressureSetter): StatusSetter {
  const said = words ?? describeCustomCondition(type);
  return {
    name: type,
    ...(before === undefined ? {} : { before }),
    set(node, context) {
      const holds = context.machine.forcedConditions.get(type) ?? isUnderPressure(context);
      return withChange(node, derivePressure(conditionsOf(node), { type, holds, words: said }, context.now()), context);
    },
  };
}

function fromSignals(type: PressureType): StatusSetter {
  const isUnderPressure = ({ health }: SetterContext): boolean => health.pressures().has(type);
  return pressureSetter({ type, words: pressureWords[type], isUnderPressure });
}

export const memoryPressure = fromSignals('MemoryPressure');
export const diskPressure = fromSignals('DiskPressure');
export const pidPressure = fromSignals('PIDPressure');

/** Of 1.8: nothing measures it any more, and it is told all the same. */
export const outOfDisk: StatusSetter = {
  name: 'OutOfDisk',
  set(node, context) {
    const now = formatTime(context.now());
    const known = findCondition(conditionsOf(node), 'OutOfDisk') ?? { type: 'OutOfDisk', status: '' };
    const { reason, message, event } = outOfDiskWords.clear;
    const flips = known.status !== 'False';
    const changed = flips ? { status: 'False', reason, message, lastTransitionTime: now } : {};
    const conditions = putCondition(conditionsOf(node), { ...known, ...changed, lastHeartbeatTime: now });
    return withChange(node, { conditions, event: flips ? event : undefined }, context);
  },
};

/** Conditions of one's own that were set by hand. */
export const customConditions: StatusSetter = {
  name: 'CustomConditions',
  set(node, context) {
    let composed = node;
    for (const [type, holds] of context.machine.forcedConditions) {
      if (type in pressureWords) continue;
      const words = describeCustomCondition(type);
      composed = withChange(
        composed,
        derivePressure(conditionsOf(composed), { type, holds, words }, context.now()),
        context,
      );
    }
    return composed;
  },
};

export const ready: StatusSetter = {
  name: 'Ready',
  set(node, context) {
    const plainJoin = context.profile.kind === 'classic';
    const readiness = { problems: problemsOf(node, context), warning: context.machine.warning, plainJoin };
    return withChange(node, deriveReady(conditionsOf(node), readiness, context.now()), context);
  },
};

/** In the order in which they are told (kubelet `ReadyCondition`); what somebody broke by hand comes last. */
function problemsOf(node: Node, { health, machine, profile }: SetterContext): readonly string[] {
  const missing = ['cpu', 'memory', 'pods', 'ephemeral-storage'].filter((name) => !hasCapacity(node, name));
  const word = profile.kind === 'classic' ? 'Missing' : 'missing';
  return [
    ...health.runtimeErrors(),
    ...health.networkErrors(),
    ...health.storageErrors(),
    ...(health.isShuttingDown() ? ['node is shutting down'] : []),
    ...(missing.length === 0 ? [] : [`${word} node capacity for resources: ${missing.join(', ')}`]),
    ...(machine.fault === undefined ? [] : [machine.fault]),
  ];
}

function hasCapacity(node: Node, resource: string): boolean {
  return node.status?.capacity?.[resource] !== undefined;
}

function conditionsOf(node: Node): ReturnType<typeof listConditions> {
  return listConditions(node.status?.conditions);
}

function withChange(node: Node, { conditions, event }: ConditionsChange, context: SetterContext): Node {
  if (event !== undefined) context.recordNodeStatusEvent('Normal', event);
  return { ...node, status: { ...node.status, conditions } };
}
