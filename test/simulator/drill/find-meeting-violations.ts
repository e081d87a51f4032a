// What was wrong in a drill in which features meet.
import { mapOf } from '../../../src/machinery/api/json-map.ts';
import { flappingTaintKey, taintKeys } from '../../../src/machinery/api/taints.ts';
import { toleratesForever } from '../../../src/machinery/api/tolerations.ts';
import type { NodeState, PodRecord } from './drill-record.ts';
import type { DrillContext, DrillViolation } from './drill-context.ts';
import type { Drill } from './drill-plan.ts';
import { dueTimes, earlyMs, readyAt, seconds, stateAt } from './due-times.ts';
import { noExecuteHealth } from './find-fast-taints.ts';
import { takeoverMs } from './meeting-drills.ts';

/** Longest time between two questions for an eviction. */
const askAgainMs = 30_000;
/** A pod that was bound before is known. */
const knownMoreMs = 2_000;
/** Steps in which a state is looked at. */
const stepMs = 500;

type Check = (context: DrillContext) => readonly DrillViolation[];

const checks: readonly Check[] = [
  findEarlyDeletes,
  findHeldPods,
  findShortCooldowns,
  findActsInPause,
  findLateTaint,
  findCrowds,
  findFastDeletions,
  findSlowDeletions,
  findOtherNumbers,
  findWrongLevels,
  findImpatience,
  findUnreleased,
];

export function findMeetingViolations(context: DrillContext): readonly DrillViolation[] {
  return checks.flatMap((check) => check(context));
}

function podsOf({ record }: DrillContext, nodes: readonly string[]): readonly PodRecord[] {
  return [...record.pods.values()].filter(({ node, overMs }) => nodes.includes(node) && overMs === undefined);
}

function statesOf({ record }: DrillContext, node: string): readonly NodeState[] {
  return record.nodes.get(node)?.states ?? [];
}

/** When the deletion of a pod was due, without an end in between; undefined: not at this time. */
function dueMs(context: DrillContext, pod: PodRecord, atMs: number): number | undefined {
  const due = dueTimes(pod, statesOf(context, pod.node), atMs);
  return due.length === 0 ? undefined : Math.min(...due);
}

/** A pod of a reachable node is deleted by DELETE after its timeout only, of which a pause is no part. */
function findEarlyDeletes(context: DrillContext): readonly DrillViolation[] {
  const { budget } = context.drill;
  if (budget === undefined) return [];
  return podsOf(context, budget.nodes).flatMap((pod) => {
    const early = pod.deletes.find((atMs) => {
      const due = dueMs(context, pod, atMs);
      if (due === undefined || !isReachable(context, pod.node, atMs)) return false;
      return atMs < due + budget.timeoutMs + pausedMs(context, due, atMs) - earlyMs;
    });
    const text = `deleted by DELETE at ${seconds(early ?? 0)}, due at ${seconds(dueMs(context, pod, early ?? 0) ?? 0)}, and held by a budget for ${seconds(budget.timeoutMs)}`;
    return early === undefined ? [] : [{ invariant: 'budget-is-asked', subject: pod.key, text }];
  });
}

/** The node is not Ready, and sends heartbeats: its silence may be known before its condition says so. */
function isReachable(context: DrillContext, node: string, atMs: number): boolean {
  const { heartbeats = [] } = context.record.nodes.get(node) ?? {};
  const lastMs = heartbeats.findLast((heartbeatMs) => heartbeatMs <= atMs) ?? -Infinity;
  return readyAt(statesOf(context, node), atMs) === 'False' && atMs - lastMs < context.graceMsOf(node) - earlyMs;
}

/** Part of this time in which deletions are paused. */
function pausedMs({ drill, span }: DrillContext, fromMs: number, untilMs: number): number {
  const { paused } = drill.budget ?? {};
  if (paused === undefined) return 0;
  return Math.max(0, Math.min(untilMs, span.fromMs + paused.untilMs) - Math.max(fromMs, span.fromMs + paused.fromMs));
}

/** After the timeout, after the budget allows it, or when its node is unreachable, a pod is deleted. */
function findHeldPods(context: DrillContext): readonly DrillViolation[] {
  const { budget } = context.drill;
  if (budget === undefined) return [];
  return podsOf(context, budget.nodes).flatMap((pod) => {
    const states = statesOf(context, pod.node);
    const endMs = pod.deletion?.atMs ?? context.span.untilMs;
    const late = states
      .flatMap(({ atMs }) => dueMs(context, pod, atMs) ?? [])
      .map((due) => ({ due, byMs: latestMs(context, pod, due) }))
      .find(({ due, byMs }) => byMs < endMs && dueMs(context, pod, byMs) === due && due < byMs);
    const text = `is on ${pod.node} at ${seconds(late?.byMs ?? 0)}, due at ${seconds(late?.due ?? 0)}`;
    return late === undefined ? [] : [{ invariant: 'budget-has-an-end', subject: pod.key, text }];
  });
}

