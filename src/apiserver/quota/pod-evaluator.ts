/** Pods in quotas (upstream `pkg/quota/v1/evaluator/core/pods.go`). */
import { ownValue } from '../../api/json-map.ts';
import { parseTimestamp } from '../../api/timestamps.ts';
import { qosClassOf } from '../registry/pod-defaults.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, numberAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { addTo, type Amount, type Amounts, countOf } from './merge-amounts.ts';
import type { QuotaEvaluator } from './evaluator.ts';
import type { Measurement, ScopeFacts } from './select-scopes.ts';
import { hasPodLevelResources, podLimits, podRequests } from './merge-pod-resources.ts';

const countName = 'count/pods';
const compute = ['cpu', 'memory', 'ephemeral-storage'] as const;
const measured: ReadonlySet<string> = new Set([
  countName,
  'pods',
  ...compute.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
/** What each container must have if a quota limits it. */
const required: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
const deviceClassPrefix = 'deviceclass.resource.kubernetes.io/';

export const podEvaluator: QuotaEvaluator = {
  measures: (name) =>
    measured.has(name) || /^(requests\.)?hugepages-/.test(name) || (name.startsWith('requests.') && isExtended(name)),
  measure: measurePod,
  handles: ({ draft, stored, endpoint }) =>
    endpoint === '' && (stored === undefined || hasDeadline(draft) !== hasDeadline(stored)),
  explainMissing,
};

/** Resources that are not those of Kubernetes; those of device classes are among them. */
function isExtended(name: string): boolean {
  if (name.replace(/^requests\./, '').startsWith(deviceClassPrefix)) return true;
  return name.includes('/') && !name.includes('kubernetes.io/');
}

/** A pod that has ended, or whose grace period is over, takes only its place among the stored objects. */
function measurePod(pod: Draft): Measurement {
  const ended = new Map([[countName, countOf(1)]]);
  const scopes = scopesOf(pod);
  if (['Failed', 'Succeeded'].includes(textAt(pod.status, 'phase'))) return { usage: ended, scopes };
  const usage = new Map(ended);
  addTo(usage, usageOf(podRequests(pod), podLimits(pod)));
  const endMs = endOfGraceMs(pod);
  return { usage, later: endMs === undefined ? undefined : { afterMs: endMs, usage: ended }, scopes };
}

/** As upstream, the grace period counts from the time of the deletion, which contains it already. */
function endOfGraceMs({ metadata }: Draft): number | undefined {
  const deletionMs = parseTimestamp(metadata.deletionTimestamp);
  const graceSeconds = metadata.deletionGracePeriodSeconds;
  return deletionMs === undefined || graceSeconds === undefined ? undefined : deletionMs + graceSeconds * 1_000;
}

/** By the names of quotas. */
function usageOf(requests: Amounts, limits: Amounts): Map<string, Amount> {
  const usage = new Map([['pods', countOf(1)]]);
  for (const [name, amount] of requests) {
    const isCompute = compute.some((one) => one === name);
    if (isCompute || name.startsWith('hugepages-')) usage.set(name, amount);
    if (isCompute || name.startsWith('hugepages-') || isExtended(name)) usage.set(`requests.${name}`, amount);
  }
  for (const name of compute) {
    const limit = limits.get(name);
    if (limit !== undefined) usage.set(`limits.${name}`, limit);
  }
  return usage;
}

/** Containers without a request or limit that a quota limits, as upstream names them; undefined if there are none. */
function explainMissing(pod: Draft, names: readonly string[]): string | undefined {
  if (hasPodLevelResources(pod)) return undefined;
  const containers = [...mapsAt(pod, 'spec', 'containers'), ...mapsAt(pod, 'spec', 'initContainers')];
  const missing = names
    .filter((name) => required.has(name))
    .sort()
    .map((name) => [name, containers.filter((container) => !specifies(container, name))] as const)
    .filter(([, without]) => without.length > 0)
    .map(([name, without]) => `${name} for: ${[...new Set(without.map(nameOf))].sort().join(',')}`);
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`;
}

function nameOf(container: MutableJsonMap): string {
  return textAt(container, 'name');
}

/** `name` is that of a quota: `limits.cpu`; without a prefix it is a request. */
function specifies(container: MutableJsonMap, name: string): boolean {
  const [, side = 'requests', resource = ''] = /^(?:(requests|limits)\.)?(.*)$/.exec(name) ?? [];
  return ownValue(mapAt(container, 'resources', side), resource) !== undefined;
}

function scopesOf(pod: Draft): ScopeFacts {
  const priorityClass = textAt(pod.spec, 'priorityClassName');
  const qosClass = textAt(pod.status, 'qosClass') || qosClassOf(pod.spec ?? {});
  const names = [
    hasDeadline(pod) ? 'Terminating' : 'NotTerminating',
    qosClass === 'BestEffort' ? 'BestEffort' : 'NotBestEffort',
    ...(priorityClass === '' ? [] : ['PriorityClass']),
    ...(hasForeignAffinity(pod) ? ['CrossNamespacePodAffinity'] : []),
  ];
  return { names: new Set(names), classes: { PriorityClass: priorityClass === '' ? [] : [priorityClass] } };
}

function hasDeadline({ spec }: Draft): boolean {
  return typeof spec?.['activeDeadlineSeconds'] === 'number' && numberAt(spec, 'activeDeadlineSeconds') >= 0;
}

/** Whether a term of its affinity to pods selects other namespaces. */
function hasForeignAffinity({ spec }: Draft): boolean {
  return ['podAffinity', 'podAntiAffinity'].some((kind) => {
    const affinity = mapAt(spec, 'affinity', kind);
    const preferred = mapsAt(affinity, 'preferredDuringSchedulingIgnoredDuringExecution');
    const terms = [
      ...mapsAt(affinity, 'requiredDuringSchedulingIgnoredDuringExecution'),
      ...preferred.map((weighted) => mapAt(weighted, 'podAffinityTerm')),
    ];
    return terms.some(({ namespaces, namespaceSelector }) => {
      return (Array.isArray(namespaces) && namespaces.length > 0) || isMap(namespaceSelector);
    });
  });
}
