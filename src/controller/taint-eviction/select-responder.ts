import type { EvictionView } from '../../machinery/api/eviction.ts';
import { evictionKey, imperativeResponder } from '../../machinery/api/eviction.ts';

/** Age of a heartbeat from which the API hands an eviction over to the next responder. */
const heartbeatMsMax = 20 * 60_000;

/** The responder for which a pod waits. */
export interface WaitedResponder {
  readonly name: string;
  /** `namespace/name` of the Eviction. */
  readonly eviction: string;
  /** Wall time. */
  readonly heartbeatAtMs: number;
}

interface Moment {
  /** Wall time. */
  readonly nowMs: number;
  /** How long the Eviction API may hold the pod. */
  readonly timeoutMs: number;
}

/**
 * The responder with the latest heartbeat of the Evictions of one pod; undefined: none is active, or its heartbeat is too old.
 * The API server accepts a heartbeat within 30 s of its own clock, so ages are measured on the wall clock. The responder of the API
 * itself only asks the budgets, as this controller does.
 */
export function selectResponder(evictions: readonly EvictionView[], moment: Moment): WaitedResponder | undefined {
  const responders = evictions.flatMap((eviction) => freshResponder(eviction, moment) ?? []);
  return responders.sort((a, b) => b.heartbeatAtMs - a.heartbeatAtMs)[0];
}

function freshResponder(eviction: EvictionView, { nowMs, timeoutMs }: Moment): WaitedResponder | undefined {
  const { name = imperativeResponder, heartbeatAtMs, isCompleted = false } = eviction.responder ?? {};
  if (name === imperativeResponder || isCompleted || heartbeatAtMs === undefined) return undefined;
  // A clock that is ahead must not make a heartbeat last.
  const isFresh = Math.abs(nowMs - heartbeatAtMs) < Math.min(heartbeatMsMax, timeoutMs);
  return isFresh ? { name, eviction: evictionKey(eviction), heartbeatAtMs } : undefined;
}
