import { type Condition, type ConditionStatus, findCondition } from '../../../machinery/api/conditions.ts';
import { formatTime } from '../../../machinery/api/timestamps.ts';
import { formatAggregate } from '../format-aggregate.ts';

interface ConditionText {
  readonly reason: string;
  readonly message: string;
  /** Reason of the Event for the change to this status. */
  readonly event: string;
}

/** Reasons and messages of a pressure-like condition. */
interface PressureTexts {
  readonly holds: ConditionText;
  readonly clear: ConditionText;
}

/**
 * The kubelet's reasons and messages of the conditions that it always reports, in the order in which it reports them.
 */
export const pressureTexts: Readonly<Record<'MemoryPressure' | 'DiskPressure' | 'PIDPressure', PressureTexts>> = {
  MemoryPressure: {
    holds: text(
      'KubeletHasInsufficientMemory',
      'kubelet has insufficient memory available',
      'NodeHasInsufficientMemory',
    ),
    clear: text('KubeletHasSufficientMemory', 'kubelet has sufficient memory available', 'NodeHasSufficientMemory'),
  },
  DiskPressure: {
    holds: text('KubeletHasDiskPressure', 'kubelet has disk pressure', 'NodeHasDiskPressure'),
    clear: text('KubeletHasNoDiskPressure', 'kubelet has no disk pressure', 'NodeHasNoDiskPressure'),
  },
  PIDPressure: {
    holds: text('KubeletHasInsufficientPID', 'kubelet has insufficient PID available', 'NodeHasInsufficientPID'),
    clear: text('KubeletHasSufficientPID', 'kubelet has sufficient PID available', 'NodeHasSufficientPID'),
  },
};

/** Texts of the condition that a route controller sets. */
export const networkTexts: PressureTexts = {
  holds: text('NoRouteCreated', 'Node created without a route', 'NodeNetworkUnavailable'),
  clear: text('RouteCreated', 'RouteController created a route', 'NodeNetworkAvailable'),
};

function text(reason: string, message: string, event: string): ConditionText {
  return { reason, message, event };
}

/** Reasons and messages of a condition beyond the three: those of the network, or derived from the type's name. */
export function describeCustomCondition(type: string): PressureTexts {
  if (type === 'NetworkUnavailable') return networkTexts;
  const lowerCased = type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return {
    holds: text(`KubeletHas${type}`, `kubelet has ${lowerCased}`, `NodeHas${type}`),
    clear: text(`KubeletHasNo${type}`, `kubelet has no ${lowerCased}`, `NodeHasNo${type}`),
  };
}

/** The updated conditions, and the Event reason if one of them changed. */
export interface ConditionsChange {
  readonly conditions: readonly Condition[];
  readonly event: string | undefined;
}

/**
 * The list with one pressure-like condition updated; a new one is appended. The heartbeat time always changes; status,
 * reason, message and transition time only when the status flips, so a message that another client set there stays
 * (kubelet setters `MemoryPressureCondition` and its siblings).
 */
export function buildPressure(
  conditions: readonly Condition[],
  pressure: { readonly type: string; readonly holds: boolean; readonly texts: PressureTexts },
  nowMs: number,
): ConditionsChange {
  const { type, holds, texts } = pressure;
  const now = formatTime(nowMs);
  const known = findCondition(conditions, type) ?? { type, status: 'Unknown' };
  const status: ConditionStatus = holds ? 'True' : 'False';
  const { reason, message, event } = holds ? texts.holds : texts.clear;
  const flips = known.status !== status;
  const changed = flips ? { status, reason, message, lastTransitionTime: now } : {};
  return {
    conditions: putCondition(conditions, { ...known, ...changed, lastHeartbeatTime: now }),
    event: flips ? event : undefined,
  };
}

/**
 * The list with Ready computed from scratch: True without problems, False with all of them as the message. Ready is the
 * last condition of a new node; its first appearance records no Event (kubelet setter `ReadyCondition`).
 */
export function buildReady(
  conditions: readonly Condition[],
  problems: readonly string[],
  nowMs: number,
): ConditionsChange {
  const now = formatTime(nowMs);
  const known = findCondition(conditions, 'Ready');
  const ready =
    problems.length === 0
      ? { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { status: 'False', reason: 'KubeletNotReady', message: formatAggregate(problems) };
  const unchanged = known !== undefined && known.status === ready.status;
  const lastTransitionTime = unchanged ? (known.lastTransitionTime ?? now) : now;
  return {
    conditions: putCondition(conditions, {
      type: 'Ready',
      ...ready,
      lastHeartbeatTime: now,
      lastTransitionTime,
    }),
    event: known === undefined || unchanged ? undefined : ready.status === 'True' ? 'NodeReady' : 'NodeNotReady',
  };
}

/** The list with this condition in the place of the one of its type, or at the end. */
function putCondition(conditions: readonly Condition[], condition: Condition): readonly Condition[] {
  const at = conditions.findIndex((other) => other.type === condition.type);
  if (at < 0) return [...conditions, condition];
  const updated = [...conditions];
  updated[at] = condition;
  return updated;
}
