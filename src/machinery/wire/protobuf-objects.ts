// Nodes, pods and leases from protobuf, in the shape of their JSON, with the fields that the transforms read; all other
// fields are skipped. The numbers are the field numbers of Kubernetes' generated.proto files, which never change; a
// message's fields may come in any order and more than once.
import { knownConditionTypes } from '../api/conditions.ts';
import { listLimits, namedBeyondMax } from '../api/limits.ts';
import type { KubeObject, ObjectMeta } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import { ownTaintKeys } from '../api/taints.ts';
import { ProtobufMeta } from './protobuf-meta.ts';
import { MalformedProtobufError, type ProtobufReader } from './protobuf-reader.ts';
import { PartInterner } from './string-interner.ts';

/** The resources that can be decoded from protobuf. */
export type ProtobufResource = Extract<ResourceName, 'nodes' | 'pods' | 'leases'>;

export function isProtobufResource(resource: ResourceName): resource is ProtobufResource {
  return resource === 'nodes' || resource === 'pods' || resource === 'leases';
}

type ObjectFields = Record<string, unknown>;
type ReadField = (reader: ProtobufReader) => unknown;

/** The JSON name of a field, and its decoder. */
interface Field {
  readonly name: string;
  readonly read: ReadField;
  /** Omitted if zero, as in JSON. */
  readonly omitZero: boolean;
}

type FieldTable = ReadonlyMap<number, Field>;

const text: ReadField = (reader) => reader.text();
const time: ReadField = (reader) => reader.time();
const optional = (name: string, read: ReadField): Field => ({ name, read, omitZero: true });
const required = (name: string, read: ReadField): Field => ({ name, read, omitZero: false });

const taintFields: FieldTable = new Map([
  [0x0a, required('key', text)],
  [0x12, optional('value', text)],
  [0x1a, required('effect', text)],
  [0x22, optional('timeAdded', time)],
]);

const tolerationFields: FieldTable = new Map([
  [0x0a, optional('key', text)],
  [0x12, optional('operator', text)],
  [0x1a, optional('value', text)],
  [0x22, optional('effect', text)],
  // A pointer in Go: present exactly if it was set, even to zero.
  [0x28, required('tolerationSeconds', (reader) => reader.int64())],
]);

const addressFields: FieldTable = new Map([
  [0x0a, required('type', text)],
  [0x12, required('address', text)],
]);
const endpointFields: FieldTable = new Map([[0x08, required('Port', (reader) => reader.int64())]]);
const endpointsFields: FieldTable = new Map([
  [0x0a, required('kubeletEndpoint', (reader) => readFields(reader, endpointFields))],
]);
const noEndpoints: ObjectFields = {};

/** A repeated field: how many of its items are used, and the names of those that are used at any place. */
interface ListField {
  readonly max: number;
  readonly named: readonly string[];
}

const taintList: ListField = { max: listLimits.taints, named: ownTaintKeys };
const tolerationList: ListField = { max: listLimits.tolerations, named: [] };
const addressList: ListField = { max: listLimits.addresses, named: [] };
const conditionList: ListField = { max: listLimits.conditions, named: knownConditionTypes };

/**
 * Appends the item that starts here, or skips it where the list is longer than is used: one more than the limit is decoded,
 * by which the transforms see that it is.
 */
function append<T>(
  list: T[],
  { max, named }: ListField,
  reader: ProtobufReader,
  read: (reader: ProtobufReader) => T,
): void {
  const isUsed = list.length <= max || (list.length <= max + namedBeyondMax && reader.startsWith(named));
  if (isUsed) list.push(read(reader));
  else reader.at = reader.enter();
}

function readTaint(reader: ProtobufReader): ObjectFields {
  return readFields(reader, taintFields);
}

function readNodeAddress(reader: ProtobufReader): ObjectFields {
  return readFields(reader, addressFields);
}

function readToleration(reader: ProtobufReader): ObjectFields {
  return readFields(reader, tolerationFields);
}

function readFields(reader: ProtobufReader, table: FieldTable): ObjectFields {
  const fields: ObjectFields = {};
  const end = reader.enter();
  while (reader.at < end) {
    const tag = reader.tag();
    const field = table.get(tag);
    if (field === undefined) reader.skip(tag);
    else {
      const value = field.read(reader);
      if (!field.omitZero || (value !== '' && value !== null)) fields[field.name] = value;
    }
  }
  reader.exit(end);
  return fields;
}

// Nodes and pods have five or more conditions each: these are decoded without a table, into objects with all fields from
// the start.

interface NodeCondition {
  type: string;
  status: string;
  lastHeartbeatTime: string | null;
  lastTransitionTime: string | null;
  reason?: string;
  message?: string;
}

