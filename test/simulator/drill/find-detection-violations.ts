// What was wrong in a drill with early detection: a machine that is off was found late. One that is found too early, or although it
// answers, becomes Unknown without a reason.
import type { DrillContext, DrillViolation } from './drill-context.ts';
import { seconds, stateAt } from './due-times.ts';

/** A node is asked when it has missed a renewal, in two rounds from two places, and the leader reads the report of the other. */
const askedMs = 5_000;

export function findDetectionViolations(context: DrillContext): readonly DrillViolation[] {
  const { drill, record, span, slackMs } = context;
  const { node: subject = '', earliestMs = 0 } = drill.proven ?? {};
  const { states = [], heartbeats = [] } = record.nodes.get(subject) ?? {};
  const late = heartbeats.find((atMs, index) => {
    const byMs = atMs + earliestMs + askedMs + slackMs;
    const nextMs = heartbeats[index + 1] ?? span.untilMs;
    return atMs >= span.fromMs && byMs < nextMs && stateAt(states, byMs)?.ready !== 'Unknown';
  });
  if (drill.proven?.isInTime !== true || late === undefined) return [];
  const text = `its machine is off, its last heartbeat was at ${seconds(late)}, and it is not Unknown after ${seconds(earliestMs + askedMs)}`;
  return [{ invariant: 'proven-in-time', subject, text }];
}
