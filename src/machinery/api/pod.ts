import { parseTimestamp } from './timestamps.ts';
import { type Condition, evictedByTaint, findCondition, readConditions } from './conditions.ts';
import { FieldReader } from './field-reader.ts';
import type { KubeObject } from './meta.ts';
import { type ObjectKey, objectKey } from './object-key.ts';
import { readTolerations, type Toleration } from './tolerations.ts';
import type { Labels } from './topology.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** The state of a container: exactly one of the three fields is set. */
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
  /** Only with `readOnly`. */
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
  /** Init containers only: `Always` makes it a sidecar. */
  readonly restartPolicy?: string;
  readonly volumeMounts?: readonly VolumeMount[];
  readonly ports?: readonly ContainerPort[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
}

/** Times in seconds. What the probe does is not read. */
export interface Probe {
  readonly initialDelaySeconds?: number;
  /** Defaults to 10. */
  readonly periodSeconds?: number;
  /** Defaults to 1. */
  readonly successThreshold?: number;
  /** Defaults to 3. */
  readonly failureThreshold?: number;
  /** Instead of the pod's, when this probe ends the container. */
  readonly terminationGracePeriodSeconds?: number;
}

export interface ContainerPort {
  readonly containerPort?: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  /** Defaults to `TCP`. */
  readonly protocol?: string;
}

export interface PodSpec {
  readonly nodeName?: string;
  /** Defaults to `default-scheduler`. */
  readonly schedulerName?: string;
  /** The pod is not scheduled while it has one. */
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly os?: { readonly name: string };
  readonly tolerations?: readonly Toleration[] | null;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  /** Defaults to `Always`. */
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

/** The required part of a node affinity; preferred terms do not bind and are not read. */
interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
  };
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** A Pod as on the wire; only the fields that are read or written. */
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
    /** Pod-level resources. */
    readonly resources?: ResourceRequirements;
    readonly allocatedResources?: Readonly<Record<string, string>>;
  };
}

/** The fields of a pod that the controller caches. Containers are dropped; tolerations may be shared between pods. */
export interface PodView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  /** Matched by DaemonSet selectors. May be shared between pods. */
  readonly labels: Labels;
  /** Empty while the pod is not bound. */
  readonly nodeName: string;
  readonly phase: string;
  /** `status.reason`, such as `Evicted`; empty if not set. */
  readonly reason: string;
  readonly terminating: boolean;
  /** Deletion grace period in seconds; undefined while the pod is not terminating. At 0 only finalizers block it. */
  readonly deletionGraceSeconds: number | undefined;
  readonly tolerations: readonly Toleration[];
  /** Status of the Ready condition; undefined without one. */
  readonly ready: string | undefined;
  /** Reason of the condition `DisruptionTarget=True`; undefined without one. */
  readonly disruptionReason: string | undefined;
  /** Wall time in seconds, as {@link boundAtSeconds}: a small integer needs no heap memory. 0 if unknown. */
  readonly createdAtSeconds: number;
  /** Wall time of the binding. Undefined if unknown. */
  readonly boundAtSeconds: number | undefined;
  /** Wall time of `deletionTimestamp`, the end of its grace period; absent: it is not terminating. */
  readonly deletionAtSeconds?: number;
  /** Wall time of the last transition of any of its conditions, of a pod that is completed; absent: it is not, or none is known. */
  readonly completedAtSeconds?: number;
  /** Validation problems found while decoding. */
  readonly problems?: readonly string[];
}

const secondsMax = 2 ** 32 - 1;

