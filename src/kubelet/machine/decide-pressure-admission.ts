import type { Container, Pod } from '../../api/pod.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { taintKeys } from '../../api/taints.ts';
import { tolerates } from '../../api/tolerations.ts';
import type { PressureType } from './classify-signal.ts';

/** Whether a pod may run on this node, and what is said of one that may not. */
export type PodAdmission =
  | { readonly admitted: true }
  /** `message` without the words that every rejection begins with. */
  | { readonly admitted: false; readonly reason: string; readonly message: string };

const admitted: PodAdmission = { admitted: true };
const memoryPressure = { key: taintKeys.memoryPressure, effect: 'NoSchedule' };

/**
 * Under pressure only critical pods come in; where memory is all that is short, also those that have asked for some and
 * those that tolerate it (kubelet eviction manager, `Admit`).
 */
export function decidePressureAdmission(
  pod: Pod,
  conditions: readonly PressureType[],
  isCritical: boolean,
): PodAdmission {
  if (conditions.length === 0 || isCritical) return admitted;
  const onlyMemory = conditions.length === 1 && conditions[0] === 'MemoryPressure';
  if (onlyMemory && !(isBestEffort(pod) && !toleratesMemoryPressure(pod))) return admitted;
  return { admitted: false, reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` };
}

function toleratesMemoryPressure(pod: Pod): boolean {
  return (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, memoryPressure));
}

/** As the API server said, or as it would say: nobody asks for CPU or memory (upstream `qos.GetPodQOS`). */
function isBestEffort(pod: Pod): boolean {
  const said = pod.status?.qosClass;
  if (said !== undefined && said !== '') return said === 'BestEffort';
  return ![...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].some(asksForSomething);
}

function asksForSomething({ resources }: Container): boolean {
  const amounts = [resources?.requests, resources?.limits].flatMap((list) => [list?.['cpu'], list?.['memory']]);
  return amounts.some((amount) => amount !== undefined && (parseQuantity(amount) ?? 0) > 0);
}
