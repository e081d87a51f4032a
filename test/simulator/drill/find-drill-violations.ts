// What was wrong in a drill: too late, too early, twice, or without a reason. From what was committed only.
import { nodeWatchDelayMsMax } from '../../../src/controller/model/live-node.ts';
import type { Taint } from '../../../src/machinery/api/taints.ts';
import { isForHealth } from '../../../src/machinery/api/taints.ts';
import type { NodeRecord, NodeState, PodRecord } from './drill-record.ts';
import type { Drill } from './drill-plan.ts';
import type { DrillContext, DrillViolation, Span } from './drill-context.ts';
import { dueTimes, earlyMs, readyAt, seconds, stateAt } from './due-times.ts';
import { findFastTaints, healthTaintsIn, noExecuteHealth } from './find-fast-taints.ts';
import { findMeetingViolations } from './find-meeting-violations.ts';
import { findPolicyViolations } from './find-policy-violations.ts';
import { findDetectionViolations } from './find-detection-violations.ts';
import { findCollectionViolations } from './collection-drill.ts';
import { findNotReadyViolations } from './not-ready-drill.ts';
import { findStuckViolations } from './stuck-pods-drill.ts';
import { findWarningViolations } from './find-warning-violations.ts';
import { retriedMs } from './write-drills.ts';

/** Quarantine of a missing node, and two rounds of the collector. */
const orphanedMs = 85_000;

/** A kubelet renews its lease about every 10 s. */
const renewalMs = 12_000;

type Check = (context: DrillContext) => readonly DrillViolation[];

const checks: readonly Check[] = [
  findLateDetections,
  findForgottenNodes,
  findEarlyUnknowns,
  findWrongTaints,
  findTaintsAboveRate,
  findTaintsWhileStopped,
  findOldLabels,
  findBrokenHolds,
  findEarlyDeletions,
  findUnheldDeletions,
  findLateDeletions,
  findWrongMarks,
  findLateMarks,
  findRepeatedWrites,
  findRepeatedEvents,
  findOrphans,
  findPolicyViolations,
  findMeetingViolations,
  findWarningViolations,
  findDetectionViolations,
  findNotReadyViolations,
  findCollectionViolations,
  findStuckViolations,
];

export function findDrillViolations(context: DrillContext): readonly DrillViolation[] {
  return checks.flatMap((check) => check(context));
}

/** Time at which acts are due that were due while writes were refused, or before: a retry may be so far away. */
function acceptedMs({ drill, span }: DrillContext): number {
  return span.fromMs + (drill.acceptedFromMs === undefined ? 0 : drill.acceptedFromMs + retriedMs);
}

/** Nodes whose work may not be late. */
function promptNodes({ drill, record }: DrillContext): readonly (readonly [string, NodeRecord])[] {
  return drill.mayBeLate === true ? [] : [...record.nodes].filter(([name]) => !drill.stuck.includes(name));
}

function findLateDetections(context: DrillContext): readonly DrillViolation[] {
  return findUnnoticed(context, promptNodes(context), context.slackMs);
}

/** A node whose requests fail becomes Unknown all the same. */
function findForgottenNodes(context: DrillContext): readonly DrillViolation[] {
  const { drill, record, slackMs } = context;
  const { stuck, stuckMs } = drill;
  const nodes = [...record.nodes].filter(([name]) => stuck.includes(name));
  return stuckMs === undefined ? [] : findUnnoticed(context, nodes, slackMs + stuckMs);
}

function findUnnoticed(
  context: DrillContext,
  nodes: ReturnType<typeof promptNodes>,
  slackMs: number,
): readonly DrillViolation[] {
  const { graceMsOf, span, drill } = context;
  const fromMs = Math.max(span.fromMs + (drill.graceFromMs ?? 0), acceptedMs(context));
  return nodes.flatMap(([subject, { heartbeats, states }]) => {
    const late = heartbeats.find((atMs, index) => {
      const dueMs = Math.max(atMs + graceMsOf(subject), fromMs) + slackMs;
      const nextMs = heartbeats[index + 1] ?? span.untilMs;
      return (
        dueMs >= span.fromMs + slackMs &&
        dueMs < nextMs &&
        isPresent(states, dueMs) &&
        readyAt(states, dueMs) !== 'Unknown'
      );
    });
    const text = `silent since ${seconds(late ?? 0)} and not Unknown after the grace period and ${slackMs / 1_000} s`;
    return late === undefined ? [] : [{ invariant: 'detected-in-time', subject, text }];
  });
}