/** Transforms a pod while it is decoded. Never throws: a missing or malformed field becomes empty and is recorded. */
export function transformPod(pod: Pod): PodView {
  const fields = new FieldReader();
  const metadata = fields.part('metadata', pod.metadata);
  const spec = fields.part('spec', pod.spec);
  const status = fields.part('status', pod.status);
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const conditions = readConditions(fields, status['conditions']);
  const disruption = findCondition(conditions, evictedByTaint.type);
  // One object literal: up to a million of these exist, and an object that grows takes half as much memory again.
  const view = {
    namespace: fields.requiredText('metadata.namespace', metadata['namespace']),
    name: fields.requiredText('metadata.name', metadata['name']),
    uid: fields.requiredText('metadata.uid', metadata['uid']),
    resourceVersion: fields.text('metadata.resourceVersion', metadata['resourceVersion']),
    generation: fields.whole('metadata.generation', metadata['generation']),
    labels: fields.labels('metadata.labels', metadata['labels']),
    terminating: deletionTimestamp !== undefined && deletionTimestamp !== null,
    deletionGraceSeconds: fields.whole('metadata.deletionGracePeriodSeconds', deletionGracePeriodSeconds),
    createdAtSeconds: wholeSeconds(fields.time('metadata.creationTimestamp', metadata['creationTimestamp']) ?? 0),
    boundAtSeconds: readBoundAtSeconds(fields, conditions),
    ready: findCondition(conditions, 'Ready')?.status,
    disruptionReason: disruption?.status === 'True' ? (disruption.reason ?? '') : undefined,
    phase: fields.shownText('status.phase', status['phase']),
    reason: fields.shownText('status.reason', status['reason']),
    nodeName: fields.text('spec.nodeName', spec['nodeName']),
    tolerations: readTolerations(fields, spec['tolerations']),
  };
  const isPlain = isRunning(view) && !view.terminating;
  const complete = isPlain ? view : { ...view, ...readEnd(fields, view, { deletionTimestamp, conditions }) };
  return fields.problems === undefined ? complete : { ...complete, problems: fields.problems };
}

/** Pods that are not: up to a million of the others exist, and need no field for it. */
function isRunning({ phase }: Pick<PodView, 'phase'>): boolean {
  return phase === 'Pending' || phase === 'Running' || phase === 'Unknown' || phase === '';
}

interface PodEnd {
  readonly deletionTimestamp: unknown;
  readonly conditions: readonly Condition[];
}

/**
 * When the last container of a pod ends, its kubelet sets Ready=False. A pod that never was Ready, or was rejected, shows it by others
 * of its conditions only, such as PodReadyToStartContainers.
 */
function readEnd(
  fields: FieldReader,
  view: Pick<PodView, 'phase'>,
  { deletionTimestamp, conditions }: PodEnd,
): Pick<PodView, 'completedAtSeconds' | 'deletionAtSeconds'> {
  const deletionMs = fields.time('metadata.deletionTimestamp', deletionTimestamp);
  const times = isRunning(view) ? [] : conditions.flatMap((each) => parseTimestamp(each.lastTransitionTime) ?? []);
  const endMs = times.length === 0 ? undefined : Math.max(...times);
  return {
    ...(deletionMs === undefined ? {} : { deletionAtSeconds: wholeSeconds(deletionMs) }),
    ...(endMs === undefined ? {} : { completedAtSeconds: wholeSeconds(endMs) }),
  };
}

/** The API server sets PodScheduled=True when it binds the pod; kubelets keep its lastTransitionTime. */
function readBoundAtSeconds(fields: FieldReader, conditions: readonly Condition[]): number | undefined {
  const scheduled = findCondition(conditions, 'PodScheduled');
  if (scheduled?.status !== 'True') return undefined;
  const ms = fields.time('status.conditions[PodScheduled].lastTransitionTime', scheduled.lastTransitionTime);
  return ms === undefined ? undefined : wholeSeconds(ms);
}

/** An unsigned integer, which V8 keeps without a heap object until 2038. Times before 1970 are 0, and those after 2106 are that. */
function wholeSeconds(ms: number): number {
  return Math.min(Math.max(ms / 1_000, 0), secondsMax) >>> 0;
}

/** With the value `true` it asks that the pod is kept while its node is unhealthy, which the policy of the node may permit. */
export const autonomyLabel = 'nodelifecycle/autonomy';

/** True if the phase is Succeeded or Failed, which is final. */
export function isCompleted({ phase }: Pick<PodView, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/**
 * Wall time from which the pod may have been on its node: its binding, or its creation if the binding time is unknown or
 * earlier. Undefined if neither is known.
 */
export function boundAtMs({ boundAtSeconds = 0, createdAtSeconds }: PodView): number | undefined {
  const atMs = Math.max(boundAtSeconds, createdAtSeconds) * 1_000;
  return atMs > 0 ? atMs : undefined;
}

/** Reason of a pod whose node was lost (upstream `NodeUnreachablePodReason` and its message). */
export const nodeLostReason = 'NodeLost';

export function nodeLostMessage({ name, nodeName }: Pick<PodView, 'name' | 'nodeName'>): string {
  return `Node ${nodeName} which was running pod ${name} is unresponsive`;
}

export function podKey(pod: Pick<PodView, 'namespace' | 'name'>): ObjectKey {
  return objectKey(pod.namespace, pod.name);
}
