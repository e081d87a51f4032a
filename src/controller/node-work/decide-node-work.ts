import type { NodeView } from '../../machinery/api/node.ts';
import { needsLabels } from '../labels/diff-labels.ts';
import { decideNoScheduleChange, healthTaintsOf, wantedNoScheduleKeys } from '../tainting/decide-taints.ts';

/**
 * The work queues of a node. `recovery`: what was written because of bad health is reverted; `detection`: status and
 * taints follow the bad health; `housekeeping`: labels, and taints that do not depend on health. Each queue has workers
 * and a share of the request rate of its own, so that no kind of work waits for another.
 */
export type NodeWork = 'recovery' | 'detection' | 'housekeeping';

export interface NodeWorkEvidence {
  /** Ready=True in the API, and a heartbeat within the grace period. */
  readonly isHealthy: boolean;
  readonly fullDisruption: boolean;
  /** The annotation of an early warning is to be written or removed. */
  readonly needsAnnotation: boolean;
}

/** The queues of a node that changed or is due. At least one: the worker evaluates the node again. */
export function decideNodeWork(node: NodeView, evidence: NodeWorkEvidence): readonly NodeWork[] {
  const { isHealthy, fullDisruption, needsAnnotation } = evidence;
  const work: NodeWork[] = isHealthy || fullDisruption ? ['recovery'] : [];
  if (!isHealthy) work.push('detection');
  // Two writes at the same time would conflict: removing a taint changes the node, and that change queues the
  // housekeeping.
  const waits = isHealthy && hasTaintsToRemove(node);
  const hasHousekeeping = needsAnnotation || needsLabels(node) || (isHealthy && lacksNoSchedule(node));
  if (!waits && hasHousekeeping) work.push('housekeeping');
  return work;
}

function hasTaintsToRemove(node: NodeView): boolean {
  return healthTaintsOf(node.taints).length > 0 || decideNoScheduleChange(node, '').remove.length > 0;
}

function lacksNoSchedule(node: NodeView): boolean {
  const carried = new Set(node.taints.filter(({ effect }) => effect === 'NoSchedule').map(({ key }) => key));
  return wantedNoScheduleKeys(node).some((key) => !carried.has(key));
}