function readNodeCondition(reader: ProtobufReader): NodeCondition {
  const condition = {
    type: '',
    status: '',
    lastHeartbeatTime: noTime,
    lastTransitionTime: noTime,
    reason: '',
    message: '',
  };
  const end = reader.enter();
  while (reader.at < end) readConditionField(reader, condition, reader.tag());
  reader.exit(end);
  return condition.reason === '' || condition.message === '' ? withoutEmptyTexts(condition) : condition;
}

function readConditionField(reader: ProtobufReader, condition: NodeCondition, tag: number): void {
  switch (tag) {
    case 0x0a:
      condition.type = reader.text();
      break;
    case 0x12:
      condition.status = reader.text();
      break;
    case 0x1a:
      condition.lastHeartbeatTime = reader.time();
      break;
    case 0x22:
      condition.lastTransitionTime = reader.time();
      break;
    case 0x2a:
      condition.reason = reader.text();
      break;
    case 0x32:
      condition.message = reader.text();
      break;
    default:
      reader.skip(tag);
  }
}

function withoutEmptyTexts({ reason = '', message = '', ...rest }: NodeCondition): NodeCondition {
  return { ...rest, ...(reason === '' ? {} : { reason }), ...(message === '' ? {} : { message }) };
}

interface PodCondition {
  type: string;
  status: string;
  lastTransitionTime: string | null;
  reason: string;
}

function readPodCondition(reader: ProtobufReader): PodCondition {
  const condition = { type: '', status: '', lastTransitionTime: noTime, reason: '' };
  const end = reader.enter();
  while (reader.at < end) {
    const tag = reader.tag();
    if (tag === 0x0a) condition.type = reader.text();
    else if (tag === 0x12) condition.status = reader.text();
    else if (tag === 0x22) condition.lastTransitionTime = reader.time();
    else if (tag === 0x2a) condition.reason = reader.text();
    else reader.skip(tag);
  }
  reader.exit(end);
  return condition;
}

/** Decodes objects from one source. */
export class ProtobufObjects {
  readonly #source: ProtobufReader;
  readonly #meta: ProtobufMeta;
  readonly #tolerations = new PartInterner<readonly ObjectFields[]>();

  constructor(reader: ProtobufReader) {
    this.#source = reader;
    this.#meta = new ProtobufMeta(reader);
  }

  /** The object between the current position and `end`. Throws a MalformedProtobufError. */
  read(resource: ProtobufResource, end: number): KubeObject {
    switch (resource) {
      case 'leases':
        return this.#lease(end);
      case 'nodes':
        return this.#node(end);
      case 'pods':
        return this.#pod(end);
    }
  }

  /**
   * The metadata of the object between the current position and `end`, of which the rest could not be decoded; undefined if
   * the metadata could not be decoded either.
   */
  readMetadata(end: number): ObjectMeta | undefined {
    const reader = this.#source;
    try {
      while (reader.at < end) {
        const tag = reader.tag();
        if (tag === 0x0a) return this.#meta.read('few');
        reader.skip(tag);
      }
    } catch (error) {
      if (!(error instanceof MalformedProtobufError)) throw error;
    }
    return undefined;
  }

  /** A bookmark is an object of the watched kind with only metadata. */
  readBookmark(end: number): KubeObject {
    const reader = this.#source;
    let metadata: ObjectMeta = {};
    reader.message((tag) => {
      if (tag === 0x0a) metadata = this.#meta.readBookmark();
      else reader.skip(tag);
    }, end);
    return { metadata };
  }

