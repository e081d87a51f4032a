import { type Condition, evictedByTaint, findCondition, readConditions } from './conditions.ts';
import { FieldReader } from './field-reader.ts';
import type { KubeObject } from './meta.ts';
import { type ObjectKey, objectKey } from './object-key.ts';
import { readTolerations, type Toleration } from './tolerations.ts';
import type { Labels } from './topology.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** What a container is doing, was doing, or waits for: one of the three is there. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string | null };
  readonly terminated?: {
    readonly exitCode: number;
    readonly signal?: number;
    readonly reason?: string;
    readonly message?: string;
    readonly startedAt?: string | null;
    readonly finishedAt?: string | null;
    readonly containerID?: string;
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
  readonly state?: ContainerState;
  /** The state before the last restart. */
  readonly lastState?: ContainerState;
  readonly resources?: ResourceRequirements;
  readonly allocatedResources?: Readonly<Record<string, string>>;
  readonly volumeMounts?: readonly VolumeMount[];
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  /** Of those that are read-only. */
  readonly recursiveReadOnly?: string;
}

/** Quantities by resource name. */
export interface ResourceRequirements {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly resources?: ResourceRequirements;
  /** Of an init container: `Always` makes it a sidecar. */
  readonly restartPolicy?: string;
  readonly volumeMounts?: readonly VolumeMount[];
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly tolerations?: readonly Toleration[] | null;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  /** `Always` where nothing is said. */
  readonly restartPolicy?: string;
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly overhead?: Readonly<Record<string, string>>;
  readonly hostNetwork?: boolean;
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly nodeSelector?: Labels;
  readonly affinity?: { readonly nodeAffinity?: NodeAffinity };
  readonly readinessGates?: readonly { readonly conditionType: string }[];
}

/** The part of a node affinity that must hold; what is only preferred does not bind anybody. */
export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
  };
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** A Pod as on the wire, as far as we read or write it. */
export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: {
    /** One of {@link PodPhase}. */
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[] | null;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly hostIP?: string;
    readonly hostIPs?: readonly { readonly ip: string }[];
    readonly startTime?: string;
    readonly qosClass?: string;
    /** Of the pod as a whole. */
    readonly resources?: ResourceRequirements;
    readonly allocatedResources?: Readonly<Record<string, string>>;
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
  /** What was not as it should be when it arrived. */
  readonly flaws?: readonly string[];
}

/** Projects a pod while it is decoded. Never throws: what is missing or of the wrong type becomes empty, and is told. */
export function viewPod(pod: Pod): PodView {
  const fields = new FieldReader();
  const metadata = fields.part('metadata', pod.metadata);
  const spec = fields.part('spec', pod.spec);
  const status = fields.part('status', pod.status);
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const conditions = readConditions(fields, status['conditions']);
  const disruption = findCondition(conditions, evictedByTaint.type);
  // In one piece: there may be a million of them, and an object that grows takes half as much again.
  const view = {
    namespace: fields.neededText('metadata.namespace', metadata['namespace']),
    name: fields.neededText('metadata.name', metadata['name']),
    uid: fields.neededText('metadata.uid', metadata['uid']),
    resourceVersion: fields.text('metadata.resourceVersion', metadata['resourceVersion']),
    generation: fields.whole('metadata.generation', metadata['generation']),
    labels: fields.labels('metadata.labels', metadata['labels']),
    terminating: deletionTimestamp !== undefined && deletionTimestamp !== null,
    deletionGraceSeconds: fields.whole('metadata.deletionGracePeriodSeconds', deletionGracePeriodSeconds),
    createdAtMs: fields.time('metadata.creationTimestamp', metadata['creationTimestamp']) ?? 0,
    ready: findCondition(conditions, 'Ready')?.status,
    disruptionReason: disruption?.status === 'True' ? (disruption.reason ?? '') : undefined,
    phase: fields.text('status.phase', status['phase']),
    reason: fields.text('status.reason', status['reason']),
    nodeName: fields.text('spec.nodeName', spec['nodeName']),
    tolerations: readTolerations(fields, spec['tolerations']),
  };
  return fields.flaws === undefined ? view : { ...view, flaws: fields.flaws };
}

/** Said of a pod whose node was given up (upstream `NodeUnreachablePodReason` and its message). */
export const nodeLostReason = 'NodeLost';

export function nodeLostMessage({ name, nodeName }: Pick<PodView, 'name' | 'nodeName'>): string {
  return `Node ${nodeName} which was running pod ${name} is unresponsive`;
}

export function podKey(pod: Pick<PodView, 'namespace' | 'name'>): ObjectKey {
  return objectKey(pod.namespace, pod.name);
}
