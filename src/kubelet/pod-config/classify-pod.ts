import type { Pod } from '../../api/pod.ts';
import type { PodSourceName } from './pod-update.ts';

/** Annotations that kubelets write (kubelet `types/constants.go`, `types/pod_update.go`). */
export const configAnnotations = {
  source: 'kubernetes.io/config.source',
  mirror: 'kubernetes.io/config.mirror',
  seen: 'kubernetes.io/config.seen',
  hash: 'kubernetes.io/config.hash',
} as const;

/** From this priority on a pod is critical (`scheduling.SystemCriticalPriority`). */
export const systemCriticalPriority = 2_000_000_000;

/** The source that a pod came from; undefined for one that never went through the mux. */
export function classifyPodSource(pod: Pod): PodSourceName | undefined {
  const source = pod.metadata.annotations?.[configAnnotations.source];
  return source === 'file' || source === 'http' || source === 'api' ? source : undefined;
}

/** It came from a file or a URL: the API server knows at most its mirror (kubelet `types.IsStaticPod`). */
export function isStaticPod(pod: Pod): boolean {
  const source = classifyPodSource(pod);
  return source === 'file' || source === 'http';
}

/** An API object that only shows a static pod (kubelet `types.IsMirrorPod`). */
export function isMirrorPod(pod: Pod): boolean {
  return pod.metadata.annotations?.[configAnnotations.mirror] !== undefined;
}

/** Its deletion was asked for. */
export function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}

/** It has failed or succeeded, as its source says. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

/** Admitted first, evicted last, stopped last (kubelet `types.IsCriticalPod`). */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= systemCriticalPriority;
}

/** Does this mirror show that static pod as it is now? The hash says so (kubelet `pod.IsMirrorPodOf`). */
export function isMirrorOf(mirror: Pod, pod: Pod): boolean {
  const sameName = mirror.metadata.name === pod.metadata.name && mirror.metadata.namespace === pod.metadata.namespace;
  return sameName && mirror.metadata.annotations?.[configAnnotations.mirror] === mirrorHash(pod);
}

/** What a mirror's annotation has to be: of a static pod its hash (kubelet `pod.getPodHash`). */
export function mirrorHash(pod: Pod): string {
  return pod.metadata.annotations?.[configAnnotations.hash] ?? '';
}

/** `name_namespace`: what a static pod and its mirror have in common (kubelet `container.GetPodFullName`). */
export function podFullName(pod: Pod): string {
  return `${pod.metadata.name ?? ''}_${pod.metadata.namespace ?? ''}`;
}