function findEarlyUnknowns({ drill, record, options, graceMsOf, knownMs }: DrillContext): readonly DrillViolation[] {
  return [...record.nodes].flatMap(([subject, { heartbeats, states }]) => {
    const graceMs = drill.proven?.node === subject ? drill.proven.earliestMs : graceMsOf(subject);
    const notBeforeMs = graceMs + (drill.unread === subject ? options.leaseConfirmationHoldMs : 0);
    const early = states.find(({ byController, ready, atMs }, index) => {
      const lastMs = heartbeats.findLast((heartbeatMs) => heartbeatMs <= atMs - knownMs) ?? -Infinity;
      const isNew = index > 0 && ready === 'Unknown' && states[index - 1]?.ready !== 'Unknown';
      return byController && isNew && atMs - lastMs < notBeforeMs - 1_000;
    });
    const text = `is Unknown at ${seconds(early?.atMs ?? 0)}, sooner than ${seconds(notBeforeMs)} after a heartbeat`;
    return early === undefined ? [] : [{ invariant: 'unknown-has-reason', subject, text }];
  });
}

/** The health taints follow the Ready condition. */
function findWrongTaints(context: DrillContext): readonly DrillViolation[] {
  const { span, drill, slackMs } = context;
  const writtenMs = acceptedMs(context);
  const startedMs = Math.max(span.fromMs + Math.max(drill.taintsFromMs ?? 0, drill.ratesUntilMs ?? 0), writtenMs);
  return promptNodes(context).flatMap(([subject, { states }]) =>
    readySpans(states, span).flatMap(({ ready, fromMs, untilMs }) => {
      const isChecked = ['True', 'False', 'Unknown'].includes(ready);
      const wanted = { True: '', False: 'not-ready', Unknown: 'unreachable' }[ready] ?? '';
      const texts: string[] = [];
      const check = (effect: string, atMs: number): void => {
        const shown = isChecked && atMs < untilMs ? healthTaints(states, effect, atMs) : wanted;
        if (shown !== wanted)
          texts.push(`${effect} taints are [${shown}] at ${seconds(atMs)}, Ready=${ready} since ${seconds(fromMs)}`);
      };
      const promptMs = Math.max(fromMs, writtenMs) + slackMs;
      check('NoSchedule', promptMs);
      const heldMs = span.fromMs + (drill.maintenance?.node === subject ? drill.maintenance.untilMs : 0);
      const detectedMs = fromMs + evictAfterMs(drill, subject, ['node', 'vetoed', 'ready-pods']);
      const waitMs = noExecuteWaitMs(context, subject, stateAt(states, fromMs)?.zone ?? '');
      const dueMs = ready === 'True' ? promptMs : Math.max(detectedMs, startedMs, heldMs) + waitMs;
      if (ready === 'True' || drill.mayBeHeld !== true) check('NoExecute', dueMs);
      return texts.map((text) => ({ invariant: 'taints-in-time', subject, text }));
    }),
  );
}

/** Time for which mode Detect keeps these from a node that is unhealthy. */
function evictAfterMs({ detected }: Drill, node: string, keeps: readonly string[]): number {
  return detected?.node === node && keeps.includes(detected.keeps) ? detected.evictAfterMs : 0;
}

/** Maximum time that a node waits for its NoExecute taint in this zone. */
function noExecuteWaitMs({ drill, options, rates, slackMs }: DrillContext, node: string, zone: string): number {
  // A taint whose write was not answered may have been added: each attempt takes a token.
  const others = drill.stuck.length > 0 ? 10 : 2;
  const tokens = drill.ownZones?.includes(node) === true ? 0 : others;
  // One that is Unknown early waits for the heartbeats of the nodes that may have failed with it.
  const awaitedMs = drill.proven?.node === node ? renewalMs : 0;
  return slackMs + awaitedMs + (tokens * 1_000) / (rates(zone).at(-1)?.perSecond ?? options.nodeEvictionRate);
}

/** In a zone one taint follows the other at the rate. */
function findTaintsAboveRate({ record, rates, waitsMs }: DrillContext): readonly DrillViolation[] {
  return findFastTaints(record.nodes.values(), rates, earlyMs + waitsMs).map(({ zone, beforeMs, atMs, tokens }) => {
    const text = `NoExecute taints at ${seconds(beforeMs)} and ${seconds(atMs)}, with ${tokens.toFixed(2)} tokens in between`;
    return { invariant: 'taint-rate', subject: `zone ${zone}`, text };
  });
}

