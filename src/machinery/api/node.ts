import { type Condition, conditionTimes, readConditions } from './conditions.ts';
import { FieldReader } from './field-reader.ts';
import { type JsonMap, mapOf, mapsOf, ownValue, textOf } from './json-map.ts';
import type { KubeObject } from './meta.ts';
import { isOwnTaint, type Taint, taintTexts, taintTimes } from './taints.ts';
import { cutText, listLimits, textCharsMax, valueCharsMax } from './limits.ts';
import type { Labels } from './topology.ts';
import { vetoAnnotations } from './vetoes.ts';

/** Holds what makes the node or its pods worse: `"true"`, or until an RFC 3339 time. */
export const pauseAnnotation = 'nodelifecycle/paused';
/** Set by a fencing agent or a person: the boot ID of the boot that was ended by force. */
export const fencedAnnotation = 'nodelifecycle/fenced';
/** Set by the controller with the taint out-of-service: the boot ID and the evidence that it was fenced. */
export const outOfServiceAnnotation = 'nodelifecycle/out-of-service-evidence';
/** Set by the controller with the taint of the same name: how often the node was kept, and until when it is. */
export const flappingAnnotation = 'nodelifecycle/flapping';
/** Set by the controller while the heartbeat of a node is overdue, and while it is Unknown then: the time of the last one. */
export const overdueAnnotation = 'nodelifecycle/heartbeat-overdue-since';
/** The annotations that are read: others are not decoded from protobuf. */
export const nodeAnnotations: readonly string[] = [
  pauseAnnotation,
  fencedAnnotation,
  outOfServiceAnnotation,
  flappingAnnotation,
  overdueAnnotation,
  ...vetoAnnotations,
];

/** A Node as on the wire; only the fields that are read or written. */
export interface Node extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[] | null;
    readonly providerID?: string;
    readonly podCIDR?: string;
    readonly podCIDRs?: readonly string[];
    /** Deprecated: the cloud provider's ID of the machine. */
  };
  readonly status?: {
    readonly conditions?: readonly Condition[] | null;
    readonly nodeInfo?: NodeInfo;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port: number } };
  };
}

/** What the kubelet reports about its machine and itself. */
interface NodeInfo {
  readonly bootID?: string;
  readonly operatingSystem?: string;
  readonly [field: string]: string | boolean | undefined;
}

/** The fields of a node that the controller caches: a read-only snapshot. */
export interface NodeView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Wall time, set by the API server. 0 if missing or unreadable. */
  readonly createdAtMs: number;
  readonly labels: Labels;
  readonly unschedulable: boolean;
  readonly taints: readonly Taint[];
  readonly conditions: readonly Condition[];
  /** Reported by the kubelet; changes with each boot. Empty if not reported. */
  readonly bootID: string;
  /** Addresses of its machine, the internal ones if it has any, and the port of its kubelet there; absent if not reported. */
  readonly reachedAt?: { readonly addresses: readonly string[]; readonly port: number };
  /** The value of {@link pauseAnnotation}; absent without it. */
  readonly pause?: string;
  /** The value of {@link fencedAnnotation}; absent without it. */
  readonly fenced?: string;
  /** The value of {@link outOfServiceAnnotation}; absent without it. */
  readonly outOfService?: string;
  /** The value of {@link flappingAnnotation}; absent without it. */
  readonly flapping?: string;
  /** The value of {@link overdueAnnotation}; absent without it. */
  readonly overdue?: string;
  /** Keys of {@link vetoAnnotations} that it has with another value than `false`; absent without any. */
  readonly vetoes?: readonly string[];
  /** `taints` are not all, so a list must not be written from them; absent: all. */
  readonly isTaintListCut?: boolean;
  /** Validation problems found while decoding. */
  readonly problems?: readonly string[];
}

/** Transforms a node while it is decoded. Never throws: a missing or malformed field becomes empty and is recorded. */
export function transformNode(node: Node): NodeView {
  return readNode(node, listLimits.taints);
}

