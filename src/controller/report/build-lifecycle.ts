import { type Condition, findCondition, lifecycleConditions } from '../../machinery/api/conditions.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { Now } from '../model/node-state.ts';
import type { SignalMeaning } from '../model/policy.ts';
import { formatWallPast } from './format-time.ts';
import type { LifecycleCondition, Past } from './pages.ts';

/** Time after which what a node that is Unknown says about itself counts as stale: nothing keeps it up to date. */
const staleAfterMs = 10 * 60_000;

/** The conditions of KEP-5683 that are True, in the order of a node's life. */
export function buildLifecycle(
  conditions: readonly Condition[],
  meaningOf: (condition: string) => SignalMeaning | undefined,
  now: Now,
): readonly LifecycleCondition[] {
  const stale = staleSince(findCondition(conditions, 'Ready'), now);
  return lifecycleConditions.flatMap((type) => {
    const condition = findCondition(conditions, type);
    if (condition?.status !== 'True') return [];
    const { reason = '', lastTransitionTime } = condition;
    const since = pastOf(lastTransitionTime, now);
    const means = meaningOf(type) ?? null;
    return [{ condition: type, reason: reason === '' ? null : reason, since, means, ...(stale && { stale }) }];
  });
}

function staleSince(ready: Condition | undefined, now: Now): Past | undefined {
  const since = ready?.status === 'Unknown' ? pastOf(ready.lastTransitionTime, now) : null;
  return since !== null && since.secondsAgo * 1_000 >= staleAfterMs ? since : undefined;
}

function pastOf(time: string | undefined, now: Now): Past | null {
  const wallMs = parseTimestamp(time);
  return wallMs === undefined ? null : formatWallPast(wallMs, now);
}