/** No node gets a NoExecute taint while their rate is 0. */
function findTaintsWhileStopped(context: DrillContext): readonly DrillViolation[] {
  const { drill, record, span } = context;
  const untilMs = span.fromMs + (drill.taintsFromMs ?? 0);
  return [...record.nodes.keys()].flatMap((subject) => {
    const atMs = firstTaintMs(context, subject);
    const text = `NoExecute taint at ${seconds(atMs)}, stopped until ${seconds(untilMs)}`;
    return atMs > span.fromMs && atMs < untilMs ? [{ invariant: 'taint-rate', subject, text }] : [];
  });
}

/** The deprecated label of the operating system follows the current one. */
function findOldLabels(context: DrillContext): readonly DrillViolation[] {
  const { drill, span, slackMs } = context;
  const limitMs = slackMs + (drill.answersMs ?? 0);
  return promptNodes(context).flatMap(([subject, { states }]) => {
    const isOld = ({ os, oldOs }: NodeState): boolean => os !== oldOs;
    const late = states.find((state, index) => {
      if (!isOld(state) || isOldBefore(states, index, isOld)) return false;
      const untilMs = states.slice(index).find((next) => !isOld(next))?.atMs ?? span.untilMs;
      return untilMs - state.atMs > limitMs;
    });
    const text = `its deprecated label is old since ${seconds(late?.atMs ?? 0)}`;
    return late === undefined ? [] : [{ invariant: 'labels-in-time', subject, text }];
  });
}

function isOldBefore(states: readonly NodeState[], index: number, isOld: (state: NodeState) => boolean): boolean {
  const before = states[index - 1];
  return before !== undefined && isOld(before);
}

/** A path failure: nothing is written before the hold ends, and the marks soon after. */
function findBrokenHolds(context: DrillContext): readonly DrillViolation[] {
  const { held } = context.drill;
  if (held === undefined) return [];
  const untilMs = context.span.fromMs + held.untilMs;
  const pods = [...context.record.pods.values()].filter(({ node }) => held.nodes.includes(node));
  const taints = held.nodes.map((subject) => ({ subject, what: 'tainted', atMs: firstTaintMs(context, subject) }));
  const marks = pods.map((pod) => ({ subject: pod.key, what: 'marked', atMs: firstMarkMs(pod) }));
  const early = [...taints, ...marks]
    .filter(({ atMs }) => atMs < untilMs)
    .map(({ subject, what, atMs }) => ({
      subject,
      text: `${what} at ${seconds(atMs)}, held until ${seconds(untilMs)}`,
    }));
  const late = pods
    .filter((pod) => isUnmarkedAfterHold(context, pod, held.byMs))
    .map(({ key }) => ({ subject: key, text: 'is Ready although its node is silent for long' }));
  return [...early, ...late].map((found) => ({ invariant: 'path-failure-hold', ...found }));
}

function firstTaintMs({ record }: DrillContext, node: string): number {
  const { states = [] } = record.nodes.get(node) ?? {};
  return states.find((state) => state.byController && noExecuteHealth(state) !== '')?.atMs ?? Infinity;
}

function firstMarkMs({ readiness }: PodRecord): number {
  return readiness.find(({ byController, isReady }) => byController && !isReady)?.atMs ?? Infinity;
}

/** Only of pods that were there before. */
function isUnmarkedAfterHold({ span }: DrillContext, pod: PodRecord, byMs: number | undefined): boolean {
  const isReady = pod.deletion === undefined && pod.readiness.at(-1)?.isReady === true;
  return byMs !== undefined && span.fromMs + byMs < span.untilMs && isReady && pod.createdMs === span.fromMs;
}

/** A pod stays on a node that renews its lease again. */
function findUnheldDeletions({ drill, record, span }: DrillContext): readonly DrillViolation[] {
  const { node, fromMs = 0 } = drill.renews ?? {};
  const deleted = [...record.pods.values()].find(
    ({ deletion, overMs, ...pod }) =>
      pod.node === node &&
      overMs === undefined &&
      deletion?.byController === true &&
      deletion.atMs > span.fromMs + fromMs,
  );
  const text = `deleted at ${seconds(deleted?.deletion?.atMs ?? 0)} although ${node} renews its lease again`;
  return deleted === undefined ? [] : [{ invariant: 'deletion-has-reason', subject: deleted.key, text }];
}

