// The status of a NodeLifecyclePolicy object, from what the leader observes.
import { type JsonMap, mapsOf, textOf } from '../../machinery/api/json-map.ts';
import type { PolicyObject } from '../../machinery/api/node-lifecycle-policy.ts';
import { cutText } from '../../machinery/api/limits.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import { describeBreakerCount } from '../../controller/model/decisions.ts';
import type { PolicyFigures } from '../../controller/model/policy.ts';
import type { PolicyAssessment } from './decide-policies-in-force.ts';

/** Maximum length of the message of a condition; an Event has at most 1024 bytes. */
const messageCharsMax = 900;

interface Finding {
  readonly type: 'Accepted' | 'Degraded';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const claimedEqually = 'are claimed equally by another policy, so neither applies to them';
const noReset = 'it resets no breaker';

const countFields = ['nodes', 'unhealthyNodes', 'heldNodes', 'pendingEvictions', 'breaker'] as const;

/**
 * `current`: the status on the API server, whose transition times are kept. `figures` is undefined if its nodes have not
 * been counted yet: then the counts stay as they are.
 */
export function buildPolicyStatus(
  assessment: PolicyAssessment,
  figures: PolicyFigures | undefined,
  current: JsonMap,
  nowMs: number,
): JsonMap {
  const { object, inForce, reset } = assessment;
  const accepted = toCondition(buildAccepted(assessment), object, current, nowMs);
  if (inForce === undefined) {
    const degraded = toCondition(buildDegraded(none), object, current, nowMs);
    return { observedGeneration: object.generation, ...countsOf(none), conditions: [accepted, degraded] };
  }
  const { priority } = inForce.policy;
  // A schedule may have set another one than the spec.
  const mode = figures?.mode ?? inForce.policy.mode;
  const own = { observedGeneration: object.generation, mode, priority };
  if (figures === undefined)
    return { ...own, ...keptCounts(current), conditions: [accepted, ...keptDegraded(current)] };
  return {
    ...own,
    ...countsOf(figures),
    conditions: [accepted, toCondition(buildDegraded(figures, reset?.problem), object, current, nowMs)],
  };
}

/** The condition Accepted as of this assessment. */
export function buildAccepted({ object, reason, problems, inForce }: PolicyAssessment): Finding {
  if (reason === 'Valid') return { type: 'Accepted', status: 'True', reason, message: 'the spec is in force' };
  const message = `${problems.join('; ')}; ${describeMeanwhile(object, inForce)}`;
  return { type: 'Accepted', status: 'False', reason, message: shorten(message) };
}

function describeMeanwhile({ uid, generation }: PolicyObject, inForce: PolicyAssessment['inForce']): string {
  if (inForce === undefined) return `no version of the spec is in force, not generation ${generation}`;
  if (inForce.generation === 'paused') return 'the nodes that it selects are paused until it is valid';
  const whose = inForce.uid === uid ? 'the spec' : 'the object that it replaces';
  return `generation ${inForce.generation} of ${whose} stays in force, not generation ${generation}`;
}

type Counts = Pick<PolicyFigures, 'nodes' | 'unhealthy' | 'held' | 'pendingEvictions' | 'conflicts' | 'breaker'>;

const none: Counts = { nodes: 0, unhealthy: 0, held: 0, pendingEvictions: 0, conflicts: 0 };

/** The reason is that of the first finding; the message has all of them. */
function buildDegraded({ breaker, conflicts }: Counts, resetProblem?: string): Finding {
  const isOpen = breaker?.untilMs !== undefined;
  const findings = [
    ...(isOpen ? [['BreakerOpen', `the breaker is open: ${describeBreakerCount(breaker)}`] as const] : []),
    ...(conflicts > 0 ? [['Conflict', `${conflicts} nodes ${claimedEqually}`] as const] : []),
    ...(resetProblem === undefined ? [] : [['InvalidResetAnnotation', `${resetProblem}; ${noReset}`] as const]),
  ];
  const [first] = findings;
  if (first === undefined)
    return { type: 'Degraded', status: 'False', reason: 'AsExpected', message: 'no breaker is open, and no conflict' };
  const message = shorten(findings.map(([, text]) => text).join('; '));
  return { type: 'Degraded', status: 'True', reason: first[0], message };
}

function countsOf({ nodes, unhealthy, held, pendingEvictions, breaker }: Counts): JsonMap {
  const state = breaker === undefined ? {} : { breaker: breaker.untilMs === undefined ? 'Closed' : 'Open' };
  return { nodes, unhealthyNodes: unhealthy, heldNodes: held, pendingEvictions, ...state };
}

function keptCounts(current: JsonMap): JsonMap {
  const known = countFields.filter((field) => current[field] !== undefined);
  return Object.fromEntries(known.map((field) => [field, current[field]]));
}

function keptDegraded(current: JsonMap): readonly JsonMap[] {
  return mapsOf(current['conditions']).filter(({ type }) => type === 'Degraded');
}

/** `lastTransitionTime` is when the status changed, not the reason or the message. */
function toCondition(finding: Finding, { generation }: PolicyObject, current: JsonMap, nowMs: number): JsonMap {
  const before = mapsOf(current['conditions']).find(({ type }) => type === finding.type);
  const since = before?.['status'] === finding.status ? textOf(before['lastTransitionTime']) : '';
  return { ...finding, observedGeneration: generation, lastTransitionTime: since || formatTime(nowMs) };
}

function shorten(message: string): string {
  // Half of a character would come back from the API server as another one, and so never be equal.
  return cutText(message, messageCharsMax).toWellFormed();
}
