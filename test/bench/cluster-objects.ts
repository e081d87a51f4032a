// A lease, a pod and a node as in real clusters, in both encodings, with placeholders for the values that differ from
// object to object. Sizes are those of real objects: 0.9, 4.4 and 7.7 KB of JSON.
import { entry, envelope, field, frame, message } from '../support/protobuf-writer.ts';

/** Placeholders of fixed width, overwritten with digits. */
export const places = {
  object: '~~~~~~~',
  node: '^^^^^^^',
  workload: '||||||',
  namespace: '$$$',
  version: '!!!!!!!!!!',
} as const;
/** The fraction of a second of a heartbeat: digits in JSON, a five-byte number in protobuf. */
export const microPlace = '??????';
export const nanoPlace = 999_999_999;
/** The seconds of a heartbeat in protobuf, a five-byte number too. */
export const secondPlace = 1_999_999_999;

export type Kind = 'leases' | 'pods' | 'nodes';
export type Form = 'protobuf' | 'json';

const uid = (kind: string): string => `8f14e45f-ceea-467f-a8a2-${kind}${places.object}`;
const second = 1_795_243_340;
const secondText = '2026-11-21T06:42:20';
const times = { seconds: field(1, second), text: `${secondText}Z` };
const aTime = message(times.seconds, field(2, 0));

interface Meta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  /** Bytes of managed fields. */
  readonly managed: number;
}

function managedFields(bytes: number): string {
  const one = '"f:lastHeartbeatTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{},';
  return `{"f:status":{${one.repeat(Math.ceil(bytes / one.length)).slice(0, -1)}}}`;
}

function metaBytes(meta: Meta): Buffer {
  const { apiVersion, kind, name } = meta.owner;
  const owner = message(field(1, kind), field(3, name), field(4, uid('0')), field(5, apiVersion), field(6, 1));
  const managed = message(
    field(1, 'kubelet'),
    field(2, 'Update'),
    field(3, 'v1'),
    field(4, aTime),
    field(6, 'FieldsV1'),
    field(7, field(1, managedFields(meta.managed))),
  );
  return message(
    field(1, meta.name),
    field(2, ''),
    field(3, meta.namespace ?? ''),
    field(4, ''),
    field(5, meta.uid),
    field(6, places.version),
    field(7, 1),
    field(8, aTime),
    ...Object.entries(meta.labels).map(([key, value]) => entry(11, key, value)),
    ...Object.entries(meta.annotations).map(([key, value]) => entry(12, key, value)),
    field(13, owner),
    field(17, managed),
  );
}

function metaJson(meta: Meta): object {
  const { name, namespace, labels, annotations, owner } = meta;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: meta.uid,
    resourceVersion: places.version,
    generation: 1,
    creationTimestamp: times.text,
    labels,
    annotations,
    ownerReferences: [{ ...owner, uid: uid('0'), controller: true }],
    managedFields: [
      {
        manager: 'kubelet',
        operation: 'Update',
        apiVersion: 'v1',
        time: times.text,
        fieldsType: 'FieldsV1',
        fieldsV1: JSON.parse(managedFields(meta.managed)) as object,
      },
    ],
  };
}

const leaseMeta: Meta = {
  name: `node-${places.object}`,
  namespace: 'kube-node-lease',
  uid: uid('1'),
  labels: {},
  annotations: {},
  owner: { apiVersion: 'v1', kind: 'Node', name: `node-${places.object}` },
  managed: 200,
};

function leaseBytes(): Buffer {
  const renewTime = message(field(1, secondPlace), field(2, nanoPlace));
  const spec = message(field(1, leaseMeta.name), field(2, 40), field(4, renewTime));
  return message(field(1, metaBytes(leaseMeta)), field(2, spec));
}

const leaseJson = (): object => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: metaJson(leaseMeta),
  spec: {
    holderIdentity: leaseMeta.name,
    leaseDurationSeconds: 40,
    renewTime: `${secondText}.${microPlace}Z`,
  },
});

const conditions = (types: readonly string[]): readonly (readonly [string, string, string])[] =>
  types.map((type) => [type, `Kubelet${type}`, `kubelet reports no problem for ${type}`]);

/** Of a healthy node or pod. */
const statusOf = (type: string): string => (type.endsWith('Pressure') ? 'False' : 'True');

function conditionBytes(heartbeats: boolean, types: readonly string[]): readonly Buffer[] {
  return conditions(types).map(([type, reason, text]) =>
    message(
      field(1, type),
      field(2, statusOf(type)),
      field(3, heartbeats ? aTime : ''),
      field(4, aTime),
      field(5, reason),
      field(6, text),
    ),
  );
}

function conditionJson(heartbeats: boolean, types: readonly string[]): readonly object[] {
  return conditions(types).map(([type, reason, text]) => ({
    type,
    status: statusOf(type),
    [heartbeats ? 'lastHeartbeatTime' : 'lastProbeTime']: heartbeats ? times.text : null,
    lastTransitionTime: times.text,
    reason,
    message: text,
  }));
}

