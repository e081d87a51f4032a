// Nodes, pods and leases from protobuf, in the shape that JSON would have given them, as far as the views look: what no
// view reads is skipped where it stands. The numbers are the field numbers of Kubernetes' generated.proto files, which
// never change; a message's fields may come in any order and more than once.
import type { KubeObject, ObjectMeta } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import { ProtobufMeta } from './protobuf-meta.ts';
import type { ProtobufSource } from './protobuf-source.ts';
import { PartCache } from './text-cache.ts';

/** The resources that are read as protobuf. */
export type ProtobufResource = Extract<ResourceName, 'nodes' | 'pods' | 'leases'>;

export function isProtobufResource(resource: ResourceName): resource is ProtobufResource {
  return resource === 'nodes' || resource === 'pods' || resource === 'leases';
}

type Fields = Record<string, unknown>;
type ReadField = (source: ProtobufSource) => unknown;

/** What a field is called in JSON, and how it is read. */
interface Field {
  readonly name: string;
  readonly read: ReadField;
  /** JSON leaves it out where it is zero. */
  readonly omitZero: boolean;
}

type FieldTable = ReadonlyMap<number, Field>;

const text: ReadField = (source) => source.text();
const time: ReadField = (source) => source.time();
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
  // A pointer in Go: it is there exactly where it was set, be it to zero.
  [0x28, required('tolerationSeconds', (source) => source.int64())],
]);

function readFields(source: ProtobufSource, table: FieldTable): Fields {
  const fields: Fields = {};
  const end = source.enter();
  while (source.at < end) {
    const tag = source.tag();
    const field = table.get(tag);
    if (field === undefined) source.skip(tag);
    else {
      const value = field.read(source);
      if (!field.omitZero || (value !== '' && value !== null)) fields[field.name] = value;
    }
  }
  source.leave(end);
  return fields;
}

// A node has five conditions or more, a pod as many: these are read without a table, into objects that are whole from the
// beginning.

interface NodeCondition {
  type: string;
  status: string;
  lastHeartbeatTime: string | null;
  lastTransitionTime: string | null;
  reason?: string;
  message?: string;
}

function readNodeCondition(source: ProtobufSource): NodeCondition {
  const condition = {
    type: '',
    status: '',
    lastHeartbeatTime: noTime,
    lastTransitionTime: noTime,
    reason: '',
    message: '',
  };
  const end = source.enter();
  while (source.at < end) readConditionField(source, condition, source.tag());
  source.leave(end);
  return condition.reason === '' || condition.message === '' ? withoutEmptyTexts(condition) : condition;
}

function readConditionField(source: ProtobufSource, condition: NodeCondition, tag: number): void {
  switch (tag) {
    case 0x0a:
      condition.type = source.text();
      break;
    case 0x12:
      condition.status = source.text();
      break;
    case 0x1a:
      condition.lastHeartbeatTime = source.time();
      break;
    case 0x22:
      condition.lastTransitionTime = source.time();
      break;
    case 0x2a:
      condition.reason = source.text();
      break;
    case 0x32:
      condition.message = source.text();
      break;
    default:
      source.skip(tag);
  }
}

function withoutEmptyTexts({ reason = '', message = '', ...rest }: NodeCondition): NodeCondition {
  return { ...rest, ...(reason === '' ? {} : { reason }), ...(message === '' ? {} : { message }) };
}

interface PodCondition {
  type: string;
  status: string;
  reason: string;
}

function readPodCondition(source: ProtobufSource): PodCondition {
  const condition = { type: '', status: '', reason: '' };
  const end = source.enter();
  while (source.at < end) {
    const tag = source.tag();
    if (tag === 0x0a) condition.type = source.text();
    else if (tag === 0x12) condition.status = source.text();
    else if (tag === 0x2a) condition.reason = source.text();
    else source.skip(tag);
  }
  source.leave(end);
  return condition;
}

/** Reads the objects of one kind after the other from one source. */
export class ProtobufObjects {
  readonly #source: ProtobufSource;
  readonly #meta: ProtobufMeta;
  readonly #tolerations = new PartCache<readonly Fields[]>();

  constructor(source: ProtobufSource) {
    this.#source = source;
    this.#meta = new ProtobufMeta(source);
  }

  /** The object that lies between here and `end`. Throws a MalformedProtobufError. */
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