/** By when a pod that is due at this time has to be deleted. */
function latestMs(context: DrillContext, { node }: PodRecord, due: number): number {
  const { drill, span, slackMs } = context;
  const { timeoutMs = 0, waitsMs = 0, allowedMs, paused } = drill.budget ?? {};
  const unknownMs = statesOf(context, node).find(({ ready }) => ready === 'Unknown')?.atMs ?? Infinity;
  // Time in which the budget could not be asked is not counted, and time that was counted is not lost.
  const isInterrupted = paused !== undefined && span.fromMs + paused.fromMs < due + timeoutMs;
  const endsMs = due + timeoutMs + (isInterrupted ? pausedMs(context, due, Infinity) : 0);
  const allowed = allowedMs === undefined ? Infinity : Math.max(due, span.fromMs + allowedMs) + askAgainMs;
  return Math.min(endsMs, allowed, Math.max(due, unknownMs)) + waitsMs + slackMs + earlyMs;
}

function findShortCooldowns(context: DrillContext): readonly DrillViolation[] {
  const { drill, span, slackMs } = context;
  if (drill.cooldown === undefined) return [];
  const { recovers, waits: subject, forMs } = drill.cooldown;
  const readyMs = statesOf(context, recovers).findLast(
    ({ ready }, index, states) => ready === 'True' && states[index - 1]?.ready === 'Unknown',
  )?.atMs;
  const taintedMs = statesOf(context, subject).find((state) => noExecuteHealth(state) !== '')?.atMs ?? Infinity;
  const bothUnknown = statesOf(context, subject).some(
    ({ ready, atMs }) => ready === 'Unknown' && atMs < (readyMs ?? 0),
  );
  if (readyMs === undefined || !bothUnknown) return [];
  const byMs = readyMs + forMs + slackMs + lateMs(drill) + tokenMs(context, subject);
  const isEarly = taintedMs < readyMs + forMs - earlyMs;
  const isLate = byMs < Math.min(taintedMs, span.untilMs);
  const text = `NoExecute taint at ${seconds(taintedMs)}; the breaker is open until ${seconds(readyMs + forMs)}`;
  return isEarly || isLate ? [{ invariant: 'cooldown-is-kept', subject, text }] : [];
}

function lateMs({ mayBeLate }: Drill): number {
  return mayBeLate === true ? takeoverMs : 0;
}

/** Two tokens of the zone. */
function tokenMs(context: DrillContext, node: string): number {
  const rates = context.rates(statesOf(context, node)[0]?.zone ?? '');
  return 2_000 / (rates.at(-1)?.perSecond ?? context.options.nodeEvictionRate);
}

function findActsInPause(context: DrillContext): readonly DrillViolation[] {
  const { drill, span, record } = context;
  if (drill.paused === undefined) return [];
  const { node, untilMs } = drill.paused;
  const endMs = span.fromMs + untilMs - earlyMs;
  const states = statesOf(context, node);
  const isWorse = (state: NodeState, before: NodeState | undefined): boolean =>
    (state.ready === 'Unknown' && before?.ready !== 'Unknown') || state.taints.length > (before?.taints.length ?? 0);
  const written = states.filter((state, index) => index > 0 && state.byController && isWorse(state, states[index - 1]));
  const pods = [...record.pods.values()].filter((pod) => pod.node === node);
  const deleted = pods.flatMap(({ deletion }) => (deletion?.byController === true ? [deletion.atMs] : []));
  const marked = pods.flatMap(({ readiness }) =>
    readiness.flatMap(({ byController, isReady, atMs }) => (byController && !isReady ? [atMs] : [])),
  );
  const firstMs = [...written.map(({ atMs }) => atMs), ...deleted, ...marked].find(
    (atMs) => atMs > span.fromMs && atMs < endMs,
  );
  const text = `something was written at ${seconds(firstMs ?? 0)}, paused until ${seconds(span.fromMs + untilMs)}`;
  return firstMs === undefined ? [] : [{ invariant: 'pause-is-held', subject: node, text }];
}

function findLateTaint(context: DrillContext): readonly DrillViolation[] {
  const { drill, span, slackMs } = context;
  if (drill.taintedBy === undefined) return [];
  const { node: subject, byMs } = drill.taintedBy;
  const atMs = span.fromMs + byMs + slackMs + tokenMs(context, subject);
  const state = stateAt(statesOf(context, subject), atMs);
  if (atMs >= span.untilMs || state?.ready === 'True' || state === undefined || noExecuteHealth(state) !== '')
    return [];
  return [{ invariant: 'taints-in-time', subject, text: `has no NoExecute taint at ${seconds(atMs)}` }];
}

