// What a controller with these options does with a cluster.
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { isHealthTaint, noExecuteTaints } from '../../machinery/api/taints.ts';
import { formatTime, parseTimestamp } from '../../machinery/api/timestamps.ts';
import { zoneLevels, zoneName } from '../../machinery/api/zone.ts';
import { graceOf, missing, readyOf } from '../../controller/health/assess-node.ts';
import { decideHold, describeHoldKind, holdsOf } from '../../controller/holds/decide-holds.ts';
import { type Act, type HoldEvidence, type HoldKind, noHolds } from '../../controller/model/holds.ts';
import type { ControllerOptions, PodGcOptions } from '../../controller/model/options.ts';
import { decideTerminated } from '../../controller/pod-gc/decide-collection.ts';
import { assessOutOfService } from '../../controller/out-of-service/assess-out-of-service.ts';
import { decideOrder } from '../../controller/out-of-service/decide-order.ts';
import { decideMarking } from '../../controller/pod-readiness/pod-marker.ts';
import type { NextTaint } from '../../controller/policies/emptying-nodes.ts';
import type { PolicyStage } from '../../controller/policies/policy-stage.ts';
import { decideEviction, type RunningTaint } from '../../controller/taint-eviction/decide-eviction.ts';
import { decideNoExecuteNeed, healthTaintsOf } from '../../controller/tainting/decide-taints.ts';
import { ClusterEvaluation, type ClusterState } from './cluster-evaluation.ts';
import type { ClusterPreview, NodePreview, PolicyPreview, PreviewHold, TaintPreview, ZonePreview } from './preview.ts';

/** `before`: the options that were in force until now. */
export function buildPreview(
  state: ClusterState,
  options: PreviewOptions,
  before: ControllerOptions = options,
): ClusterPreview {
  const evaluation = new ClusterEvaluation(state, options, before);
  const { zones } = evaluation;
  return {
    nodes: new Map(
      state.nodes.map((node) => [node.name, buildNode(evaluation, node, state.pods.get(node.name) ?? [])]),
    ),
    zones: new Map(
      zones
        .zones()
        .flatMap(zoneLevels)
        .map((zone) => [zoneName(zone), buildZone(evaluation, zone)]),
    ),
    policies: new Map(evaluation.policies.counts().map((count) => [count.policy, buildPolicy(evaluation, count)])),
    podsNotKept: options.podGc === undefined ? null : countNotKept(state, options.podGc),
    fullDisruption: zones.fullDisruption,
  };
}

/** `podGc`: undefined where the pod garbage collector does not run. */
export interface PreviewOptions extends ControllerOptions {
  /** Absent: the labels of namespaces do not count. */
  readonly namespaceAutonomy?: boolean;
  readonly podGc?: PodGcOptions | undefined;
}

function countNotKept({ pods, atMs }: ClusterState, options: PodGcOptions): number {
  return decideTerminated([...pods.values()].flat(), options, atMs).pods.length;
}

function buildNode(evaluation: ClusterEvaluation, node: NodeView, pods: readonly PodView[]): NodePreview {
  const { policies } = evaluation;
  const assessment = evaluation.assess(node);
  const ready = evaluation.readyOf(node);
  const graces = policies.current(node.name);
  const selection = policies.selectionOf(node.name);
  const earliestMs = selection.kind === 'policy' ? selection.policy.detection?.earliestMs : undefined;
  const isEarly = earliestMs !== undefined && earliestMs < graces.nodeMonitorGracePeriodMs;
  const taint = decideTaint(evaluation, node, ready);
  const fates = pods.map((pod) => decidePod(evaluation, node, pod, taint));
  const marked = decideMark(evaluation, node);
  return {
    policy: selection.kind === 'policy' ? selection.policy.name : null,
    conflict: selection.kind === 'conflict' ? selection.policies.map(({ name }) => name) : [],
    mode: selection.kind === 'policy' ? selection.policy.mode : 'Enforce',
    gracePeriodSeconds: graceOf({ hasReady: readyOf(node) !== missing }, graces).graceMs / 1_000,
    earlyFromSeconds: isEarly ? earliestMs / 1_000 : null,
    zone: zoneName(policies.zoneOf(node)),
    ready,
    markedUnknown: marked,
    unknownFrom:
      marked === 'already'
        ? null
        : formatTime(assessment.kind === 'alive' ? assessment.silentFromMs : evaluation.now.wallMs),
    noExecute: taint.taint,
    outOfService: decideOutOfService(evaluation, node),
    ...decideKeeping(evaluation, node),
    hold: describeHold(evaluation, node, taint.taint),
    podsEvicted: fates.filter((fate) => fate === 'evicted').length,
    podsHeld: fates.filter((fate) => fate === 'held').length,
    podsMarked: countMarked(evaluation, node, pods),
  };
}

