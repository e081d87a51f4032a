import { formatMicroTime } from '../../api/timestamps.ts';
import { zoneName } from '../../api/zone.ts';
import type { TimelineLine } from '../../dashboard/protocol.ts';
import { classifyLevel } from '../decision-log/classify-level.ts';
import type { NotedDecision } from '../decision-log/decision-log.ts';
import { describeDecision } from '../decision-log/describe-decision.ts';

/** A message of the API server may be long, as may a stack. */
const textCharsMax = 1_000;

/** One decision in the timeline. */
export function buildTimelineLine(id: number, { atMs, decision }: NotedDecision): TimelineLine {
  const text = describeDecision(decision);
  return {
    id,
    at: formatMicroTime(atMs),
    kind: decision.kind,
    text: text.length > textCharsMax ? `${text.slice(0, textCharsMax)}…` : text,
    warning: classifyLevel(decision) === 'warn',
    node: 'node' in decision && decision.node !== '' ? decision.node : null,
    pod: 'pod' in decision ? decision.pod : null,
    zone: 'zone' in decision ? zoneName(decision.zone) : null,
  };
}