/** Two nodes of which one may be emptied, in the order of their NoExecute taints. */
interface Pair {
  readonly first: string;
  readonly firstMs: number;
  readonly second: string;
  /** Infinity: it has none. */
  readonly secondMs: number;
}

function pairOf(context: DrillContext): Pair | undefined {
  const { nodes = [] } = context.drill.places ?? {};
  const tainted = nodes.map((node) => {
    return { node, atMs: statesOf(context, node).find((state) => noExecuteHealth(state) !== '')?.atMs ?? Infinity };
  });
  const [first, second] = tainted.toSorted((a, b) => a.atMs - b.atMs);
  if (first === undefined || second === undefined || first.atMs === Infinity) return undefined;
  return { first: first.node, firstMs: first.atMs, second: second.node, secondMs: second.atMs };
}

/** The second node is tainted when the first one is empty, and not before. */
function findCrowds(context: DrillContext): readonly DrillViolation[] {
  const pair = pairOf(context);
  return pair === undefined ? [] : [...findTakenPlaces(context, pair), ...findUnusedPlaces(context, pair)];
}

function findTakenPlaces(context: DrillContext, { first, firstMs, second, secondMs }: Pair): readonly DrillViolation[] {
  // Pods that were bound a moment ago may not be known.
  const fromMs = secondMs - context.knownMs - knownMoreMs;
  const isFull = (atMs: number): boolean =>
    atMs < firstMs ? hasEvictable(context, first, atMs) : isEmptied(context, first, atMs);
  // A place may be free for less than a step: until a pod lands on the empty node.
  const emptiedMs = podsOf(context, [first]).flatMap(({ deletion }) => deletion?.atMs ?? []);
  const asked = [
    ...steps(fromMs, secondMs),
    secondMs,
    ...emptiedMs.filter((atMs) => atMs >= fromMs && atMs <= secondMs),
  ];
  const isTaken = asked.every((atMs) => isFull(atMs) && hasEvictable(context, second, atMs));
  if (secondMs === Infinity || !isTaken) return [];
  const text = `NoExecute taint at ${seconds(secondMs)} while ${first} is being emptied`;
  return [{ invariant: 'places-are-kept', subject: second, text }];
}

function findUnusedPlaces(
  context: DrillContext,
  { first, firstMs, second, secondMs }: Pair,
): readonly DrillViolation[] {
  const freeMs = context.slackMs + tokenMs(context, second);
  const isUnused = (atMs: number): boolean =>
    !isEmptied(context, first, atMs) && readyAt(statesOf(context, second), atMs) !== 'True';
  const late = steps(firstMs, Math.min(secondMs, context.span.untilMs) - freeMs).find((sinceMs) =>
    steps(sinceMs, sinceMs + freeMs).every(isUnused),
  );
  const text = `has no NoExecute taint although ${first} is empty since ${seconds(late ?? 0)}`;
  return late === undefined ? [] : [{ invariant: 'places-are-freed', subject: second, text }];
}

function steps(fromMs: number, untilMs: number): readonly number[] {
  return Array.from(
    { length: Math.max(0, Math.floor((untilMs - fromMs) / stepMs)) },
    (_, index) => fromMs + index * stepMs,
  );
}

/** A pod of the node is due, or will be, for its taint. */
function isEmptied(context: DrillContext, node: string, atMs: number): boolean {
  return podsAt(context, node, atMs).some((pod) => dueTimes(pod, statesOf(context, node), atMs).length > 0);
}

/** A pod of the node does not tolerate for ever that the node is unreachable. */
function hasEvictable(context: DrillContext, node: string, atMs: number): boolean {
  const taint = { key: taintKeys.unreachable, effect: 'NoExecute' };
  return podsAt(context, node, atMs).some(({ tolerations }) => !toleratesForever(tolerations, taint));
}

/** Completed ones too: no policy of these drills keeps them. */
function podsAt({ record }: DrillContext, node: string, atMs: number): readonly PodRecord[] {
  return [...record.pods.values()].filter(
    (pod) =>
      pod.node === node &&
      pod.createdMs <= atMs &&
      Math.min(pod.deletion?.atMs ?? Infinity, pod.goneMs ?? Infinity) > atMs,
  );
}

/** A token bucket of one token. */
function findFastDeletions(context: DrillContext): readonly DrillViolation[] {
  const { drill, waitsMs, knownMs } = context;
  if (drill.deletionRate === undefined) return [];
  const { nodes, perSecond } = drill.deletionRate;
  const toleranceMs = earlyMs + waitsMs + knownMs;
  const times = podsOf(context, nodes)
    .flatMap(({ deletion }) => (deletion?.byController === true ? [deletion.atMs] : []))
    .sort((a, b) => a - b);
  const fast = times.find((atMs, index) =>
    times
      .slice(0, index)
      .some((firstMs, first) => index - first > ((atMs - firstMs + toleranceMs) / 1_000) * perSecond),
  );
  const text = `pods were deleted at [${times.map(seconds).join(', ')}] at ${perSecond}/s`;
  return fast === undefined ? [] : [{ invariant: 'deletion-rate', subject: nodes.join(), text }];
}

