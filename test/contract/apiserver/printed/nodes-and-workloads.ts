// Nodes, pods, events, leases and workloads for the table printers.
import { anObject, type PrintedObject } from './printed-object.ts';

const nodesPath = '/api/v1/nodes';
const podsPath = '/api/v1/namespaces/default/pods';
const eventsPath = '/api/v1/namespaces/default/events';
const newEventsPath = '/apis/events.k8s.io/v1/namespaces/default/events';
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const longAgo = '2026-01-02T03:04:05Z';

const nodes: readonly PrintedObject[] = [
  {
    path: nodesPath,
    body: {
      metadata: {
        name: 'worker',
        labels: {
          'node-role.kubernetes.io/worker': '',
          'node-role.kubernetes.io/edge': '',
          'kubernetes.io/role': 'old',
        },
      },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'ExternalIP', address: '192.0.2.1' },
        ],
        nodeInfo: { kubeletVersion: 'v1.36.3', osImage: 'Debian', kernelVersion: '6.12', architecture: 'arm64' },
      },
    },
  },
  {
    path: nodesPath,
    body: {
      metadata: { name: 'silent' },
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    },
  },
  { path: nodesPath, body: { metadata: { name: 'no-status' } } },
];

function aPod(name: string, status: Readonly<Record<string, unknown>>, spec: object = {}): PrintedObject {
  const metadata = { name, finalizers: ['example.com/keep'] };
  const containers = [{ name: 'c', image: 'i' }];
  return { path: podsPath, body: { metadata, spec: { nodeName: 'worker', containers, ...spec } }, status };
}

function aContainer(state: object, more: object = {}): object {
  return { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state, ...more };
}

const runs = { running: { startedAt: longAgo } };
const restarts = { restartCount: 3, lastState: { terminated: { exitCode: 1, finishedAt: longAgo } } };

const pods: readonly PrintedObject[] = [
  aPod('waits', { phase: 'Pending' }),
  aPod('restarted', {
    phase: 'Running',
    podIP: '10.1.1.1',
    podIPs: [{ ip: '10.1.1.1' }],
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [aContainer(runs, { ready: true, ...restarts })],
  }),
  aPod('crashes', { phase: 'Running', containerStatuses: [aContainer({ waiting: { reason: 'CrashLoopBackOff' } })] }),
  aPod(
    'initialises',
    {
      phase: 'Pending',
      initContainerStatuses: [
        aContainer({ terminated: { exitCode: 0 } }, { name: 'a', ready: true, restartCount: 1 }),
        aContainer({ waiting: { reason: 'PodInitializing' } }, { name: 'b', restartCount: 2 }),
      ],
      containerStatuses: [aContainer({ waiting: { reason: 'PodInitializing' } })],
    },
    {
      initContainers: [
        { name: 'a', image: 'i' },
        { name: 'b', image: 'i' },
      ],
    },
  ),
  aPod(
    'sidecar',
    {
      phase: 'Running',
      initContainerStatuses: [aContainer(runs, { name: 'a', ready: true, started: true, restartCount: 1 })],
      containerStatuses: [aContainer(runs, { ready: true })],
    },
    { initContainers: [{ name: 'a', image: 'i', restartPolicy: 'Always' }] },
  ),
  aPod('done', {
    phase: 'Succeeded',
    containerStatuses: [aContainer({ terminated: { exitCode: 0, reason: 'Completed' } })],
  }),
  aPod('killed', { phase: 'Failed', containerStatuses: [aContainer({ terminated: { exitCode: 137, signal: 9 } })] }),
  aPod('evicted', { phase: 'Failed', reason: 'Evicted' }),
  aPod(
    'gated',
    { phase: 'Running', conditions: [{ type: 'example.com/a', status: 'True' }] },
    { readinessGates: [{ conditionType: 'example.com/a' }, { conditionType: 'example.com/b' }] },
  ),
  { ...aPod('leaves', { phase: 'Running' }), deleted: true },
  { ...aPod('lost', { phase: 'Running', reason: 'NodeLost' }), deleted: true },
];

