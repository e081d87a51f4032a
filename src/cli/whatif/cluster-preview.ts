// What a controller with these options does with a cluster.
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { isHealthTaint, noExecuteTaints } from '../../machinery/api/taints.ts';
import { formatTime, parseTimestamp } from '../../machinery/api/timestamps.ts';
import { zoneLevels, zoneName } from '../../machinery/api/zone.ts';
import { graceOf, missing, readyOf } from '../../controller/health/assess-node.ts';
import type { ControllerOptions } from '../../controller/model/options.ts';
import {
  type BreakerHold,
  describeHoldSource,
  type Maintenance,
  type NodeAct,
  type NodeHold,
} from '../../controller/model/policy.ts';
import { assessOutOfService } from '../../controller/out-of-service/assess-out-of-service.ts';
import { decideOrder } from '../../controller/out-of-service/decide-order.ts';
import type { PolicyStage } from '../../controller/policies/policy-stage.ts';
import { decideEviction, type RunningTaint } from '../../controller/taint-eviction/decide-eviction.ts';
import { decideNoExecuteNeed, healthTaintsOf } from '../../controller/tainting/decide-taints.ts';
import { ClusterEvaluation, type ClusterState } from './cluster-evaluation.ts';
import type { ClusterPreview, NodePreview, PolicyPreview, PreviewHold, TaintPreview, ZonePreview } from './preview.ts';

type Hold = NodeHold | BreakerHold | Maintenance;

/** `before`: the options that were in force until now. */
export function buildPreview(
  state: ClusterState,
  options: ControllerOptions,
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
    fullDisruption: zones.fullDisruption,
  };
}

function buildNode(evaluation: ClusterEvaluation, node: NodeView, pods: readonly PodView[]): NodePreview {
  const { policies } = evaluation;
  const assessment = evaluation.assess(node);
  const ready = evaluation.readyOf(node);
  const graces = policies.current(node.name);
  const selection = policies.selectionOf(node.name);
  const taint = decideTaint(evaluation, node, ready);
  const fates = pods.map((pod) => decidePod(evaluation, node, pod, taint));
  const marked = decideMark(evaluation, node);
  return {
    policy: selection.kind === 'policy' ? selection.policy.name : null,
    conflict: selection.kind === 'conflict' ? selection.policies.map(({ name }) => name) : [],
    mode: selection.kind === 'policy' ? selection.policy.mode : 'Enforce',
    gracePeriodSeconds: graceOf({ hasReady: readyOf(node) !== missing }, graces).graceMs / 1_000,
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
  };
}

function decideMark(evaluation: ClusterEvaluation, node: NodeView): NodePreview['markedUnknown'] {
  const assessment = evaluation.assess(node);
  if (assessment.kind === 'alive') return 'later';
  if (assessment.conditions.length === 0) return 'already';
  return evaluation.policies.actHoldOf({ node: node.name, act: 'mark-unknown', evicts: false }) === undefined
    ? 'now'
    : 'held';
}

interface TaintFate {
  readonly taint: TaintPreview;
  /** The NoExecute taints with which the node ends up, if nothing holds them. */
  readonly wanted: readonly string[];
}

function decideTaint(evaluation: ClusterEvaluation, { name, taints }: NodeView, ready: string): TaintFate {
  const { policies, zones } = evaluation;
  const isHeld = (act: NodeAct, evicts: boolean): boolean =>
    policies.actHoldOf({ node: name, act, evicts }) !== undefined;
  const need = decideNoExecuteNeed(zones.fullDisruption ? 'True' : ready, taints);
  switch (need.need) {
    case 'none':
      return { taint: isHeld('remove-taints', false) ? 'held' : 'removed', wanted: [] };
    case 'settled': {
      const carried = healthTaintsOf(taints).map(({ key }) => key);
      return { taint: carried.length > 0 ? 'carried' : 'none', wanted: carried };
    }
    case 'swap':
      return { taint: isHeld('add-taints', true) ? 'held' : 'carried', wanted: [need.add.key] };
    case 'add':
      return decideAddition(evaluation, name, need.key, isHeld('add-taints', true));
  }
}

function decideAddition(evaluation: ClusterEvaluation, node: string, key: string, isHeld: boolean): TaintFate {
  const { zones, options } = evaluation;
  if (!options.taintBasedEvictions) return { taint: 'none', wanted: [] };
  if (isHeld) return { taint: 'held', wanted: [key] };
  const levels = zoneLevels(zones.zoneOfMember(node) ?? '');
  const isStopped = levels.some((zone) => zones.plan(zone)?.ratePerSecond === 0);
  if (!isStopped) evaluation.noteTainted(node);
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
  const isHeld = (act: NodeAct, evicts: boolean): boolean =>
    policies.actHoldOf({ node: node.name, act, evicts }) !== undefined;
  if (state.kind === 'due') return isHeld('add-taints', true) ? 'held' : 'added';
  if (state.kind === 'back') return isHeld('remove-taints', false) ? 'held' : 'removed';
  return state.kind === 'in-place' ? 'carried' : 'none';
}

function decideKeeping(
  { flapping, policies }: ClusterEvaluation,
  node: NodeView,
): Pick<NodePreview, 'flapping' | 'keptUntil'> {
  const state = flapping.assess(node);
  if (state.kind === 'kept') return { flapping: 'kept', keptUntil: state.record.until };
  // Nothing is due: that takes a recovery that was observed.
  if (state.kind === 'none' || state.kind === 'due') return { flapping: 'none', keptUntil: null };
  const isHeld = policies.actHoldOf({ node: node.name, act: 'remove-taints', evicts: false }) !== undefined;
  return { flapping: isHeld ? 'held' : 'released', keptUntil: null };
}

/** Whether the pod is evicted by the taints of its node, those that it gets included. */
function decidePod(
  evaluation: ClusterEvaluation,
  node: NodeView,
  pod: PodView,
  { taint, wanted }: TaintFate,
): 'stays' | 'evicted' | 'held' {
  const { now, policies, zones } = evaluation;
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
  const isHeld = policies.actHoldOf({ node: node.name, act: 'delete-pods', evicts: forHealth }) !== undefined;
  return waits || isHeld || (forHealth && zones.fullDisruption) ? 'held' : 'evicted';
}

/** The strictest: a mode or a pause before a breaker, that before maintenance, and that before other nodes being emptied. */
function describeHold({ policies }: ClusterEvaluation, { name }: NodeView, taint: TaintPreview): PreviewHold | null {
  const hold = policies.holdOf(name) ?? policies.breakerHoldOf(name) ?? policies.maintenanceOf(name);
  const full = taint === 'held' ? policies.emptying.statusHolding(name) : undefined;
  if (hold === undefined)
    return full === undefined ? null : { what: `maxConcurrentEvictions of policy ${full.policy}`, until: null };
  return {
    what: nameHold(hold, policies.selectionOf(name)),
    until: Number.isFinite(hold.untilMs) ? formatTime(hold.untilMs) : null,
  };
}

function nameHold(hold: Hold, selection: ReturnType<PolicyStage['selectionOf']>): string {
  const policy = selection.kind === 'policy' ? selection.policy.name : '';
  if ('signals' in hold) return `planned maintenance (policy ${policy})`;
  if (hold.mode === 'Breaker') return `the open breaker of policy ${policy}`;
  return `${hold.mode === 'Observe' ? 'mode Observe' : 'a pause'} of ${describeHoldSource(hold.source)}`;
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