/** Each pod waits for a token for each of the others at most. */
function findSlowDeletions(context: DrillContext): readonly DrillViolation[] {
  const { drill, span, slackMs } = context;
  if (drill.deletionRate === undefined) return [];
  const { nodes, perSecond } = drill.deletionRate;
  const pods = podsOf(context, nodes);
  const waitMs = slackMs + earlyMs + (pods.length * 1_000) / perSecond;
  return pods.flatMap((pod) => {
    const endMs = pod.deletion?.atMs ?? span.untilMs;
    const due = dueMs(context, pod, endMs - 1) ?? Infinity;
    const text = `is on ${pod.node} ${seconds(endMs - due)} after its toleration expired`;
    return due + waitMs < endMs ? [{ invariant: 'deletion-rate', subject: pod.key, text }] : [];
  });
}

/** As many pods are evicted as may be within an hour, or all that are due. Completed ones may count, and are collected too. */
function findOtherNumbers(context: DrillContext): readonly DrillViolation[] {
  const { drill, record, span, slackMs } = context;
  if (drill.hourlyLimit === undefined) return [];
  const { nodes, max } = drill.hourlyLimit;
  const pods = podsOf(context, nodes);
  const isDeleted = ({ deletion }: PodRecord): boolean => deletion?.byController === true;
  const evicted = pods.filter(isDeleted).length;
  const completed = [...record.pods.values()].filter((pod) => {
    return pod.overMs !== undefined && nodes.includes(pod.node) && isDeleted(pod);
  }).length;
  const late = pods.filter((pod) => {
    const due = pod.deletion === undefined ? dueMs(context, pod, span.untilMs - 1) : undefined;
    return due !== undefined && due + slackMs + askAgainMs < span.untilMs;
  });
  if (evicted <= max && (evicted + completed >= max || late.length === 0)) return [];
  const text = `${evicted} pods were evicted, at most ${max} may be, and ${late.length} more are due`;
  return [{ invariant: 'hourly-limit', subject: nodes.join(), text }];
}

const minuteMs = 60_000;
/** Nine by a backoff that doubles from 100 ms to 30 s, and as many when a replica begins to lead. */
const deniedMax = 14;

/** A request that is denied is repeated with backoff, whatever it waits for in between. */
function findImpatience({ drill: { denied }, record }: DrillContext): readonly DrillViolation[] {
  if (denied === undefined) return [];
  return [...record.pods.values()].flatMap(({ key: subject, node, deletes }) => {
    const inAMinute = deletes.map(
      (fromMs) => deletes.filter((atMs) => atMs >= fromMs && atMs < fromMs + minuteMs).length,
    );
    const most = Math.max(0, ...inAMinute);
    if (!denied.includes(node) || most <= deniedMax) return [];
    return [
      { invariant: 'denied-backs-off', subject, text: `${most} requests to delete it within a minute, each denied` },
    ];
  });
}

/** Each further recovery of a node that is kept raises its level by one. */
function findWrongLevels(context: DrillContext): readonly DrillViolation[] {
  const { flapped } = context.drill;
  if (flapped === undefined) return [];
  const records = statesOf(context, flapped.node)
    .map(({ flapping }) => flapping)
    .filter((text, index, all) => text !== all[index - 1]);
  const wrong = records.find((text, index) => {
    const before = records[index - 1];
    return text !== undefined && before !== undefined && levelOf(text) !== levelOf(before) + 1;
  });
  const text = `is kept by ${records.join(', then ')}`;
  return wrong === undefined ? [] : [{ invariant: 'flapping-level', subject: flapped.node, text }];
}

function levelOf(text: string): number {
  return Number(mapOf(JSON.parse(text))['level']);
}

function findUnreleased(context: DrillContext): readonly DrillViolation[] {
  const { drill, span, slackMs } = context;
  if (drill.flapped === undefined) return [];
  const { node: subject, isReleasedByMs } = drill.flapped;
  const atMs = span.fromMs + isReleasedByMs + slackMs;
  const isKept = stateAt(statesOf(context, subject), atMs)?.taints.some(({ key }) => key === flappingTaintKey) === true;
  const text = `is still kept at ${seconds(atMs)}`;
  return isKept && atMs < span.untilMs ? [{ invariant: 'flapping-ends-in-time', subject, text }] : [];
}