const events: readonly PrintedObject[] = [
  {
    path: eventsPath,
    body: {
      metadata: { name: 'repeated' },
      involvedObject: { kind: 'Node', name: 'worker', fieldPath: 'spec.x' },
      type: 'Normal',
      reason: 'Reported',
      message: ' something \n',
      source: { component: 'reporter', host: 'h' },
      firstTimestamp: longAgo,
      lastTimestamp: longAgo,
      count: 4,
    },
  },
  {
    path: newEventsPath,
    body: {
      metadata: { name: 'series' },
      regarding: { kind: 'Node', name: 'worker' },
      type: 'Normal',
      reason: 'Reported',
      action: 'Recording',
      note: 'something',
      eventTime: '2026-01-02T03:04:05.000000Z',
      series: { count: 5, lastObservedTime: '2026-01-02T04:04:05.000000Z' },
      reportingController: 'example.com/reporter',
      reportingInstance: 'i',
    },
  },
  {
    path: newEventsPath,
    body: {
      metadata: { name: 'once' },
      regarding: { kind: 'Node' },
      type: 'Normal',
      reason: 'Reported',
      action: 'Recording',
      eventTime: '2026-01-02T03:04:05.000000Z',
      reportingController: 'example.com/reporter',
      reportingInstance: 'i',
    },
  },
];

const template = {
  metadata: { labels: { a: 'x', b: '1' } },
  spec: {
    nodeSelector: { os: 'linux', arch: 'z' },
    containers: [
      { name: 'c', image: 'i' },
      { name: 'd', image: 'j' },
    ],
  },
};

const others: readonly PrintedObject[] = [
  { path: leasesPath, body: { metadata: { name: 'worker' }, spec: { holderIdentity: 'worker' } } },
  { path: leasesPath, body: { metadata: { name: 'free' }, spec: {} } },
  {
    path: '/apis/apps/v1/namespaces/default/daemonsets',
    body: {
      metadata: { name: 'everywhere' },
      spec: {
        selector: {
          matchLabels: { b: '1' },
          matchExpressions: [
            { key: 'c', operator: 'DoesNotExist' },
            { key: 'a', operator: 'Exists' },
            { key: 'd', operator: 'NotIn', values: ['2', '1'] },
          ],
        },
        template,
      },
    },
    status: {
      currentNumberScheduled: 4,
      numberMisscheduled: 0,
      desiredNumberScheduled: 5,
      numberReady: 3,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
    },
  },
];

const apps = '/apis/apps/v1/namespaces/default';
const labels = { app: 'x' };
const ownTemplate = { metadata: { labels }, spec: template.spec };

const workloads: readonly PrintedObject[] = [
  {
    path: `${apps}/deployments`,
    body: {
      metadata: { name: 'web' },
      spec: { replicas: 3, selector: { matchLabels: labels }, template: ownTemplate },
    },
    status: { replicas: 3, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 },
  },
  {
    path: `${apps}/replicasets`,
    body: {
      metadata: { name: 'web' },
      spec: { replicas: 4, selector: { matchLabels: labels }, template: ownTemplate },
    },
    status: { replicas: 3, readyReplicas: 2, availableReplicas: 1 },
  },
  {
    path: `${apps}/statefulsets`,
    body: {
      metadata: { name: 'db' },
      spec: { replicas: 2, serviceName: 'db', selector: { matchLabels: labels }, template: ownTemplate },
    },
    status: { replicas: 2, readyReplicas: 1 },
  },
  {
    path: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    body: { metadata: { name: 'minimum' }, spec: { minAvailable: '50%', selector: { matchLabels: labels } } },
    status: { disruptionsAllowed: 2, currentHealthy: 4, desiredHealthy: 2, expectedPods: 4, observedGeneration: 1 },
  },
  {
    path: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    body: { metadata: { name: 'maximum' }, spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'y' } } } },
  },
];

const core = '/api/v1/namespaces/default';

const coreObjects: readonly PrintedObject[] = [
  {
    path: `${core}/configmaps`,
    body: { metadata: { name: 'c' }, data: { a: '1', b: '2' }, binaryData: { c: 'YQ==' } },
  },
  { path: `${core}/configmaps`, body: { metadata: { name: 'empty' } } },
  { path: `${core}/serviceaccounts`, body: { metadata: { name: 'a' } } },
  anObject('/api/v1/namespaces', 'own'),
  anObject('/api/v1/namespaces', 'leaves', {}, { deleted: true }),
];

export const nodesAndWorkloads: readonly PrintedObject[] = [
  ...nodes,
  ...pods,
  ...events,
  ...others,
  ...workloads,
  ...coreObjects,
];