/** A pod is deleted because a taint was due, or its node was gone. */
function findEarlyDeletions({ drill, record }: DrillContext): readonly DrillViolation[] {
  if (drill.mayBeLate === true) return [];
  return [...record.pods.values()].flatMap((pod) => {
    const { deletion, node, key: subject } = pod;
    const states = record.nodes.get(node)?.states ?? [];
    if (deletion?.byController !== true || pod.overMs !== undefined || readyAt(states, deletion.atMs) === 'gone')
      return [];
    const dueMs = [deletion.atMs, deletion.atMs - earlyMs].flatMap((atMs) => dueTimes(pod, states, atMs));
    const isDue = dueMs.some((atMs) => atMs <= deletion.atMs + earlyMs);
    const text = `deleted from ${node} at ${seconds(deletion.atMs)}, due at [${dueMs.map(seconds).join(', ')}]`;
    return isDue ? [] : [{ invariant: 'deletion-has-reason', subject, text }];
  });
}

/** Nodes whose pods may wait for something else than their toleration. */
function isWaiting({ stuck, budget, deletionRate, hourlyLimit, detected }: Drill, node: string): boolean {
  const asked = detected?.keeps === 'asking-pods' ? [detected.node] : [];
  return [stuck, budget?.nodes, deletionRate?.nodes, hourlyLimit?.nodes, asked].some(
    (nodes) => nodes?.includes(node) === true,
  );
}

/**
 * A deletion for the health of a node is held while the node renews its lease again: the status of its kubelet, which
 * removes the taint, comes up to 10 s later. A node that becomes silent instead loses its pods a grace period later.
 */
function findLateDeletions(context: DrillContext): readonly DrillViolation[] {
  const { drill, record, span, slackMs, graceMsOf } = context;
  if (drill.mayBeLate === true) return [];
  const acceptsMs = acceptedMs(context);
  const lateMs = slackMs + earlyMs;
  const isLate = (pod: PodRecord): boolean => {
    const heldMs = graceMsOf(pod.node) + lateMs;
    const { states = [], heartbeats = [] } = record.nodes.get(pod.node) ?? {};
    const sureMs = drill.areNodesUnreadable === true ? pod.createdMs + nodeWatchDelayMsMax : -Infinity;
    const endMs = pod.deletion?.atMs ?? span.untilMs;
    const dueMs = states.flatMap(({ atMs }) => dueTimes(pod, states, atMs));
    const checkedMs = [
      ...dueMs.map((atMs) => Math.max(atMs, acceptsMs, sureMs) + lateMs),
      ...heartbeats.map((atMs) => Math.max(atMs + heldMs, acceptsMs + lateMs)),
    ];
    return checkedMs.some((atMs) => {
      const isHeld = heartbeats.some((heartbeatMs) => {
        return heartbeatMs <= atMs && atMs < heartbeatMs + heldMs && readyAt(states, heartbeatMs) === 'Unknown';
      });
      const counts = (taint: Taint): boolean => !isHeld || !isForHealth(taint);
      return (
        atMs < endMs && dueTimes(pod, states, atMs, counts).some((time) => Math.max(time, sureMs) + lateMs <= atMs)
      );
    });
  };
  return [...record.pods.values()]
    .filter((pod) => pod.overMs === undefined && !isWaiting(drill, pod.node) && isLate(pod))
    .map(({ key: subject, node }) => {
      const text = `is on ${node} ${slackMs / 1_000} s after its toleration expired`;
      return { invariant: 'deleted-in-time', subject, text };
    });
}

/** No pod is marked NotReady whose node has been Ready for longer than a write takes. */
function findWrongMarks({ drill, record, span, slackMs }: DrillContext): readonly DrillViolation[] {
  if (drill.mayBeLate === true) return [];
  return [...record.pods.values()].flatMap((pod) => {
    const states = record.nodes.get(pod.node)?.states ?? [];
    const wasReadyUntil = (atMs: number): boolean =>
      readyAt(states, atMs - slackMs) === 'True' &&
      states.every((state) => state.atMs <= atMs - slackMs || state.atMs > atMs || state.ready === 'True');
    const wrong = pod.readiness.find(
      ({ atMs, isReady, byController }) => byController && !isReady && atMs > span.fromMs && wasReadyUntil(atMs),
    );
    const text = `marked NotReady at ${seconds(wrong?.atMs ?? 0)} while ${pod.node} is Ready`;
    return wrong === undefined ? [] : [{ invariant: 'mark-has-reason', subject: pod.key, text }];
  });
}

