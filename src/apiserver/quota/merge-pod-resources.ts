/** Requests and limits of a whole pod (upstream `component-helpers/resource`, as quotas use it). */
import { mapAt, mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { addAmount, addTo, type Amount, type Amounts, amountsAt, raiseTo, selectAmounts } from './merge-amounts.ts';

type Side = 'requests' | 'limits';

/** Those of containers, or of the pod level where it has them, with the overhead of the pod. */
export function podRequests(pod: Draft): Amounts {
  const sums = podTotals(pod, 'requests');
  addTo(sums, amountsAt(pod, 'spec', 'overhead'));
  return sums;
}

/** The same; the overhead is added to limits other than zero. */
export function podLimits(pod: Draft): Amounts {
  const sums = podTotals(pod, 'limits');
  for (const [name, overhead] of amountsAt(pod, 'spec', 'overhead')) {
    const limit = sums.get(name);
    if (limit !== undefined && limit.nano !== 0n) sums.set(name, addAmount(limit, overhead));
  }
  return sums;
}

/** Whether the pod has requests or limits of its own that count instead of those of its containers. */
export function hasPodLevelResources({ spec }: Draft): boolean {
  const names = (['requests', 'limits'] as const).flatMap((side) => Object.keys(mapAt(spec, 'resources', side)));
  return names.some(isOfPodLevel);
}

function isOfPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** Without the overhead. */
export function podTotals(pod: Draft, side: Side): Map<string, Amount> {
  const sums = ofContainers(pod, side);
  for (const [name, amount] of selectAmounts(amountsAt(pod, 'spec', 'resources', side), isOfPodLevel)) {
    sums.set(name, amount);
  }
  return sums;
}

/**
 * Containers and sidecars run together. An init container runs before them, beside the sidecars that precede it: the most
 * that is needed at any time counts.
 */
function ofContainers(pod: Draft, side: Side): Map<string, Amount> {
  const sums = new Map<string, Amount>();
  for (const container of mapsAt(pod, 'spec', 'containers')) addTo(sums, inEffect(pod, container, side));
  const sidecars = new Map<string, Amount>();
  const highest = new Map<string, Amount>();
  for (const container of mapsAt(pod, 'spec', 'initContainers')) {
    if (isSidecar(container)) {
      const amounts = inEffect(pod, container, side);
      addTo(sums, amounts);
      addTo(sidecars, amounts);
      raiseTo(highest, sidecars);
    } else {
      const amounts = amountsAt(container, 'resources', side);
      addTo(amounts, sidecars);
      raiseTo(highest, amounts);
    }
  }
  raiseTo(sums, highest);
  return sums;
}

function isSidecar(container: MutableJsonMap): boolean {
  return textAt(container, 'restartPolicy') === 'Always';
}

/** During a resize in place, the higher of what is wanted and what the kubelet reports. */
function inEffect(pod: Draft, container: MutableJsonMap, side: Side): Amounts {
  const wanted = amountsAt(container, 'resources', side);
  const status = [
    ...mapsAt(pod, 'status', 'containerStatuses'),
    ...mapsAt(pod, 'status', 'initContainerStatuses'),
  ].find(({ name }) => name === container['name']);
  if (status?.['resources'] === undefined) return wanted;
  const highest = isResizeInfeasible(pod) ? new Map<string, Amount>() : wanted;
  raiseTo(highest, amountsAt(status, 'resources', side));
  if (side === 'requests') raiseTo(highest, amountsAt(status, 'allocatedResources'));
  return highest;
}

function isResizeInfeasible(pod: Draft): boolean {
  const pending = mapsAt(pod, 'status', 'conditions').find(({ type }) => type === 'PodResizePending');
  return pending?.['reason'] === 'Infeasible';
}