  /** A bookmark is an object of the watched kind of which only the metadata says anything. */
  readBookmark(end: number): KubeObject {
    const source = this.#source;
    let metadata: ObjectMeta = {};
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x0a) metadata = this.#meta.readBookmark();
      else source.skip(tag);
    }
    source.leave(end);
    return { metadata };
  }

  #lease(end: number): KubeObject {
    const source = this.#source;
    let metadata: ObjectMeta = {};
    let renewTime: string | null = null;
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x0a) metadata = this.#meta.read('few');
      else if (tag === 0x12) renewTime = this.#renewTime();
      else source.skip(tag);
    }
    source.leave(end);
    const lease = { metadata, spec: { renewTime } };
    return lease;
  }

  #renewTime(): string | null {
    const source = this.#source;
    let renewTime: string | null = null;
    const end = source.enter();
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x22) renewTime = source.microTime();
      else source.skip(tag);
    }
    source.leave(end);
    return renewTime;
  }

  #node(end: number): KubeObject {
    const source = this.#source;
    const node = {
      metadata: {},
      spec: { unschedulable: false, taints: noFields },
      status: { conditions: noConditions, nodeInfo: { bootID: '' } },
    };
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x0a) node.metadata = this.#meta.read('few');
      else if (tag === 0x12) this.#nodeSpec(node.spec);
      else if (tag === 0x1a) this.#nodeStatus(node.status);
      else source.skip(tag);
    }
    source.leave(end);
    return node;
  }

  #nodeSpec(spec: { unschedulable: boolean; taints: readonly Fields[] }): void {
    const source = this.#source;
    const end = source.enter();
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x20) spec.unschedulable = source.flag();
      else if (tag === 0x2a) spec.taints = [...spec.taints, readFields(source, taintFields)];
      else source.skip(tag);
    }
    source.leave(end);
  }

  #nodeStatus(status: { conditions: readonly NodeCondition[]; nodeInfo: { bootID: string } }): void {
    const source = this.#source;
    const conditions = [...status.conditions];
    const end = source.enter();
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x22) conditions.push(readNodeCondition(source));
      else if (tag === 0x3a) this.#nodeInfo(status.nodeInfo);
      else source.skip(tag);
    }
    source.leave(end);
    // A list that grew has room for more, which is kept as long as the node is.
    status.conditions = [...conditions];
  }

  #nodeInfo(info: { bootID: string }): void {
    const source = this.#source;
    const end = source.enter();
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x1a) info.bootID = source.text();
      else source.skip(tag);
    }
    source.leave(end);
  }

  #pod(end: number): KubeObject {
    const source = this.#source;
    const pod = {
      metadata: {},
      spec: { nodeName: '', tolerations: noFields },
      status: { phase: '', reason: '', conditions: [] },
    };
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x0a) pod.metadata = this.#meta.read('many');
      else if (tag === 0x12) this.#podSpec(pod.spec);
      else if (tag === 0x1a) this.#podStatus(pod.status);
      else source.skip(tag);
    }
    source.leave(end);
    return pod;
  }

  #podSpec(spec: { nodeName: string; tolerations: readonly Fields[] }): void {
    const source = this.#source;
    const end = source.enter();
    while (source.at < end) {
      const from = source.at;
      const tag = source.tag();
      if (tag === 0x52) spec.nodeName = source.text();
      else if (tag === tolerationsTag)
        spec.tolerations = joined(spec.tolerations, this.#sharedTolerations(from, source.skipRun(tag, end)));
      else source.skip(tag);
    }
    source.leave(end);
  }

  /** The tolerations that follow each other at once, the first of which begins at `from`. Most pods have the same. */
  #sharedTolerations(from: number, to: number): readonly Fields[] {
    const source = this.#source;
    const known = this.#tolerations.get(source, from, to);
    if (known !== undefined) return known;
    const tolerations: Fields[] = [];
    source.at = from;
    while (source.at < to) {
      source.tag();
      tolerations.push(readFields(source, tolerationFields));
    }
    this.#tolerations.set(source, from, to, tolerations);
    return tolerations;
  }

  #podStatus(status: { phase: string; reason: string; readonly conditions: PodCondition[] }): void {
    const source = this.#source;
    const end = source.enter();
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x0a) status.phase = source.text();
      else if (tag === 0x12) status.conditions.push(readPodCondition(source));
      else if (tag === 0x22) status.reason = source.text();
      else source.skip(tag);
    }
    source.leave(end);
  }
}

const noTime: string | null = null;
/** Field 22, so a tag of two bytes. */
const tolerationsTag = (22 << 3) | 2;
const noFields: readonly Fields[] = [];
const noConditions: readonly NodeCondition[] = [];

function joined(before: readonly Fields[], more: readonly Fields[]): readonly Fields[] {
  return before.length === 0 ? more : [...before, ...more];
}