/** Pods are NotReady while their node is Unknown and sends no heartbeat. */
function findLateMarks(context: DrillContext): readonly DrillViolation[] {
  const { drill, record, span, options, slackMs } = context;
  if (drill.mayBeLate === true || drill.mayBeHeld === true) return [];
  const acceptsMs = acceptedMs(context);
  const markedMs = slackMs + 2_000 / options.podMarkingRate;
  const isLate = (pod: PodRecord): boolean => {
    const { states = [], heartbeats = [] } = record.nodes.get(pod.node) ?? {};
    return readySpans(states, span).some(({ ready, fromMs, untilMs }) => {
      const keptMs = evictAfterMs(drill, pod.node, ['ready-pods']);
      const dueMs = Math.max(fromMs + keptMs, pod.createdMs, acceptsMs) + markedMs;
      // A kubelet that is back may report a pod for the first time before its node.
      const reportedMs = lastReportMs(pod, dueMs);
      const atMs = Math.max(dueMs, reportedMs + markedMs);
      const isThere = atMs < Math.min(untilMs, pod.deletion?.atMs ?? Infinity);
      const hasRenewed = heartbeats.some((heartbeatMs) => heartbeatMs > fromMs && heartbeatMs <= atMs);
      return ready === 'Unknown' && isThere && !hasRenewed && lastReportMs(pod, atMs) === reportedMs;
    });
  };
  return [...record.pods.values()]
    .filter((pod) => !drill.stuck.includes(pod.node) && !wasReportedBefore(context, pod) && isLate(pod))
    .map(({ key: subject, node }) => {
      return { invariant: 'marked-in-time', subject, text: `is Ready on ${node}, which is Unknown` };
    });
}

/** Since when a pod that is Ready at this time is reported so; Infinity: it is not Ready. */
function lastReportMs({ readiness }: PodRecord, atMs: number): number {
  const change = readiness.findLast((each) => each.atMs <= atMs);
  return change?.isReady === true ? change.atMs : Infinity;
}

/** Ready on a silent node before the drill began, when the cluster had settled: its kubelet had reported it again after its mark. */
function wasReportedBefore({ record, span }: DrillContext, { node, createdMs, readiness }: PodRecord): boolean {
  const { states = [] } = record.nodes.get(node) ?? {};
  return createdMs === span.fromMs && readiness[0]?.isReady === true && states[0]?.ready === 'Unknown';
}

/** One write for one intent. */
function findRepeatedWrites({ drill, record }: DrillContext): readonly DrillViolation[] {
  if (drill.mayBeLate === true || drill.stuck.length > 0 || drill.acceptedFromMs !== undefined) return [];
  const pods = [...record.pods.values()].map(({ key, writes }) => ({ subject: key, writes }));
  const nodes = [...record.nodes].map(([subject, { writes }]) => ({ subject, writes }));
  return [...pods, ...nodes]
    .filter(({ writes: { sent, committed } }) => sent > committed)
    .map(({ subject, writes: { sent, committed } }) => {
      const text = `${sent} patches were sent, and ${committed} were committed, those of its kubelet included`;
      return { invariant: 'one-write-per-intent', subject, text };
    });
}

function findRepeatedEvents({ record }: DrillContext): readonly DrillViolation[] {
  return [...record.nodes].flatMap(([subject, { states, events }]) => {
    const transitions = states.filter(
      ({ byController, ready }, index) => byController && ready === 'Unknown' && states[index - 1]?.ready === 'True',
    ).length;
    const text = `${events} Events NodeNotReady for ${transitions} transitions from Ready to Unknown`;
    return events > transitions ? [{ invariant: 'one-event-per-transition', subject, text }] : [];
  });
}

function findOrphans({ record, span, drill }: DrillContext): readonly DrillViolation[] {
  if (drill.mayBeLate === true) return [];
  return [...record.pods.values()].flatMap(({ key: subject, node, goneMs = span.untilMs, createdMs }) => {
    const { states = [] } = record.nodes.get(node) ?? {};
    const gone = readySpans(states, span).find(({ ready }) => ready === 'gone');
    if (gone === undefined || createdMs >= gone.fromMs) return [];
    const isLate = gone.fromMs + orphanedMs < Math.min(goneMs, gone.untilMs);
    const text = `is bound to ${node}, which is gone since ${seconds(gone.fromMs)}`;
    return isLate ? [{ invariant: 'orphans-collected', subject, text }] : [];
  });
}

/** Spans of one Ready status. */
function readySpans(states: readonly NodeState[], { untilMs }: Span): readonly (Span & { readonly ready: string })[] {
  const starts = states.filter(({ ready }, index) => ready !== states[index - 1]?.ready);
  return starts.map(({ ready, atMs }, index) => ({ ready, fromMs: atMs, untilMs: starts[index + 1]?.atMs ?? untilMs }));
}

function isPresent(states: readonly NodeState[], atMs: number): boolean {
  return !['gone', 'missing', undefined].includes(readyAt(states, atMs));
}

function healthTaints(states: readonly NodeState[], effect: string, atMs: number): string {
  return healthTaintsIn(stateAt(states, atMs) ?? { taints: [] }, effect);
}