  #lease(end: number): KubeObject {
    const reader = this.#source;
    let metadata: ObjectMeta = {};
    const spec: { leaseDurationSeconds: number | null; renewTime: string | null } = {
      leaseDurationSeconds: null,
      renewTime: null,
    };
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === 0x0a) metadata = this.#meta.read('few');
      else if (tag === 0x12) this.#leaseSpec(spec);
      else reader.skip(tag);
    }
    reader.exit(end);
    return { metadata, spec } as KubeObject;
  }

  #leaseSpec(spec: { leaseDurationSeconds: number | null; renewTime: string | null }): void {
    const reader = this.#source;
    const end = reader.enter();
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === 0x10) spec.leaseDurationSeconds = reader.int64();
      else if (tag === 0x22) spec.renewTime = reader.microTime();
      else reader.skip(tag);
    }
    reader.exit(end);
  }

  #node(end: number): KubeObject {
    const reader = this.#source;
    const node = {
      metadata: {},
      spec: { unschedulable: false, taints: noFields },
      status: { conditions: noConditions, nodeInfo: { bootID: '' }, addresses: noFields, daemonEndpoints: noEndpoints },
    };
    const taints: ObjectFields[] = [];
    const conditions: NodeCondition[] = [];
    const addresses: ObjectFields[] = [];
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === 0x0a) node.metadata = this.#meta.read('few');
      else if (tag === 0x12) this.#nodeSpec(node.spec, taints);
      else if (tag === 0x1a) this.#nodeStatus(node.status, conditions, addresses);
      else reader.skip(tag);
    }
    reader.exit(end);
    // Copies: an array that was appended to keeps spare capacity as long as the node is cached.
    if (taints.length > 0) node.spec.taints = taints.slice();
    if (conditions.length > 0) node.status.conditions = conditions.slice();
    if (addresses.length > 0) node.status.addresses = addresses;
    return node;
  }

  #nodeSpec(spec: { unschedulable: boolean }, taints: ObjectFields[]): void {
    const reader = this.#source;
    reader.message((tag) => {
      if (tag === 0x20) spec.unschedulable = reader.flag();
      else if (tag === 0x2a) append(taints, taintList, reader, readTaint);
      else reader.skip(tag);
    });
  }

  #nodeStatus(
    status: { nodeInfo: { bootID: string }; daemonEndpoints: ObjectFields },
    conditions: NodeCondition[],
    addresses: ObjectFields[],
  ): void {
    const reader = this.#source;
    reader.message((tag) => {
      if (tag === 0x22) append(conditions, conditionList, reader, readNodeCondition);
      else if (tag === 0x2a) append(addresses, addressList, reader, readNodeAddress);
      else if (tag === 0x32) status.daemonEndpoints = readFields(reader, endpointsFields);
      else if (tag === 0x3a) this.#nodeInfo(status.nodeInfo);
      else reader.skip(tag);
    });
  }

  #nodeInfo(info: { bootID: string }): void {
    const reader = this.#source;
    reader.message((tag) => {
      if (tag === 0x1a) info.bootID = reader.text();
      else reader.skip(tag);
    });
  }

  #pod(end: number): KubeObject {
    const reader = this.#source;
    const pod = {
      metadata: {},
      spec: { nodeName: '', tolerations: noFields },
      status: { phase: '', reason: '', conditions: [] },
    };
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === 0x0a) pod.metadata = this.#meta.read('many');
      else if (tag === 0x12) this.#podSpec(pod.spec);
      else if (tag === 0x1a) this.#podStatus(pod.status);
      else reader.skip(tag);
    }
    reader.exit(end);
    return pod;
  }

  #podSpec(spec: { nodeName: string; tolerations: readonly ObjectFields[] }): void {
    const reader = this.#source;
    const end = reader.enter();
    while (reader.at < end) {
      const from = reader.at;
      const tag = reader.tag();
      if (tag === 0x52) spec.nodeName = reader.text();
      else if (tag === tolerationsTag)
        spec.tolerations = this.#joined(spec.tolerations, from, reader.skipRun(tag, end));
      else reader.skip(tag);
    }
    reader.exit(end);
  }

  /** The consecutive tolerations from `from` to `to`. Most pods have the same ones, which are shared. */
  #sharedTolerations(from: number, to: number): readonly ObjectFields[] {
    const reader = this.#source;
    const known = this.#tolerations.get(reader, from, to);
    if (known !== undefined) return known;
    const tolerations: ObjectFields[] = [];
    this.#appendTolerations(tolerations, from, to);
    this.#tolerations.set(reader, from, to, tolerations);
    return tolerations;
  }

  /** Further tolerations of the same pod, from `from` to `to`, after other fields. */
  #joined(before: readonly ObjectFields[], from: number, to: number): readonly ObjectFields[] {
    if (before.length === 0) return this.#sharedTolerations(from, to);
    if (before.length > tolerationList.max) return before;
    const tolerations = before.slice();
    this.#appendTolerations(tolerations, from, to);
    return tolerations;
  }

  #appendTolerations(tolerations: ObjectFields[], from: number, to: number): void {
    const reader = this.#source;
    reader.at = from;
    while (reader.at < to && tolerations.length <= tolerationList.max) {
      reader.tag();
      append(tolerations, tolerationList, reader, readToleration);
    }
    reader.at = to;
  }

  #podStatus(status: { phase: string; reason: string; readonly conditions: PodCondition[] }): void {
    const reader = this.#source;
    const end = reader.enter();
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === 0x0a) status.phase = reader.text();
      else if (tag === 0x12) append(status.conditions, conditionList, reader, readPodCondition);
      else if (tag === 0x22) status.reason = reader.text();
      else reader.skip(tag);
    }
    reader.exit(end);
  }
}

const noTime: string | null = null;
/** Field 22: a tag of two bytes. */
const tolerationsTag = (22 << 3) | 2;
const noFields: readonly ObjectFields[] = [];
const noConditions: readonly NodeCondition[] = [];
