import { type Condition, type ConditionStatus, findCondition } from '../../api/conditions.ts';
import { formatTime } from '../../api/timestamps.ts';

interface Words {
  readonly reason: string;
  readonly message: string;
  /** The event's reason when it comes to this. */
  readonly event: string;
}

/** What a pressure-like condition says when it holds and when it does not. */
export interface PressureWords {
  readonly holds: Words;
  readonly clear: Words;
}

/** The kubelet's own words for the conditions it always reports, in the order in which it reports them. */
export const pressureWords: Readonly<Record<'MemoryPressure' | 'DiskPressure' | 'PIDPressure', PressureWords>> = {
  MemoryPressure: {
    holds: {
      reason: 'KubeletHasInsufficientMemory',
      message: 'kubelet has insufficient memory available',
      event: 'NodeHasInsufficientMemory',
    },
    clear: {
      reason: 'KubeletHasSufficientMemory',
      message: 'kubelet has sufficient memory available',
      event: 'NodeHasSufficientMemory',
    },
  },
  DiskPressure: {
    holds: { reason: 'KubeletHasDiskPressure', message: 'kubelet has disk pressure', event: 'NodeHasDiskPressure' },
    clear: {
      reason: 'KubeletHasNoDiskPressure',
      message: 'kubelet has no disk pressure',
      event: 'NodeHasNoDiskPressure',
    },
  },
  PIDPressure: {
    holds: {
      reason: 'KubeletHasInsufficientPID',
      message: 'kubelet has insufficient PID available',
      event: 'NodeHasInsufficientPID',
    },
    clear: {
      reason: 'KubeletHasSufficientPID',
      message: 'kubelet has sufficient PID available',
      event: 'NodeHasSufficientPID',
    },
  },
};

/** Of kubelets of old; by 1.8 it never held any more. */
export const outOfDiskWords: PressureWords = {
  holds: { reason: 'KubeletOutOfDisk', message: 'out of disk space', event: 'NodeOutOfDisk' },
  clear: {
    reason: 'KubeletHasSufficientDisk',
    message: 'kubelet has sufficient disk space available',
    event: 'NodeHasSufficientDisk',
  },
};

/** Of a node whose cloud has to make a route to it first. */
export const networkWords: PressureWords = {
  holds: { reason: 'NoRouteCreated', message: 'Node created without a route', event: 'NodeNetworkUnavailable' },
  clear: { reason: 'RouteCreated', message: 'RouteController created a route', event: 'NodeNetworkAvailable' },
};

/** Words for a condition beyond the three: the network's own, or made from the type's name. */
export function describeCustomCondition(type: string): PressureWords {
  if (type === 'NetworkUnavailable') return networkWords;
  const spoken = type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return {
    holds: { reason: `KubeletHas${type}`, message: `kubelet has ${spoken}`, event: `NodeHas${type}` },
    clear: { reason: `KubeletHasNo${type}`, message: `kubelet has no ${spoken}`, event: `NodeHasNo${type}` },
  };
}

/** The conditions as they are now, and the event to tell if one of them came to be otherwise. */
export interface ConditionsChange {
  readonly conditions: readonly Condition[];
  readonly event: string | undefined;
}

/**
 * The list with one pressure-like condition brought up to date; a new one goes to the end. The heartbeat always moves;
 * status, reason, message and transition time only when the status flips, so words a third party put there stay
 * (kubelet setters `MemoryPressureCondition` and its siblings).
 */
export function derivePressure(
  conditions: readonly Condition[],
  pressure: { readonly type: string; readonly holds: boolean; readonly words: PressureWords },
  nowMs: number,
): ConditionsChange {
  const { type, holds, words } = pressure;
  const now = formatTime(nowMs);
  const known = findCondition(conditions, type) ?? { type, status: 'Unknown' };
  const status: ConditionStatus = holds ? 'True' : 'False';
  const { reason, message, event } = holds ? words.holds : words.clear;
  const flips = known.status !== status;
  const changed = flips ? { status, reason, message, lastTransitionTime: now } : {};
  return {
    conditions: putCondition(conditions, { ...known, ...changed, lastHeartbeatTime: now }),
    event: flips ? event : undefined,
  };
}

export interface Readiness {
  /** Why the node is not ready, in the order in which they are told; empty when it is. */
  readonly problems: readonly string[];
  /** Something to be told though it does not make the node unready. */
  readonly warning: string | undefined;
  /** As kubelets of old did: every problem as it is, with commas between. */
  readonly plainJoin: boolean;
}

/**
 * The list with Ready computed from scratch: True without problems, False with all of them as the message. Ready is the
 * last condition of a fresh node; coming to be at all is no event (kubelet setter `ReadyCondition`).
 */
export function deriveReady(conditions: readonly Condition[], readiness: Readiness, nowMs: number): ConditionsChange {
  const { problems, warning } = readiness;
  const now = formatTime(nowMs);
  const known = findCondition(conditions, 'Ready');
  const said =
    problems.length === 0
      ? { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { status: 'False', reason: 'KubeletNotReady', message: joinProblems(readiness) };
  const message = warning === undefined ? said.message : `${said.message}. WARNING: ${warning}`;
  const unchanged = known !== undefined && known.status === said.status;
  const lastTransitionTime = unchanged ? (known.lastTransitionTime ?? now) : now;
  return {
    conditions: putCondition(conditions, {
      type: 'Ready',
      ...said,
      message,
      lastHeartbeatTime: now,
      lastTransitionTime,
    }),
    event: known === undefined || unchanged ? undefined : said.status === 'True' ? 'NodeReady' : 'NodeNotReady',
  };
}

/** One problem as it is, several in brackets, each once (apimachinery `errors.NewAggregate`). */
function joinProblems({ problems, plainJoin }: Readiness): string {
  if (plainJoin) return problems.join(',');
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? distinct.join('') : `[${distinct.join(', ')}]`;
}

/** The list with this condition in the place of the one of its type, or at the end. */
export function putCondition(conditions: readonly Condition[], condition: Condition): readonly Condition[] {
  const at = conditions.findIndex((other) => other.type === condition.type);
  return at < 0 ? [...conditions, condition] : conditions.with(at, condition);
}
