// What was wrong in a drill with a policy: a NoExecute taint during a maintenance, a fenced node that did not become out of
// service, or that stayed so.
import { isOwnOutOfService } from '../checkers/out-of-service-checker.ts';
import type { DrillRecord, NodeState, PodRecord } from './drill-record.ts';
import type { Drill } from './drill-plan.ts';
import { dueTimes } from './due-times.ts';
import { noExecuteHealth } from './find-fast-taints.ts';

interface PolicyContext {
  readonly drill: Pick<Drill, 'maintenance' | 'fenced' | 'detected' | 'beyondLimit'>;
  readonly record: DrillRecord;
  readonly span: { readonly fromMs: number; readonly untilMs: number };
  readonly slackMs: number;
}

interface PolicyViolation {
  readonly invariant: string;
  readonly subject: string;
  readonly text: string;
}

/** Times in signals have whole seconds. */
const earlyMs = 1_700;

export function findPolicyViolations(context: PolicyContext): readonly PolicyViolation[] {
  return [
    ...findTaintsInMaintenance(context),
    ...findCrowdedOverflow(context),
    ...findLateFencing(context),
    ...findOldFencing(context),
    ...findEarlyEvictions(context),
    ...findKeptForEver(context),
  ];
}

/** Since when a node is unhealthy by its first taint; Infinity: it is not. */
function unhealthyMs({ record, span }: PolicyContext, node: string): number {
  const { states = [] } = record.nodes.get(node) ?? {};
  return states.find(({ atMs, ready }) => atMs > span.fromMs && ready === 'Unknown')?.atMs ?? Infinity;
}

/** Pods that were there before, and are not over. */
function podsBefore({ record, span }: PolicyContext, node: string): readonly PodRecord[] {
  return [...record.pods.values()].filter(
    (pod) => pod.node === node && pod.overMs === undefined && pod.createdMs === span.fromMs,
  );
}

/** What mode Detect or the label of a pod holds is not done before the time of the policy is over. */
function findEarlyEvictions(context: PolicyContext): readonly PolicyViolation[] {
  const { detected } = context.drill;
  if (detected === undefined) return [];
  const { node, keeps, evictAfterMs } = detected;
  const sinceMs = unhealthyMs(context, node);
  const isEarly = (atMs: number): boolean => atMs >= sinceMs && atMs < sinceMs + evictAfterMs - earlyMs;
  const pods = podsBefore(context, node);
  const states = context.record.nodes.get(node)?.states ?? [];
  const tainted = states.filter(({ byController, ...state }) => byController && noExecuteHealth(state) !== '');
  const deleted = pods.flatMap(({ deletion }) => (deletion?.byController === true ? [deletion.atMs] : []));
  const marks = pods.flatMap(({ readiness }) =>
    readiness.filter(({ byController, isReady }) => byController && !isReady),
  );
  const kept = {
    node: tainted.map(({ atMs }) => atMs),
    vetoed: tainted.map(({ atMs }) => atMs),
    'ready-pods': [...tainted, ...marks].map(({ atMs }) => atMs),
    'asking-pods': deleted,
  }[keeps];
  const early = kept.find(isEarly);
  const text = `${keeps}: not kept at ${seconds(early)}, unhealthy since ${seconds(sinceMs)}, kept for ${seconds(evictAfterMs)}`;
  return early === undefined ? [] : [{ invariant: 'detect-is-held', subject: node, text }];
}

/** The end of what a pod asked for is found by its next evaluation. */
const evaluatedMs = 61_000;

/** A pod that asked to be kept leaves when that is over; what it tolerates of the taint is over by then. */
function findKeptForEver(context: PolicyContext): readonly PolicyViolation[] {
  const { drill, slackMs, span, record } = context;
  if (drill.detected?.keeps !== 'asking-pods') return [];
  const { node, evictAfterMs } = drill.detected;
  const dueMs = unhealthyMs(context, node) + evictAfterMs + evaluatedMs + slackMs;
  const { states = [], heartbeats = [] } = record.nodes.get(node) ?? {};
  const wasTainted = states.some((state) => state.atMs < dueMs && noExecuteHealth(state) !== '');
  const isBack = heartbeats.some((atMs) => atMs > unhealthyMs(context, node));
  if (dueMs >= span.untilMs || !wasTainted || isBack) return [];
  return podsBefore(context, node)
    .filter((pod) => pod.deletion === undefined && dueTimes(pod, states, dueMs).some((atMs) => atMs < dueMs - slackMs))
    .map(({ key: subject }) => {
      return { invariant: 'detect-ends', subject, text: `is on ${node} at ${seconds(dueMs)}, kept for too long` };
    });
}

