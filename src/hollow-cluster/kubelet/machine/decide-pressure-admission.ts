import type { Pod } from '../../../machinery/api/pod.ts';
import { taintKeys } from '../../../machinery/api/taints.ts';
import { tolerates } from '../../../machinery/api/tolerations.ts';
import type { PressureType } from './plan-eviction-pass.ts';
import { classifyQosClass } from '../pod-status/classify-qos-class.ts';

/** Whether a pod is admitted to this node, with reason and message if it is not. */
export type PodAdmission =
  | { readonly admitted: true }
  /** `message` without the prefix that every rejection has. */
  | { readonly admitted: false; readonly reason: string; readonly message: string };

const admitted: PodAdmission = { admitted: true };
const memoryPressure = { key: taintKeys.memoryPressure, effect: 'NoSchedule' };

/**
 * Under pressure only critical pods are admitted; if memory is the only short resource, also pods that are not
 * BestEffort and pods that tolerate memory pressure (kubelet eviction manager, `Admit`).
 */
export function decidePressureAdmission(
  pod: Pod,
  conditions: readonly PressureType[],
  isCritical: boolean,
): PodAdmission {
  if (conditions.length === 0 || isCritical) return admitted;
  const onlyMemory = conditions.length === 1 && conditions[0] === 'MemoryPressure';
  if (onlyMemory && (classifyQosClass(pod) !== 'BestEffort' || toleratesMemoryPressure(pod))) return admitted;
  return { admitted: false, reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` };
}

function toleratesMemoryPressure(pod: Pod): boolean {
  return (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, memoryPressure));
}
