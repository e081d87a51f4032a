import type { KubeObject } from '../../../machinery/api/meta.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { PodSourceName } from './pod-update.ts';

/** Annotations that kubelets write (kubelet `types/constants.go`, `types/pod_update.go`). */
export const configAnnotations = {
  source: 'kubernetes.io/config.source',
  mirror: 'kubernetes.io/config.mirror',
  seen: 'kubernetes.io/config.seen',
  hash: 'kubernetes.io/config.hash',
} as const;

/** A pod with at least this priority is critical (`scheduling.SystemCriticalPriority`). */
export const systemCriticalPriority = 2_000_000_000;

/** The source of a pod; undefined for one that did not pass the PodConfig mux. */
function classifyPodSource(pod: Pod): PodSourceName | undefined {
  const source = pod.metadata.annotations?.[configAnnotations.source];
  return source === 'file' || source === 'http' || source === 'api' ? source : undefined;
}

/** True for a pod from a file or a URL: the API server has at most its mirror (kubelet `types.IsStaticPod`). */
export function isStaticPod(pod: Pod): boolean {
  const source = classifyPodSource(pod);
  return source === 'file' || source === 'http';
}

/** True for the API object of a static pod (kubelet `types.IsMirrorPod`). */
export function isMirrorPod(pod: Pod): boolean {
  return pod.metadata.annotations?.[configAnnotations.mirror] !== undefined;
}

export function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}

/** True if its deletion was requested. */
export function isTerminating({ metadata }: KubeObject): boolean {
  return (metadata.deletionTimestamp ?? '') !== '';
}

/** True if it has failed or succeeded, according to its source. */
export function hasEnded({ status }: Pod): boolean {
  return isEndPhase(status?.phase);
}

export function isEndPhase(phase: string | undefined): phase is 'Failed' | 'Succeeded' {
  return phase === 'Failed' || phase === 'Succeeded';
}

/** True for a pod that is admitted first, evicted last and stopped last (kubelet `types.IsCriticalPod`). */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= systemCriticalPriority;
}

/** True if the mirror matches the current static pod, by hash (kubelet `pod.IsMirrorPodOf`). */
export function isMirrorOf(mirror: Pod, pod: Pod): boolean {
  const sameName = mirror.metadata.name === pod.metadata.name && mirror.metadata.namespace === pod.metadata.namespace;
  return sameName && mirror.metadata.annotations?.[configAnnotations.mirror] === mirrorHash(pod);
}

/** The required value of a mirror's annotation: the hash of its static pod (kubelet `pod.getPodHash`). */
export function mirrorHash(pod: Pod): string {
  return pod.metadata.annotations?.[configAnnotations.hash] ?? '';
}

/** `name_namespace`: equal for a static pod and its mirror (kubelet `container.GetPodFullName`). */
export function podFullName(pod: Pod): string {
  return `${pod.metadata.name ?? ''}_${pod.metadata.namespace ?? ''}`;
}