/** Transforms a node with all of its taints, to write them back: see {@link transformNode}. */
export function transformWholeNode(node: Node): NodeView {
  return readNode(node, Infinity);
}

function readNode(node: Node, taintsMax: number): NodeView {
  const fields = new FieldReader();
  const metadata = fields.part('metadata', node.metadata);
  const spec = fields.part('spec', node.spec);
  const status = fields.part('status', node.status);
  const allTaints = fields.items<Taint>('spec.taints', spec['taints'], taintTexts);
  const taints = fields.limited('spec.taints', allTaints, taintsMax, isOwnTaint);
  const conditions = readConditions(fields, status['conditions']);
  const view = {
    name: fields.requiredText('metadata.name', metadata['name']),
    uid: fields.requiredText('metadata.uid', metadata['uid']),
    resourceVersion: fields.text('metadata.resourceVersion', metadata['resourceVersion']),
    createdAtMs: fields.time('metadata.creationTimestamp', metadata['creationTimestamp']) ?? 0,
    labels: fields.labels('metadata.labels', metadata['labels']),
    unschedulable: fields.flag('spec.unschedulable', spec['unschedulable']),
    // Taints are written back as a list, so an omitted field is removed; conditions are merged: only null removes.
    taints: fields.replaceUnreadableTimes('spec.taints', taints, taintTimes, undefined),
    conditions: fields.replaceUnreadableTimes('status.conditions', conditions, conditionTimes, null),
    bootID: fields.text('status.nodeInfo.bootID', fields.part('status.nodeInfo', status['nodeInfo'])['bootID']),
  };
  const complete = taints === allTaints ? view : { ...view, isTaintListCut: true };
  const reachedAt = readReachedAt(status);
  const addressed = reachedAt === undefined ? complete : { ...complete, reachedAt };
  const annotated = withAnnotations(addressed, mapOf(metadata['annotations']));
  return fields.problems === undefined ? annotated : { ...annotated, problems: fields.problems };
}

/** Of a kubelet that reports none. */
const kubeletPort = 10_250;
/** Longer than any IP address. */
const addressCharsMax = 64;
const addressesMax = 4;

function readReachedAt(status: JsonMap): NodeView['reachedAt'] {
  const listed = mapsOf(status['addresses']);
  const of = (type: string): readonly string[] =>
    listed.flatMap((each) => (each['type'] === type ? textOf(each['address']) : []));
  const internal = of('InternalIP');
  const addresses = (internal.length > 0 ? internal : of('ExternalIP')).filter(isShortText).slice(0, addressesMax);
  const port = mapOf(mapOf(status['daemonEndpoints'])['kubeletEndpoint'])['Port'];
  const isPort = typeof port === 'number' && port > 0;
  return addresses.length === 0 ? undefined : { addresses, port: isPort ? port : kubeletPort };
}

function isShortText(text: string): boolean {
  return text !== '' && text.length <= addressCharsMax;
}

/** Annotations that are kept, and how much of them. Most nodes have none, and then no field for them. */
const annotationFields = [
  ['pause', pauseAnnotation, textCharsMax],
  ['fenced', fencedAnnotation, valueCharsMax],
  ['outOfService', outOfServiceAnnotation, valueCharsMax],
  ['flapping', flappingAnnotation, valueCharsMax],
  ['overdue', overdueAnnotation, valueCharsMax],
] as const satisfies readonly (readonly [keyof NodeView, string, number])[];

/** A value that is cut is as malformed as the whole one: no accepted value is that long. */
function withAnnotations(view: NodeView, annotations: Readonly<Record<string, unknown>>): NodeView {
  const present = annotationFields.flatMap(([field, name, charsMax]) => {
    const value = annotations[name];
    return typeof value === 'string' ? [[field, cutText(value, charsMax)] as const] : [];
  });
  const vetoes = vetoAnnotations.filter((name) => {
    const value = ownValue(annotations, name);
    return value !== undefined && value !== 'false';
  });
  if (present.length + vetoes.length === 0) return view;
  return { ...view, ...Object.fromEntries(present), ...(vetoes.length > 0 && { vetoes }) };
}