/** A node beyond the limit waits for its place. */
function findCrowdedOverflow({ drill, record, span }: PolicyContext): readonly PolicyViolation[] {
  const { node: subject = '', notBeforeMs = 0 } = drill.beyondLimit ?? {};
  const states = record.nodes.get(subject)?.states ?? [];
  const early = states.find(
    (state) =>
      state.byController &&
      noExecuteHealth(state) !== '' &&
      state.atMs > span.fromMs &&
      state.atMs < span.fromMs + notBeforeMs - earlyMs,
  );
  const text = `NoExecute taint at ${seconds(early?.atMs)}, beyond the limit until ${seconds(span.fromMs + notBeforeMs)}`;
  return early === undefined ? [] : [{ invariant: 'overflow-is-slow', subject, text }];
}

function findTaintsInMaintenance({ drill, record, span }: PolicyContext): readonly PolicyViolation[] {
  const { node: subject = '', untilMs = 0 } = drill.maintenance ?? {};
  const states = record.nodes.get(subject)?.states ?? [];
  const early = states.find((state, index) => {
    const before = states[index - 1];
    const isNew = before !== undefined && noExecuteHealth(before) === '' && noExecuteHealth(state) !== '';
    return isNew && state.byController && state.atMs < span.fromMs + untilMs - earlyMs;
  });
  const text = `NoExecute taint at ${seconds(early?.atMs)}, in maintenance until ${seconds(span.fromMs + untilMs)}`;
  return early === undefined ? [] : [{ invariant: 'maintenance-is-held', subject, text }];
}

/** The taint out-of-service follows the later of the NoExecute taint and the evidence. */
function findLateFencing({ drill, record, span, slackMs }: PolicyContext): readonly PolicyViolation[] {
  if (drill.fenced === undefined) return [];
  const { node: subject, provenMs } = drill.fenced;
  const states = record.nodes.get(subject)?.states ?? [];
  const taintedMs = states.find((state) => noExecuteHealth(state) === 'unreachable')?.atMs ?? Infinity;
  const dueMs = Math.max(taintedMs, span.fromMs + provenMs) + slackMs;
  const state = stateAt(states, dueMs);
  if (dueMs >= span.untilMs || state === undefined || !isDown(state, states) || isOut(state)) return [];
  const text = `is not out of service at ${seconds(dueMs)}, proven at ${seconds(span.fromMs + provenMs)}`;
  return [{ invariant: 'fenced-in-time', subject, text }];
}

/** Violation by a fencing that lasts although another boot has ended it. */
function findOldFencing({ drill, record, span, slackMs }: PolicyContext): readonly PolicyViolation[] {
  if (drill.fenced === undefined) return [];
  const subject = drill.fenced.node;
  const states = record.nodes.get(subject)?.states ?? [];
  const backMs = states.find(({ bootID }) => bootID !== '' && bootID !== states[0]?.bootID)?.atMs ?? Infinity;
  const state = stateAt(states, backMs + slackMs);
  if (backMs + slackMs >= span.untilMs || state === undefined || !isOut(state)) return [];
  const text = `is out of service although it is back since ${seconds(backMs)}`;
  return [{ invariant: 'fenced-in-time', subject, text }];
}

/** Still in the boot in which the drill found it. */
function isDown({ ready, bootID }: NodeState, states: readonly NodeState[]): boolean {
  return ready === 'Unknown' && bootID === states[0]?.bootID;
}

function isOut({ taints }: NodeState): boolean {
  return taints.some(isOwnOutOfService);
}

function stateAt(states: readonly NodeState[], atMs: number): NodeState | undefined {
  return states.findLast((state) => state.atMs <= atMs);
}

function seconds(ms: number | undefined): string {
  return `${((ms ?? 0) / 1_000).toFixed(1)} s`;
}
