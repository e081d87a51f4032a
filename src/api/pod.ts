import { type Condition, evictedByTaint, findCondition, listConditions } from './conditions.ts';
import type { KubeObject, ObjectMeta } from './meta.ts';
import { type ObjectKey, objectKey } from './object-key.ts';
import { parseTimestamp } from './timestamps.ts';
import type { Toleration } from './tolerations.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly started?: boolean;
  readonly state?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A Pod as on the wire, as far as we read or write it. */
export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly tolerations?: readonly Toleration[] | null;
    readonly terminationGracePeriodSeconds?: number;
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
  };
  readonly status?: {
    /** One of {@link PodPhase}. */
    readonly phase?: string;
    readonly reason?: string;
    readonly conditions?: readonly Condition[] | null;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly podIP?: string;
    readonly hostIP?: string;
    readonly startTime?: string;
    readonly qosClass?: string;
  };
}

/** What the controller keeps of a pod. Containers are dropped; tolerations may be shared between pods. */
export interface PodView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  /** Empty while the pod is not bound. */
  readonly nodeName: string;
  readonly phase: string;
  readonly terminating: boolean;
  readonly tolerations: readonly Toleration[];
  /** Status of its Ready condition; undefined without one. */
  readonly ready: string | undefined;
  /** It carries `DisruptionTarget=True` already, for this reason. */
  readonly disruptionReason: string | undefined;
  readonly createdAtMs: number;
}

/** Projects a pod while it is decoded. Never throws: what is missing or of the wrong type becomes empty. */
export function viewPod(pod: Pod): PodView {
  const tolerations = pod.spec?.tolerations;
  return {
    ...viewIdentity(pod.metadata),
    ...viewStatus(pod.status),
    nodeName: pod.spec?.nodeName ?? '',
    tolerations: Array.isArray(tolerations) ? (tolerations as readonly Toleration[]) : [],
  };
}

function viewStatus(status: Pod['status']): Pick<PodView, 'phase' | 'ready' | 'disruptionReason'> {
  const conditions = listConditions(status?.conditions);
  const disruption = findCondition(conditions, evictedByTaint.type);
  return {
    phase: status?.phase ?? '',
    ready: findCondition(conditions, 'Ready')?.status,
    disruptionReason: disruption?.status === 'True' ? (disruption.reason ?? '') : undefined,
  };
}

function viewIdentity(
  metadata: ObjectMeta,
): Pick<PodView, 'namespace' | 'name' | 'uid' | 'resourceVersion' | 'generation' | 'terminating' | 'createdAtMs'> {
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation,
    terminating: metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
    createdAtMs: parseTimestamp(metadata.creationTimestamp) ?? 0,
  };
}

export function podKey(pod: Pick<PodView, 'namespace' | 'name'>): ObjectKey {
  return objectKey(pod.namespace, pod.name);
}