function decideMark(evaluation: ClusterEvaluation, node: NodeView): NodePreview['markedUnknown'] {
  const assessment = evaluation.assess(node);
  if (assessment.kind === 'alive') return 'later';
  if (assessment.conditions.length === 0) return 'already';
  return isHeld(evaluation, node.name, 'mark-unknown') ? 'held' : 'now';
}

/** Number of its pods that are marked NotReady. */
function countMarked(evaluation: ClusterEvaluation, node: NodeView, pods: readonly PodView[]): number {
  if (isHeld(evaluation, node.name, 'mark-pods')) return 0;
  const state = evaluation.markingStateOf(node);
  // One reading does not show which pods were bound while the node was not ready.
  return pods.filter((pod) => decideMarking(pod, state, 'before')).length;
}

interface TaintFate {
  readonly taint: TaintPreview;
  /** The NoExecute taints with which the node ends up, if nothing holds them. */
  readonly wanted: readonly string[];
}

function decideTaint(evaluation: ClusterEvaluation, { name, taints }: NodeView, ready: string): TaintFate {
  const need = decideNoExecuteNeed(evaluation.zones.fullDisruption ? 'True' : ready, taints);
  switch (need.need) {
    case 'none':
      return { taint: isHeld(evaluation, name, 'remove-taints') ? 'held' : 'removed', wanted: [] };
    case 'settled': {
      const carried = healthTaintsOf(taints).map(({ key }) => key);
      return { taint: carried.length > 0 ? 'carried' : 'none', wanted: carried };
    }
    case 'swap':
      return { taint: isHeld(evaluation, name, 'add-no-execute') ? 'held' : 'carried', wanted: [need.add.key] };
    case 'add':
      return decideAddition(evaluation, name, need.key);
  }
}

function decideAddition(evaluation: ClusterEvaluation, node: string, key: string): TaintFate {
  const { zones, options } = evaluation;
  if (!options.taintBasedEvictions) return { taint: 'none', wanted: [] };
  if (isHeld(evaluation, node, 'add-no-execute')) return { taint: 'held', wanted: [key] };
  const levels = zoneLevels(zones.zoneOfMember(node) ?? '');
  const isStopped = levels.some((zone) => zones.plan(zone)?.ratePerSecond === 0);
  if (!isStopped) evaluation.noteTainted(node, 'of-status');
  return { taint: isStopped ? 'stopped' : 'added', wanted: [key] };
}

function decideOutOfService(evaluation: ClusterEvaluation, node: NodeView): NodePreview['outOfService'] {
  const { policies } = evaluation;
  const rule = policies.outOfServiceOf(node.name);
  const state = assessOutOfService(node, {
    rule,
    isSilent: evaluation.assess(node).kind === 'silent',
    // One reading shows no order: only a time in the evidence does.
    orderOf: (evidence) =>
      decideOrder(evidence, { observed: 'unknown', node, renewedAt: evaluation.renewedAt(node.name) }),
  });
  if (state.kind === 'due') {
    if (isHeld(evaluation, node.name, 'add-out-of-service')) return 'held';
    evaluation.noteTainted(node.name, 'out-of-service');
    return 'added';
  }
  if (state.kind === 'back') return isHeld(evaluation, node.name, 'remove-taints') ? 'held' : 'removed';
  return state.kind === 'in-place' ? 'carried' : 'none';
}

function decideKeeping(evaluation: ClusterEvaluation, node: NodeView): Pick<NodePreview, 'flapping' | 'keptUntil'> {
  const state = evaluation.flapping.assess(node);
  if (state.kind === 'kept') return { flapping: 'kept', keptUntil: state.record.until };
  // Nothing is due: that takes a recovery that was observed.
  if (state.kind === 'none' || state.kind === 'due') return { flapping: 'none', keptUntil: null };
  return { flapping: isHeld(evaluation, node.name, 'remove-taints') ? 'held' : 'released', keptUntil: null };
}

