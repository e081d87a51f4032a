import type { NodeView } from '../../machinery/api/node.ts';
import type { MaintenanceRule, MaintenanceSignal } from '../model/policy.ts';

/** What on this node means planned maintenance now, whatever its age: True conditions, then taints. */
export function selectMaintenanceSignals(
  { conditions, taints }: MaintenanceRule,
  node: Pick<NodeView, 'conditions' | 'taints'>,
): readonly MaintenanceSignal[] {
  return [
    ...node.conditions
      .filter(({ type, status }) => status === 'True' && conditions.includes(type))
      .map(({ type, lastTransitionTime }) => toSignal('condition', type, lastTransitionTime)),
    ...node.taints
      .filter(({ key }) => taints.includes(key))
      .map(({ key, timeAdded }) => toSignal('taint', key, timeAdded)),
  ];
}

/** A missing time is null in some forms on the wire. */
function toSignal(kind: MaintenanceSignal['kind'], name: string, at: string | null | undefined): MaintenanceSignal {
  return { kind, name, at: at ?? undefined };
}
