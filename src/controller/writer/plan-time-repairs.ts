// The API server accepts times of any year in protobuf, and then rejects every patch of the object that keeps one of
// them (422, `parsing time`): after one such heartbeat a node could be neither marked nor tainted. So a patch of such a
// node also sets these times to null, wherever they are.
import { type Condition, conditionTimes } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { Taint } from '../../machinery/api/taints.ts';

interface ConditionRepair {
  readonly type: string;
  readonly lastHeartbeatTime?: null;
  readonly lastTransitionTime?: null;
}

/** Repairs for a patch of the status: conditions other than `written`. Empty for nodes whose times can be parsed. */
export function planConditionRepairs(node: NodeView, written: readonly Condition[] = []): readonly ConditionRepair[] {
  if (node.problems === undefined) return [];
  return node.conditions
    .filter(({ type }) => written.every((condition) => condition.type !== type))
    .map((condition) => ({ type: condition.type, ...absentTimes(condition) }))
    .filter((repair) => Object.keys(repair).length > 1);
}

/** Repairs for a patch of the node. The API server ignores the status in it once the patch applies. */
export function planStatusRepairs(node: NodeView): {
  readonly status?: { readonly conditions: readonly ConditionRepair[] };
} {
  const conditions = planConditionRepairs(node);
  return conditions.length === 0 ? {} : { status: { conditions } };
}

/** Repairs for a patch of the status. The API server ignores the spec in it once the patch applies. */
export function planTaintRepairs({ problems = [], taints }: NodeView): {
  readonly spec?: { readonly taints: readonly Taint[] };
} {
  return problems.some((problem) => problem.startsWith('spec.taints[')) ? { spec: { taints } } : {};
}

/** The view has null in place of a time that cannot be parsed. */
function absentTimes(condition: Condition): Omit<ConditionRepair, 'type'> {
  const times: Readonly<Record<string, unknown>> = { ...condition };
  return Object.fromEntries(conditionTimes.filter((name) => times[name] === null).map((name) => [name, null]));
}