/** Whether the pod is evicted by the taints of its node, those that it gets included. */
function decidePod(
  evaluation: ClusterEvaluation,
  node: NodeView,
  pod: PodView,
  { taint, wanted }: TaintFate,
): 'stays' | 'evicted' | 'held' {
  const { now, policies } = evaluation;
  const others = noExecuteTaints(node.taints).filter((known) => !isHealthTaint(known));
  const carried = noExecuteTaints(node.taints).filter((known) => isHealthTaint(known) && wanted.includes(known.key));
  const coming = wanted.filter((key) => !carried.some((known) => known.key === key));
  const running: readonly RunningTaint[] = [
    ...[...others, ...carried].map((known) => ({
      taint: known,
      sinceMs: parseTimestamp(known.timeAdded) ?? now.monotonicMs,
    })),
    ...coming.map((key) => ({ taint: { key, effect: 'NoExecute' }, sinceMs: now.monotonicMs })),
  ];
  const isRetained = policies.keeperOf(pod) !== undefined;
  const fate = decideEviction(pod, { taints: running, boundMs: -Infinity, isRetained });
  if (fate.kind === 'stay') return 'stays';
  const { forHealth } = fate;
  const waits = forHealth && coming.some((key) => key === fate.taint) && (taint === 'held' || taint === 'stopped');
  return waits || isHeld(evaluation, node.name, forHealth ? 'delete-for-health' : 'delete-for-taint')
    ? 'held'
    : 'evicted';
}

/** Not of a node that needs no taint: the place may be free when it does. */
const ofPlaces: ReadonlySet<HoldKind> = new Set(['concurrency']);

/** The first hold of what begins to empty the node, and of its pods once it has the taint. */
function describeHold(evaluation: ClusterEvaluation, { name }: NodeView, taint: TaintPreview): PreviewHold | null {
  const evidence = evidenceOf(evaluation, name);
  const act = taint === 'carried' ? 'delete-for-health' : 'add-no-execute';
  const except = taint === 'none' ? ofPlaces : undefined;
  const [hold] = [...holdsOf(evidence, [act], evaluation.now.wallMs, except)].filter(({ scope }) => scope !== 'zone');
  if (hold === undefined) return null;
  const { kind, untilMs } = hold;
  return { what: describeHoldKind(kind, evidence), until: Number.isFinite(untilMs) ? formatTime(untilMs) : null };
}

function isHeld(evaluation: ClusterEvaluation, node: string, act: Act): boolean {
  const ends = ['time', 'change'] as const;
  const next = act === 'add-out-of-service' ? 'out-of-service' : 'of-status';
  return decideHold(evidenceOf(evaluation, node, next), act, { nowMs: evaluation.now.wallMs, ends }) !== undefined;
}

/** What one reading of the cluster shows: no watch is stale, and nothing was observed to happen together. */
function evidenceOf({ policies, zones }: ClusterEvaluation, node: string, next?: NextTaint): HoldEvidence {
  return {
    ...noHolds,
    mode: policies.modeOf(node),
    maintenance: policies.maintenanceOf(node),
    veto: policies.vetoOf(node),
    breaker: policies.openBreakerOf(node),
    emptying: policies.emptying.fullFor(node, next),
    isFullyDisrupted: zones.fullDisruption,
  };
}

function buildZone({ zones, policies }: ClusterEvaluation, zone: string): ZonePreview {
  const plan = zones.plan(zone);
  const { ready = 0, unready = 0 } = plan?.why ?? {};
  return {
    nodes: ready + unready,
    notReady: unready,
    state: zones.condition(zone),
    ratePerSecond: plan?.ratePerSecond ?? policies.zoneOptions(zone).nodeEvictionRate,
  };
}

function buildPolicy(
  { flapping }: ClusterEvaluation,
  { policy, mode, nodes, conflicts, breaker }: ReturnType<PolicyStage['counts']>[number],
): PolicyPreview {
  const shown = breaker && {
    unhealthy: breaker.unhealthy,
    limit: breaker.limit,
    open: breaker.openedAtMs !== undefined,
  };
  return { mode, nodes, conflicts, breaker: shown ?? null, flapping: flapping.usages().get(policy) ?? null };
}
