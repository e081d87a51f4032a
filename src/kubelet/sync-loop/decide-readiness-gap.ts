import { type Condition, findCondition, listConditions } from '../../api/conditions.ts';
import type { Pod } from '../../api/pod.ts';

/** Does the Ready condition of a pod not follow from its readiness gates as they are now? (kubelet `NeedToReconcilePodReadiness`) */
export function decideReadinessGap(pod: Pod): boolean {
  const conditions = listConditions(pod.status?.conditions);
  const ready = findCondition(conditions, 'Ready');
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0 || ready === undefined) return false;
  // While the containers are not ready either, the gates do not count.
  if (findCondition(conditions, 'ContainersReady')?.status !== 'True') return ready.status === 'True';
  const closed = gates
    .map(({ conditionType }) => describeGate(conditions, conditionType))
    .filter((text) => text !== '');
  return (ready.status === 'True') !== (closed.length === 0) || (ready.message ?? '') !== closed.join(', ');
}

function describeGate(conditions: readonly Condition[], type: string): string {
  const condition = findCondition(conditions, type);
  if (condition === undefined) return `corresponding condition of pod readiness gate "${type}" does not exist.`;
  if (condition.status === 'True') return '';
  return `the status of pod readiness gate "${type}" is not "True", but ${condition.status}`;
}
