import { type Condition, findCondition, heartbeatConditionTypes } from '../../api/conditions.ts';
import type { NodeView } from '../../api/node.ts';
import type { Taint } from '../../api/taints.ts';
import type { Labels } from '../../api/topology.ts';
import { classifyTaint } from './classify-taint.ts';
import type { TaintMatter } from './episode.ts';

/** In what a node differs for us from what it is. */
export interface OwnSide {
  /** `wished`: we called it Unknown and they have not. `undone`: they have and we have not. */
  readonly unknown: 'as-it-is' | 'wished' | 'undone';
  /** The conditions that we would have written. */
  readonly wished: readonly Condition[];
  /** What was in the conditions before they wrote theirs. */
  readonly spoken: readonly Condition[];
  /** Whether a lifecycle controller's taint is there for us, given whether it is there. */
  readonly isOurs: (matter: TaintMatter, isThere: boolean) => boolean;
  /** Taints that we put there, or that they took away: our stamps count for our countdowns, also when theirs have come. */
  readonly stamped: ReadonlyMap<TaintMatter, Taint>;
  readonly labels: Labels;
}

/** The node as it would be if its lifecycle were ours alone; everything else as it is. */
export function deriveOwnNode(world: NodeView, side: OwnSide): NodeView {
  const conditions = ownConditions(world, side);
  const taints = ownTaints(world.taints, side);
  const labels = Object.keys(side.labels).length === 0 ? world.labels : { ...world.labels, ...side.labels };
  if (conditions === world.conditions && taints === world.taints && labels === world.labels) return world;
  return { ...world, conditions, taints, labels };
}

function ownConditions({ conditions }: NodeView, { unknown, wished, spoken }: OwnSide): readonly Condition[] {
  if (unknown === 'as-it-is') return conditions;
  if (unknown === 'wished') return replaceByType(conditions, wished);
  const heard = spoken.filter(({ type }) => isHeartbeatType(type));
  const others = conditions.filter(({ type }) => !isHeartbeatType(type));
  return [...heard, ...others];
}

function replaceByType(conditions: readonly Condition[], by: readonly Condition[]): readonly Condition[] {
  const kept = conditions.map((condition) => findCondition(by, condition.type) ?? condition);
  return [...kept, ...by.filter(({ type }) => findCondition(conditions, type) === undefined)];
}

function isHeartbeatType(type: string): boolean {
  return heartbeatConditionTypes.some((known) => known === type);
}

function ownTaints(taints: readonly Taint[], { isOurs, stamped }: OwnSide): readonly Taint[] {
  const there = new Set(taints.map(classifyTaint).filter((matter) => matter !== undefined));
  const kept = taints.flatMap((taint) => {
    const matter = classifyTaint(taint);
    if (matter === undefined) return [taint];
    return isOurs(matter, true) ? [stamped.get(matter) ?? taint] : [];
  });
  const added = [...stamped]
    .filter(([matter]) => !there.has(matter) && isOurs(matter, false))
    .map(([, taint]) => taint);
  const isSame = added.length === 0 && kept.length === taints.length && kept.every((taint, i) => taint === taints[i]);
  return isSame ? taints : [...kept, ...added];
}