const podMeta: Meta = {
  name: `workload-${places.workload}-5d4f8c7b9-${places.object}`,
  namespace: `team-${places.namespace}`,
  uid: uid('2'),
  labels: {
    'app.kubernetes.io/name': `workload-${places.workload}`,
    'app.kubernetes.io/part-of': 'shop',
    'pod-template-hash': '5d4f8c7b9',
  },
  annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' },
  owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `workload-${places.workload}-5d4f8c7b9` },
  managed: 1_500,
};
const podConditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
const tolerationKeys = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const filler = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

function podBytes(): Buffer {
  const env = filler(8).map((n) => field(7, message(field(1, `VARIABLE_${n}`), field(2, `value-of-variable-${n}`))));
  const container = message(field(1, 'main'), field(2, 'registry.example.com/shop/main:1.2.3'), ...env);
  const tolerations = tolerationKeys.map((key) =>
    field(22, message(field(1, key), field(2, 'Exists'), field(3, ''), field(4, 'NoExecute'), field(5, 300))),
  );
  const spec = message(
    field(2, container),
    field(3, 'Always'),
    field(4, 30),
    field(6, 'ClusterFirst'),
    field(8, 'default'),
    field(10, `node-${places.node}`),
    ...tolerations,
  );
  const status = message(
    field(1, 'Running'),
    ...conditionBytes(false, podConditions).map((condition) => field(2, condition)),
    field(3, ''),
    field(4, ''),
    field(5, '10.0.0.1'),
    field(6, '10.1.0.1'),
    field(8, message(field(1, 'main'), field(6, 'registry.example.com/shop/main:1.2.3'), field(7, 'x'.repeat(130)))),
  );
  return message(field(1, metaBytes(podMeta)), field(2, spec), field(3, status));
}

const podJson = (): object => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: metaJson(podMeta),
  spec: {
    containers: [
      {
        name: 'main',
        image: 'registry.example.com/shop/main:1.2.3',
        env: filler(8).map((n) => ({ name: `VARIABLE_${n}`, value: `value-of-variable-${n}` })),
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    nodeName: `node-${places.node}`,
    tolerations: tolerationKeys.map((key) => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
  },
  status: {
    phase: 'Running',
    conditions: conditionJson(false, podConditions),
    hostIP: '10.0.0.1',
    podIP: '10.1.0.1',
    podIPs: [{ ip: '10.1.0.1' }],
    startTime: times.text,
    containerStatuses: [
      { name: 'main', ready: true, restartCount: 0, image: 'i', imageID: 'x'.repeat(130), state: { running: {} } },
    ],
    qosClass: 'BestEffort',
  },
});

const nodeMeta: Meta = {
  name: `node-${places.object}`,
  uid: uid('3'),
  labels: {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/instance-type': 'm5.large',
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': `node-${places.object}`,
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': 'm5.large',
    'topology.kubernetes.io/region': 'eu-west-1',
    'topology.kubernetes.io/zone': `zone-${places.namespace}`,
  },
  annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
  owner: { apiVersion: 'v1', kind: 'Machine', name: 'm' },
  managed: 2_500,
};
const nodeConditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];
const image = (n: number): string => `registry.example.com/shop/image-${n}@sha256:${'0123456789abcdef'.repeat(4)}`;

function nodeBytes(): Buffer {
  const status = message(
    ...conditionBytes(true, nodeConditions).map((condition) => field(4, condition)),
    field(5, message(field(1, 'InternalIP'), field(2, '10.0.0.1'))),
    ...filler(20).map((n) => field(8, message(field(1, image(n)), field(2, 123_456_789)))),
  );
  const spec = message(field(1, '10.0.0.0/24'), field(3, 'aws:///eu-west-1a/i-0123456789'), field(4, 0));
  return message(field(1, metaBytes(nodeMeta)), field(2, spec), field(3, status));
}

const nodeJson = (): object => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: metaJson(nodeMeta),
  spec: { podCIDR: '10.0.0.0/24', providerID: 'aws:///eu-west-1a/i-0123456789' },
  status: {
    conditions: conditionJson(true, nodeConditions),
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
    images: filler(20).map((n) => ({ names: [image(n)], sizeBytes: 123_456_789 })),
  },
});

const objects = {
  leases: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', bytes: leaseBytes, json: leaseJson },
  pods: { apiVersion: 'v1', kind: 'Pod', bytes: podBytes, json: podJson },
  nodes: { apiVersion: 'v1', kind: 'Node', bytes: nodeBytes, json: nodeJson },
} as const;

/** One event of a watch. */
export function eventBytes(kind: Kind, form: Form, type: string): Buffer {
  const { apiVersion, kind: name, bytes, json } = objects[kind];
  if (form === 'json') return Buffer.from(`${JSON.stringify({ type, object: json() })}\n`);
  return frame(type, envelope(apiVersion, name, bytes()));
}

/** A bookmark; the one at the end of the initial state is annotated. */
export function bookmarkBytes(kind: Kind, form: Form, version: string, endsInitialState = true): Buffer {
  const { apiVersion, kind: name } = objects[kind];
  const annotations = endsInitialState ? { 'k8s.io/initial-events-end': 'true' } : {};
  if (form === 'protobuf') {
    const entries = Object.entries(annotations).map(([key, value]) => entry(12, key, value));
    const meta = message(field(6, version), ...entries);
    return frame('BOOKMARK', envelope(apiVersion, name, field(1, meta)));
  }
  const object = { metadata: { resourceVersion: version, annotations } };
  return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
}
