// What was wrong in a drill with early warnings: an annotation that came too early or too late, or stayed.
import type { DrillContext, DrillViolation } from './drill-context.ts';
import type { NodeState } from './drill-record.ts';
import { seconds, stateAt } from './due-times.ts';

/** A review every second, and the write. */
const reviewedMs = 1_500;

export function findWarningViolations(context: DrillContext): readonly DrillViolation[] {
  const { warned } = context.drill;
  const { states = [], heartbeats = [] } = context.record.nodes.get(warned?.node ?? '') ?? {};
  if (warned === undefined) return [];
  const gaps = heartbeats.map((atMs, index) => ({ atMs, nextMs: heartbeats[index + 1] ?? context.span.untilMs }));
  return gaps
    .flatMap(({ atMs, nextMs }) => [
      ...findEarly(states, { atMs, nextMs, dueMs: atMs + warned.afterMs }, context),
      ...findMissing(states, { atMs, nextMs, dueMs: atMs + warned.afterMs }, context),
      ...findLeft(states, { atMs, nextMs, dueMs: atMs + warned.afterMs }, context),
    ])
    .map(({ invariant, text }) => ({ invariant, subject: warned.node, text }));
}

interface Gap {
  /** A heartbeat, and the next one. */
  readonly atMs: number;
  readonly nextMs: number;
}
type Finding = Pick<DrillViolation, 'invariant' | 'text'>;

/** The annotation is set within a silence, not before its time; the heartbeat before may be known a little later or earlier. */
function findEarly(
  states: readonly NodeState[],
  gap: Gap & { dueMs: number },
  context: DrillContext,
): readonly Finding[] {
  const { atMs, nextMs, dueMs } = gap;
  const early = states.find((state, index) => {
    const isSet = state.overdue !== undefined && states[index - 1]?.overdue === undefined;
    return isSet && state.byController && state.atMs > atMs + context.knownMs && state.atMs < Math.min(dueMs, nextMs);
  });
  if (early === undefined) return [];
  return [
    {
      invariant: 'warns-of-silence',
      text: `annotated at ${seconds(early.atMs)}, ${seconds(early.atMs - atMs)} after a heartbeat`,
    },
  ];
}

function findMissing(
  states: readonly NodeState[],
  gap: Gap & { dueMs: number },
  context: DrillContext,
): readonly Finding[] {
  const { span, slackMs } = context;
  const byMs = gap.dueMs + reviewedMs + slackMs;
  if (gap.atMs < span.fromMs || byMs >= gap.nextMs || stateAt(states, byMs)?.ready === 'Unknown') return [];
  if (stateAt(states, byMs)?.overdue !== undefined) return [];
  return [
    { invariant: 'warns-in-time', text: `not annotated at ${seconds(byMs)}, last heartbeat at ${seconds(gap.atMs)}` },
  ];
}

/** A heartbeat ends the warning, unless the node is Unknown: then the end of that does. After its time there is another one. */
function findLeft(
  states: readonly NodeState[],
  { atMs, nextMs, dueMs }: Gap & { dueMs: number },
  context: DrillContext,
): readonly Finding[] {
  const byMs = atMs + reviewedMs + context.slackMs;
  const fromMs = atMs - 1;
  const wasUnknown = [fromMs, byMs].some((ms) => stateAt(states, ms)?.ready !== 'True');
  if (wasUnknown || byMs >= Math.min(nextMs, dueMs) || stateAt(states, byMs)?.overdue === undefined) return [];
  return [{ invariant: 'warning-ends', text: `annotated at ${seconds(byMs)}, heartbeat at ${seconds(atMs)}` }];
}
