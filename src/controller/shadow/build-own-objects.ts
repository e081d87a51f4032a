import { type Condition, findCondition, heartbeatConditionTypes } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { healthTaintKeys, type Taint, taintKeys } from '../../machinery/api/taints.ts';
import type { Labels } from '../../machinery/api/topology.ts';
import type { TaintMatter } from './episode.ts';
import type { PodView } from '../../machinery/api/pod.ts';

/** Differences between a node as the shadow sees it and as it is. */
export interface OwnSide {
  /** `marked`: Unknown for the shadow only. `unmarked`: Unknown in the cluster only. */
  readonly unknown: 'as-it-is' | 'marked' | 'unmarked';
  /** The conditions that the shadow would have written. */
  readonly shadowConditions: readonly Condition[];
  /** The conditions before the cluster's controller wrote its own. */
  readonly kubeletConditions: readonly Condition[];
  /** Whether a managed taint exists for the shadow, given whether it exists in the cluster. */
  readonly isInShadow: (matter: TaintMatter, isThere: boolean) => boolean;
  /**
   * Taints added by the shadow or removed by the cluster: the shadow's times count for its countdowns, also after the
   * cluster added its own.
   */
  readonly stamped: ReadonlyMap<TaintMatter, Taint>;
  readonly labels: Labels;
}

const noScheduleKeys: ReadonlySet<string> = new Set(Object.values(taintKeys));

const noExecuteKeys: ReadonlySet<string> = new Set(healthTaintKeys);

/** Differences between a pod as the shadow sees it and as it is; undefined where there is none. */
interface OwnPodSide {
  readonly notReady: boolean | undefined;
  readonly evicted: boolean | undefined;
  /** The Ready status of the pod before the cluster marked it. */
  readonly readyBefore: string | undefined;
}

/** The node as if only the shadow managed its lifecycle; everything else as it is. */
export function buildOwnNode(world: NodeView, side: OwnSide): NodeView {
  const conditions = ownConditions(world, side);
  const taints = ownTaints(world.taints, side);
  const labels = Object.keys(side.labels).length === 0 ? world.labels : { ...world.labels, ...side.labels };
  if (conditions === world.conditions && taints === world.taints && labels === world.labels) return world;
  return { ...world, conditions, taints, labels };
}

function ownConditions(
  { conditions }: NodeView,
  { unknown, shadowConditions, kubeletConditions }: OwnSide,
): readonly Condition[] {
  if (unknown === 'as-it-is') return conditions;
  if (unknown === 'marked') return replaceByType(conditions, shadowConditions);
  const fromKubelet = kubeletConditions.filter(({ type }) => isHeartbeatType(type));
  const others = conditions.filter(({ type }) => !isHeartbeatType(type));
  return [...fromKubelet, ...others];
}

function replaceByType(conditions: readonly Condition[], by: readonly Condition[]): readonly Condition[] {
  const kept = conditions.map((condition) => findCondition(by, condition.type) ?? condition);
  return [...kept, ...by.filter(({ type }) => findCondition(conditions, type) === undefined)];
}

function isHeartbeatType(type: string): boolean {
  return heartbeatConditionTypes.some((known) => known === type);
}

function ownTaints(taints: readonly Taint[], { isInShadow, stamped }: OwnSide): readonly Taint[] {
  const there = new Set(taints.map(classifyTaint).filter((matter) => matter !== undefined));
  const kept = taints.flatMap((taint) => {
    const matter = classifyTaint(taint);
    if (matter === undefined) return [taint];
    return isInShadow(matter, true) ? [stamped.get(matter) ?? taint] : [];
  });
  const added = [...stamped]
    .filter(([matter]) => !there.has(matter) && isInShadow(matter, false))
    .map(([, taint]) => taint);
  const isSame = added.length === 0 && kept.length === taints.length && kept.every((taint, i) => taint === taints[i]);
  return isSame ? taints : [...kept, ...added];
}

/** The matter of a taint, if lifecycle controllers manage it; others are not compared. */
export function classifyTaint({ key, effect }: Taint): TaintMatter | undefined {
  if (effect === 'NoSchedule' && noScheduleKeys.has(key)) return `${key}:NoSchedule`;
  if (effect === 'NoExecute' && noExecuteKeys.has(key)) return `${key}:NoExecute`;
  return undefined;
}

/** The pod as if only the shadow managed its lifecycle; everything else as it is, or was at its deletion. */
export function buildOwnPod(world: PodView, { notReady, evicted, readyBefore }: OwnPodSide): PodView {
  const ready = notReady === undefined ? {} : { ready: notReady ? 'False' : readyBefore };
  if (evicted === undefined) return notReady === undefined ? world : { ...world, ...ready };
  if (evicted) return { ...world, ...ready, terminating: true };
  return { ...world, ...ready, terminating: false, deletionGraceSeconds: undefined, disruptionReason: undefined };
}
