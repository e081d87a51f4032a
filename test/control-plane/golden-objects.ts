// Objects for the golden files: every field that a transform reads, set, absent, zero and with unusual values.

interface GoldenObject {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string };
  };
  readonly status?: Readonly<Record<string, unknown>>;
  /** Deleted after all objects are created. */
  readonly deleted?: true;
}

export const nodesPath = '/api/v1/nodes';
export const podsPath = '/api/v1/namespaces/default/pods';
export const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

const longAgo = '2026-01-02T03:04:05Z';
const epoch = '1970-01-01T00:00:00Z';
const manyLabels = Object.fromEntries(
  Array.from({ length: 24 }, (_, index) => [`example.com/label-${index}`, `value-${index}`]),
);

const condition = (type: string, more: object = {}): object => ({
  type,
  status: 'True',
  lastHeartbeatTime: longAgo,
  lastTransitionTime: '2025-12-31T23:59:59Z',
  reason: 'KubeletReady',
  message: 'kubelet is posting ready status · 準備完了 🚀',
  ...more,
});

const nodes: readonly GoldenObject[] = [
  {
    path: nodesPath,
    body: {
      metadata: {
        name: 'rich',
        labels: { 'topology.kubernetes.io/zone': 'z-1', 'kubernetes.io/hostname': 'rich', empty: '', ...manyLabels },
        annotations: { 'example.com/long': 'x'.repeat(3_000) },
        finalizers: ['example.com/keep'],
      },
      spec: {
        podCIDR: '10.0.0.0/24',
        podCIDRs: ['10.0.0.0/24'],
        providerID: 'cloud://rich',
        unschedulable: true,
        taints: [
          { key: 'example.com/a', value: 'v', effect: 'NoExecute', timeAdded: longAgo },
          { key: 'example.com/b', effect: 'NoSchedule' },
          { key: 'example.com/c', value: '', effect: 'PreferNoSchedule', timeAdded: epoch },
        ],
      },
    },
    status: {
      conditions: [
        condition('Ready'),
        condition('MemoryPressure', { status: 'False', reason: '', message: '' }),
        condition('DiskPressure', { status: 'Unknown', lastHeartbeatTime: null, lastTransitionTime: null }),
        condition('PIDPressure', { lastHeartbeatTime: epoch }),
      ],
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      capacity: { cpu: '4', memory: '16Gi', pods: '110' },
      allocatable: { cpu: '3900m', memory: '15Gi', pods: '110' },
      nodeInfo: { bootID: '6a1e1c6c-5d0e-4c55-9d3a-1f6c3b1f0a11', kubeletVersion: 'v1.37.2', osImage: 'Debian' },
      images: [{ names: ['registry/image:1'], sizeBytes: 123_456_789_012 }],
    },
  },
  { path: nodesPath, body: { metadata: { name: 'bare' } } },
  { path: nodesPath, body: { metadata: { name: 'gone' } }, deleted: true },
];

const containers = [{ name: 'c', image: 'registry/image:1', env: [{ name: 'A', value: 'b'.repeat(500) }] }];
const pod = (
  name: string,
  more: Omit<GoldenObject, 'path' | 'body'>,
  spec: object,
  meta: object = {},
): GoldenObject => ({
  path: podsPath,
  body: { metadata: { name, ...meta }, spec: { containers, ...spec } },
  ...more,
});

const pods: readonly GoldenObject[] = [
  pod(
    'rich',
    {
      status: {
        phase: 'Running',
        reason: 'NodeLost',
        conditions: [
          { type: 'Ready', status: 'False', lastTransitionTime: longAgo, reason: 'ContainersNotReady' },
          { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager', message: 'deleting' },
          { type: 'example.com/unusual', status: 'Unknown', observedGeneration: 3 },
        ],
        containerStatuses: [
          {
            name: 'c',
            image: 'i',
            imageID: '',
            ready: true,
            restartCount: 3,
            state: { running: { startedAt: longAgo } },
          },
        ],
        podIP: '10.1.1.1',
        podIPs: [{ ip: '10.1.1.1' }],
        startTime: longAgo,
      },
    },
    {
      nodeName: 'rich',
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: -5 },
        { key: 'example.com/a', operator: 'Equal', value: 'v', effect: 'NoSchedule' },
        { key: 'example.com/b', effect: 'NoExecute', tolerationSeconds: 4_102_444_800_123 },
        { operator: 'Exists' },
      ],
    },
    { labels: { app: 'rich', 'pod-template-hash': '5d4f8c7b9' } },
  ),
  pod('bare', {}, {}),
  pod(
    'leaving',
    { deleted: true },
    { nodeName: 'rich', terminationGracePeriodSeconds: 30 },
    { finalizers: ['example.com/keep'] },
  ),
  pod('done', { status: { phase: 'Succeeded' } }, { nodeName: 'bare' }),
  pod('gone', { deleted: true }, {}),
];

const leases: readonly GoldenObject[] = [
  {
    path: leasesPath,
    body: {
      metadata: { name: 'rich' },
      spec: {
        holderIdentity: 'rich',
        leaseDurationSeconds: 40,
        acquireTime: '2026-01-02T03:04:05.000001Z',
        renewTime: '2026-11-21T06:42:20.123456Z',
        leaseTransitions: 0,
      },
    },
  },
  { path: leasesPath, body: { metadata: { name: 'bare' } } },
  { path: leasesPath, body: { metadata: { name: 'whole' }, spec: { renewTime: '2026-11-21T06:42:20.000000Z' } } },
  { path: leasesPath, body: { metadata: { name: 'early' }, spec: { renewTime: '1969-12-31T23:59:59.999999Z' } } },
  { path: leasesPath, body: { metadata: { name: 'gone' } }, deleted: true },
];

export const goldenObjects: readonly GoldenObject[] = [...nodes, ...pods, ...leases];
