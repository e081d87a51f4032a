import { isHealthTaint, type Taint } from '../../machinery/api/taints.ts';
import type { NodeState } from './drill-record.ts';

/** The keys of the health taints with this effect, without their prefix. */
export function healthTaintsIn({ taints }: Pick<NodeState, 'taints'>, effect: string): string {
  return taints
    .filter((taint) => taint.effect === effect && isHealthTaint(taint))
    .map(shortKey)
    .sort()
    .join(' ');
}

export function noExecuteHealth(state: Pick<NodeState, 'taints'>): string {
  return healthTaintsIn(state, 'NoExecute');
}

export function shortKey({ key }: Taint): string {
  return key.slice(key.indexOf('/') + 1);
}
