import { type Condition, type ConditionStatus, findCondition } from '../../api/conditions.ts';
import { formatTime } from '../../api/timestamps.ts';

interface Words {
  readonly reason: string;
  readonly message: string;
}

/** What a pressure-like condition says when it holds and when it does not. */
export interface PressureWords {
  readonly holds: Words;
  readonly clear: Words;
}

/** The kubelet's own words for the conditions it always reports, in the order in which it reports them. */
export const pressureWords: Readonly<Record<'MemoryPressure' | 'DiskPressure' | 'PIDPressure', PressureWords>> = {
  MemoryPressure: {
    holds: { reason: 'KubeletHasInsufficientMemory', message: 'kubelet has insufficient memory available' },
    clear: { reason: 'KubeletHasSufficientMemory', message: 'kubelet has sufficient memory available' },
  },
  DiskPressure: {
    holds: { reason: 'KubeletHasDiskPressure', message: 'kubelet has disk pressure' },
    clear: { reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure' },
  },
  PIDPressure: {
    holds: { reason: 'KubeletHasInsufficientPID', message: 'kubelet has insufficient PID available' },
    clear: { reason: 'KubeletHasSufficientPID', message: 'kubelet has sufficient PID available' },
  },
};

const networkWords: PressureWords = {
  holds: { reason: 'NoRouteCreated', message: 'Node created without a route' },
  clear: { reason: 'RouteCreated', message: 'RouteController created a route' },
};

/** Words for a condition beyond the three: the network's own, or made from the type's name. */
export function describeCustomCondition(type: string): PressureWords {
  if (type === 'NetworkUnavailable') return networkWords;
  const spoken = type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return {
    holds: { reason: `KubeletHas${type}`, message: `kubelet has ${spoken}` },
    clear: { reason: `KubeletHasNo${type}`, message: `kubelet has no ${spoken}` },
  };
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
): readonly Condition[] {
  const { type, holds, words } = pressure;
  const now = formatTime(nowMs);
  const known = findCondition(conditions, type) ?? { type, status: 'Unknown' };
  const status: ConditionStatus = holds ? 'True' : 'False';
  const said = holds ? words.holds : words.clear;
  const changed = known.status === status ? {} : { status, ...said, lastTransitionTime: now };
  return putCondition(conditions, { ...known, ...changed, lastHeartbeatTime: now });
}

/**
 * The list with Ready computed from scratch: True without problems, False with all of them as the message. Ready is the
 * last condition of a fresh node (kubelet setter `ReadyCondition`).
 */
export function deriveReady(
  conditions: readonly Condition[],
  problems: readonly string[],
  nowMs: number,
): readonly Condition[] {
  const now = formatTime(nowMs);
  const known = findCondition(conditions, 'Ready');
  const said =
    problems.length === 0
      ? { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { status: 'False', reason: 'KubeletNotReady', message: joinProblems(problems) };
  const unchanged = known !== undefined && known.status === said.status;
  const lastTransitionTime = unchanged ? (known.lastTransitionTime ?? now) : now;
  return putCondition(conditions, { type: 'Ready', ...said, lastHeartbeatTime: now, lastTransitionTime });
}

/** One problem as it is, several in brackets, each once (apimachinery `errors.NewAggregate`). */
function joinProblems(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? distinct.join('') : `[${distinct.join(', ')}]`;
}

function putCondition(conditions: readonly Condition[], condition: Condition): readonly Condition[] {
  const at = conditions.findIndex((other) => other.type === condition.type);
  return at < 0 ? [...conditions, condition] : conditions.with(at, condition);
}
