import { cutText } from '../../machinery/api/limits.ts';
import { formatMicroTime } from '../../machinery/api/timestamps.ts';
import { zoneName } from '../../machinery/api/zone.ts';
import type { TimelineLine } from '../../dashboard/protocol.ts';
import { classifyLevel } from '../decision-log/classify-level.ts';
import type { NotedDecision } from '../decision-log/decision-log.ts';
import { describeDecision } from '../decision-log/describe-decision.ts';

/** A message of the API server may be long, as may a stack. */
const lineCharsMax = 1_000;

/** One decision in the timeline. */
export function buildTimelineLine(id: number, { atMs, decision }: NotedDecision): TimelineLine {
  return {
    id,
    at: formatMicroTime(atMs),
    kind: decision.kind,
    text: cutText(describeDecision(decision), lineCharsMax),
    warning: classifyLevel(decision) === 'warn',
    node: 'node' in decision && decision.node !== '' ? decision.node : null,
    pod: 'pod' in decision ? decision.pod : null,
    zone: 'zone' in decision ? zoneName(decision.zone) : null,
  };
}
