import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import { formatBinary, formatDecimal, parseQuantity } from '../../../machinery/api/quantity.ts';
import { classifySignal, type SignalClass } from './classify-signal.ts';
import type { Observations, PodUsage } from './plan-eviction-pass.ts';
import { amountOf, type Threshold } from './parse-thresholds.ts';

type Resource = SignalClass['resource'];

interface EvictionFacts {
  readonly pod: Pod;
  readonly resource: Resource;
  /** The thresholds to act on. */
  readonly thresholds: readonly Threshold[];
  readonly observations: Observations;
  readonly usage: PodUsage | undefined;
}

interface EvictionTexts {
  readonly message: string;
  /** Annotations of the Event. */
  readonly annotations: Readonly<Record<string, string>>;
}

interface Offender {
  readonly name: string;
  readonly usage: string;
  readonly request: string;
}

/**
 * Eviction message: the resource that was low, by how much, and which containers exceeded their requests (kubelet
 * `evictionMessage`).
 */
export function describeEviction(facts: EvictionFacts): EvictionTexts {
  const { resource } = facts;
  const offenders = findOffenders(facts);
  const containerTexts = offenders.map(
    ({ name, usage, request }) =>
      `Container ${name} was using ${usage}, request is ${request}, has larger consumption of ${resource}. `,
  );
  return {
    message: `The node was low on resource: ${resource}. ${describeThreshold(facts)}${containerTexts.join('')}`,
    annotations: {
      offending_containers: offenders.map(({ name }) => name).join(','),
      offending_containers_usage: offenders.map(({ usage }) => usage).join(','),
      starved_resource: resource,
    },
  };
}

function describeThreshold({ resource, thresholds, observations }: EvictionFacts): string {
  const threshold = thresholds.find(({ signal }) => classifySignal(signal).resource === resource);
  const observation = threshold === undefined ? undefined : observations.get(threshold.signal);
  if (threshold === undefined || observation === undefined) return '';
  const quantity = amountOf(threshold.limit, observation.capacity);
  const format = resource === 'inodes' || resource === 'pids' ? formatDecimal : formatBinary;
  return `Threshold quantity: ${formatBinary(quantity)}, available: ${format(observation.available)}. `;
}

function findOffenders({ pod, resource, usage = {} }: EvictionFacts): readonly Offender[] {
  if (resource !== 'memory' && resource !== 'ephemeral-storage') return [];
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return containers.flatMap(({ name, resources }) => {
    const used = ownValue(usage, name)?.[resource] ?? 0;
    const request = resources?.requests?.[resource] ?? '0';
    return used > (parseQuantity(request) ?? 0) ? [{ name, usage: formatBinary(used), request }] : [];
  });
}
