// The writes that a cluster's kubelets send most, on an object of the size of real ones, as bytes.
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { eventBytes, type Kind, microPlace, places } from './cluster-objects.ts';

/** One object and the writes to it. */
export interface WriteStream {
  readonly what: string;
  readonly method: 'PUT' | 'PATCH';
  readonly group: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly endpoint: '' | 'status';
  readonly kind: string;
  /** Who creates the object. */
  readonly creator: string;
  readonly object: Json;
  readonly contentType: string;
  /** The body of the write with that number, which changes something, of an object that was read before. */
  bodies(current: Json): (index: number, version: string) => Buffer;
}

export type Json = Readonly<Record<string, unknown>>;

const strategic = 'application/strategic-merge-patch+json';
const namespace = 'team-001';
const noManagers = { managedFields: undefined, resourceVersion: undefined, uid: undefined, generation: undefined };

/** Each write is ten seconds after the last one, as heartbeats are. */
export class HeartbeatClock extends SystemClock {
  #reads = 0;

  override nowMs(): number {
    this.#reads += 1;
    return 1_795_243_340_000 + this.#reads * 10_000;
  }
}

/** The object as its creator sends it; `index` is part of its name. */
export function makeObject(kind: Kind, index: number): Json {
  const digits = (length: number): string => String(index).padStart(length, '0').slice(-length);
  const text = eventBytes(kind, 'json', 'ADDED')
    .toString()
    .replaceAll(places.object, digits(places.object.length))
    .replaceAll(places.node, digits(places.node.length))
    .replaceAll(places.workload, digits(places.workload.length))
    .replaceAll(places.namespace, '001')
    .replaceAll(microPlace, '000000');
  const { object } = JSON.parse(text) as { readonly object: Json & { readonly metadata: Json } };
  return { ...object, metadata: { ...object.metadata, ...noManagers, ...ownersOf(kind, index) } };
}

/** A node has no owner, a lease that of its node, and ten pods have the same. */
function ownersOf(kind: Kind, index: number): Json {
  if (kind === 'nodes') return { ownerReferences: undefined };
  const [apiVersion, type, number] =
    kind === 'pods' ? ['apps/v1', 'ReplicaSet', Math.floor(index / 10)] : ['v1', 'Node', index];
  const uid = `8f14e45f-ceea-467f-a8a2-${String(number).padStart(12, '0')}`;
  return { ownerReferences: [{ apiVersion, kind: type, name: `owner-${number}`, uid, controller: true }] };
}

/** `prefix` keeps the objects of two servers or groups apart. */
export function listStreams(index: number): readonly WriteStream[] {
  return [nodeStatus(index), lease(index), podStatus(index)];
}

function nameOf(object: Json): string {
  return String((object['metadata'] as Json)['name']);
}

/** Times of whole seconds, as in `lastHeartbeatTime`. */
function secondOf(index: number): string {
  return new Date(1_795_243_400_000 + index * 1_000).toISOString().replace('.000', '');
}

function nodeStatus(index: number): WriteStream {
  const object = makeObject('nodes', index);
  const types = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];
  return {
    what: 'node status',
    method: 'PATCH',
    group: '',
    plural: 'nodes',
    namespace: undefined,
    name: nameOf(object),
    endpoint: 'status',
    kind: 'Node',
    creator: 'kubelet',
    object,
    contentType: strategic,
    bodies: () => (write) => {
      const conditions = types.map((type) => ({ type, lastHeartbeatTime: secondOf(write) }));
      const order = types.map((type) => ({ type }));
      return encode({ status: { '$setElementOrder/conditions': order, conditions } });
    },
  };
}

function lease(index: number): WriteStream {
  const object = makeObject('leases', index);
  const spec = object['spec'] as Json;
  return {
    what: 'lease renewal',
    method: 'PUT',
    group: 'coordination.k8s.io',
    plural: 'leases',
    namespace: 'kube-node-lease',
    name: nameOf(object),
    endpoint: '',
    kind: 'Lease',
    creator: 'kubelet',
    object,
    contentType: 'application/json',
    // As client-go's kubelets, with all that the server returned.
    bodies: ({ metadata }) => {
      const versioned = { ...(metadata as Json), resourceVersion: places.version };
      const text = JSON.stringify({ ...object, metadata: versioned, spec: { ...spec, renewTime: places.workload } });
      const [head, middle, tail] = text.split(/!+|\|+/u);
      return (write, version) =>
        Buffer.from(`${head}${version}${middle}${secondOf(write).replace('Z', '.000000Z')}${tail}`);
    },
  };
}

function podStatus(index: number): WriteStream {
  const object = makeObject('pods', index);
  return {
    what: 'pod status',
    method: 'PATCH',
    group: '',
    plural: 'pods',
    namespace,
    name: nameOf(object),
    endpoint: 'status',
    kind: 'Pod',
    creator: 'kube-controller-manager',
    object,
    contentType: strategic,
    bodies: () => (write) => {
      const types = ['Ready', 'ContainersReady'];
      const status = write % 2 === 0 ? 'False' : 'True';
      const conditions = types.map((type) => ({ type, status, lastTransitionTime: secondOf(write) }));
      const containerStatuses = [
        { name: 'main', ready: status === 'True', restartCount: write, image: 'i', imageID: 'x'.repeat(130) },
      ];
      return encode({ status: { conditions, containerStatuses } });
    },
  };
}

/** An Event, as a kubelet creates it. */
export function makeEvent(index: number): Json {
  const about = { kind: 'Pod', apiVersion: 'v1', namespace, name: `web-${index % 100}`, uid: `uid-${index % 100}` };
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: `web-${index % 100}.${index.toString(16)}`, namespace },
    involvedObject: { ...about, fieldPath: 'spec.containers{main}' },
    reason: 'Pulled',
    message: 'Container image "registry.example.com/shop/main:1.2.3" already present on machine',
    source: { component: 'kubelet', host: `node-${index % 100}` },
    firstTimestamp: secondOf(index),
    lastTimestamp: secondOf(index),
    count: 1,
    type: 'Normal',
    reportingComponent: 'kubelet',
    reportingInstance: `node-${index % 100}`,
  };
}

export function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
