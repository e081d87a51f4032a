import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Container, Pod } from '../../../machinery/api/pod.ts';
import { parseQuantityNano } from '../../../machinery/api/quantity.ts';

type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** The resources that determine the QoS class. */
const computeResources = ['cpu', 'memory'] as const;
type Amounts = ReadonlyMap<string, bigint>;

/** QoS class as set by the API server, or else computed from requests and limits (upstream `qos.GetPodQOS`). */
export function classifyQosClass(pod: Pod): string {
  const { qosClass = '' } = pod.status ?? {};
  return qosClass === '' ? computeQosClass(pod) : qosClass;
}

/**
 * `BestEffort`: no container requests CPU or memory. `Guaranteed`: every container has limits for both, and the sums of
 * requests and limits are equal. `Burstable`: all others (upstream `qos.ComputePodQOS`).
 */
export function computeQosClass({ spec }: Pod): QosClass {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const requests = sum(containers, 'requests');
  const limits = sum(containers, 'limits');
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const limited = containers.every((each) => computeResources.every((name) => amount(each, 'limits', name) > 0n));
  const same =
    requests.size === limits.size && [...requests].every(([name, requested]) => limits.get(name) === requested);
  return limited && same ? 'Guaranteed' : 'Burstable';
}

function sum(containers: readonly Container[], field: 'requests' | 'limits'): Amounts {
  const sums = new Map<string, bigint>();
  for (const name of computeResources) {
    const total = containers.reduce((so, each) => so + amount(each, field, name), 0n);
    if (total > 0n) sums.set(name, total);
  }
  return sums;
}

function amount({ resources }: Container, field: 'requests' | 'limits', name: string): bigint {
  const nano = parseQuantityNano(ownValue(resources?.[field], name)) ?? 0n;
  return nano > 0n ? nano : 0n;
}
