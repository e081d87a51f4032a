// The status of a NodeLifecyclePolicy object, from what the leader observes.
import { type JsonMap, mapsOf, textOf } from '../../api/json-map.ts';
import type { PolicyObject } from '../../api/node-lifecycle-policy.ts';
import { formatTime } from '../../api/timestamps.ts';
import { describeBreakerCount } from '../../controller/model/decisions.ts';
import type { PolicyFigures } from '../../controller/model/policy.ts';
import type { PolicyAssessment } from './decide-policies-in-force.ts';

/** Of a condition; an Event has at most 1024 bytes. */
const messageCharsMax = 900;

interface Finding {
  readonly type: 'Accepted' | 'Degraded';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/**
 * `current`: the status on the API server, whose transition times are kept. `figures` is undefined if no version of the
 * object is in force.
 */
export function buildPolicyStatus(
  assessment: PolicyAssessment,
  figures: PolicyFigures | undefined,
  current: JsonMap,
  nowMs: number,
): JsonMap {
  const { object, inForce } = assessment;
  const findings = [buildAccepted(assessment), buildDegraded(figures)];
  return {
    observedGeneration: object.generation,
    ...(inForce === undefined ? {} : { mode: inForce.policy.mode, priority: inForce.policy.priority }),
    ...countsOf(figures),
    ...(figures?.breaker === undefined ? {} : { breaker: figures.breaker.untilMs === undefined ? 'Closed' : 'Open' }),
    conditions: findings.map((finding) => toCondition(finding, object, current, nowMs)),
  };
}

/** The condition Accepted as of this assessment. */
export function buildAccepted({ object, reason, problems, inForce }: PolicyAssessment): Finding {
  if (reason === 'Valid') return { type: 'Accepted', status: 'True', reason, message: 'the spec is in force' };
  const meanwhile =
    inForce === undefined
      ? 'no version of the spec is in force'
      : `generation ${inForce.generation} of the spec stays in force`;
  const message = `${problems.join('; ')}; ${meanwhile}, not generation ${object.generation}`;
  return { type: 'Accepted', status: 'False', reason, message: shorten(message) };
}

function buildDegraded(figures: PolicyFigures | undefined): Finding {
  const { breaker, conflicts = 0 } = figures ?? {};
  const isOpen = breaker?.untilMs !== undefined;
  const messages = [
    ...(isOpen ? [`the breaker is open: ${describeBreakerCount(breaker)}`] : []),
    ...(conflicts > 0 ? [`${conflicts} nodes are claimed equally by another policy, so neither applies to them`] : []),
  ];
  if (messages.length === 0)
    return { type: 'Degraded', status: 'False', reason: 'AsExpected', message: 'no breaker is open, and no conflict' };
  return {
    type: 'Degraded',
    status: 'True',
    reason: isOpen ? 'BreakerOpen' : 'Conflict',
    message: messages.join('; '),
  };
}

function countsOf(figures: PolicyFigures | undefined): JsonMap {
  const { nodes = 0, unhealthy = 0, held = 0, pendingEvictions = 0 } = figures ?? {};
  return { nodes, unhealthyNodes: unhealthy, heldNodes: held, pendingEvictions };
}

/** `lastTransitionTime` is when the status changed, not the reason or the message. */
function toCondition(finding: Finding, { generation }: PolicyObject, current: JsonMap, nowMs: number): JsonMap {
  const before = mapsOf(current['conditions']).find(({ type }) => type === finding.type);
  const since = before?.['status'] === finding.status ? textOf(before['lastTransitionTime']) : '';
  return { ...finding, observedGeneration: generation, lastTransitionTime: since || formatTime(nowMs) };
}

function shorten(message: string): string {
  return message.length <= messageCharsMax ? message : `${message.slice(0, messageCharsMax)}…`;
}
