import { type Condition, evictedByTaint, findCondition, listConditions } from './conditions.ts';
import type { KubeObject, ObjectMeta } from './meta.ts';
import { type ObjectKey, objectKey } from './object-key.ts';
import { parseTimestamp } from './timestamps.ts';
import type { Toleration } from './tolerations.ts';
import type { Labels } from './topology.ts';

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
    readonly podIPs?: readonly { readonly ip: string }[];
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
  /** By which a DaemonSet knows its pods. May be shared between pods. */
  readonly labels: Labels;
  /** Empty while the pod is not bound. */
  readonly nodeName: string;
  readonly phase: string;
  /** `status.reason`, as `Evicted`; empty where nothing was said. */
  readonly reason: string;
  readonly terminating: boolean;
  /** Of its deletion, in seconds; undefined while it is not terminating. At 0 only finalizers hold it. */
  readonly deletionGraceSeconds: number | undefined;
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

function viewStatus(status: Pod['status']): Pick<PodView, 'phase' | 'reason' | 'ready' | 'disruptionReason'> {
  const conditions = listConditions(status?.conditions);
  const disruption = findCondition(conditions, evictedByTaint.type);
  return {
    phase: status?.phase ?? '',
    reason: status?.reason ?? '',
    ready: findCondition(conditions, 'Ready')?.status,
    disruptionReason: disruption?.status === 'True' ? (disruption.reason ?? '') : undefined,
  };
}

type PodIdentity = Omit<PodView, keyof ReturnType<typeof viewStatus> | 'nodeName' | 'tolerations'>;

function viewIdentity(metadata: ObjectMeta): PodIdentity {
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation,
    labels: metadata.labels ?? {},
    terminating: metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
    deletionGraceSeconds: metadata.deletionGracePeriodSeconds,
    createdAtMs: parseTimestamp(metadata.creationTimestamp) ?? 0,
  };
}

/** Said of a pod whose node was given up (upstream `NodeUnreachablePodReason` and its message). */
export const nodeLostReason = 'NodeLost';

export function nodeLostMessage({ name, nodeName }: Pick<PodView, 'name' | 'nodeName'>): string {
  return `Node ${nodeName} which was running pod ${name} is unresponsive`;
}

export function podKey(pod: Pick<PodView, 'namespace' | 'name'>): ObjectKey {
  return objectKey(pod.namespace, pod.name);
}
