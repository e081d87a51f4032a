import type { Pod } from '../../api/pod.ts';
import { formatBinary, formatDecimal, parseQuantity } from '../../api/quantity.ts';
import { classifySignal, type SignalClass } from './classify-signal.ts';
import type { PodUsage } from './derive-eviction-order.ts';
import type { Observations } from './derive-eviction-pass.ts';
import { deriveAmount, type Threshold } from './derive-thresholds.ts';

type Resource = SignalClass['resource'];

export interface EvictionFacts {
  readonly pod: Pod;
  readonly resource: Resource;
  /** Those that call for action. */
  readonly thresholds: readonly Threshold[];
  readonly observations: Observations;
  readonly usage: PodUsage | undefined;
}

export interface EvictionWords {
  readonly message: string;
  /** Of the event about it. */
  readonly annotations: Readonly<Record<string, string>>;
}

interface Offender {
  readonly name: string;
  readonly usage: string;
  readonly request: string;
}

/** Why this pod had to go: what was low, by how much, and which containers used more than they asked for (kubelet `evictionMessage`). */
export function describeEviction(facts: EvictionFacts): EvictionWords {
  const { resource } = facts;
  const offenders = findOffenders(facts);
  const accusations = offenders.map(
    ({ name, usage, request }) =>
      `Container ${name} was using ${usage}, request is ${request}, has larger consumption of ${resource}. `,
  );
  return {
    message: `The node was low on resource: ${resource}. ${describeThreshold(facts)}${accusations.join('')}`,
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
  const quantity = deriveAmount(threshold.limit, observation.capacity);
  const available = formatAmount(resource, observation.available);
  return `Threshold quantity: ${formatBinary(quantity)}, available: ${available}. `;
}

function findOffenders({ pod, resource, usage = {} }: EvictionFacts): readonly Offender[] {
  if (resource !== 'memory' && resource !== 'ephemeral-storage') return [];
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return containers.flatMap(({ name, resources }) => {
    const used = usage[name]?.[resource] ?? 0;
    const request = resources?.requests?.[resource] ?? '0';
    return used > (parseQuantity(request) ?? 0) ? [{ name, usage: formatBinary(used), request }] : [];
  });
}

/** Bytes in binary, the others as counts. */
function formatAmount(resource: Resource, amount: number): string {
  return resource === 'inodes' || resource === 'pids' ? formatDecimal(amount) : formatBinary(amount);
}
