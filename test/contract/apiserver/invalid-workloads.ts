/** Workloads that kube-apiserver rejects: Deployments, StatefulSets, DaemonSets and their pod templates. */
import { invalidChanges, invalidCreations, type InvalidRow } from './invalid-rows.ts';

const labels = { app: 'web' };
const selector = { matchLabels: labels };
const container = { name: 'main', image: 'registry.example/web:1' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const apps = { version: 'apis/apps/v1' } as const;

const deployment = { ...apps, plural: 'deployments', body: { spec: { selector, template } } };
const replicaSet = { ...apps, plural: 'replicasets', body: { spec: { selector, template } } };
const statefulSet = { ...apps, plural: 'statefulsets', body: { spec: { serviceName: 'web', selector, template } } };
const daemonSet = { ...apps, plural: 'daemonsets', body: { spec: { selector, template } } };
/** A Deployment whose only container has these fields. */
function withContainer(fields: object): object {
  return { spec: { template: { spec: { containers: [{ ...container, ...fields }] } } } };
}

function withPod(spec: object): object {
  return { spec: { template: { spec } } };
}

const badSelectors = {
  'no selector': { spec: { selector: null } },
  'an empty selector': { spec: { selector: { matchLabels: null } } },
  'labels that are not selected': { spec: { template: { metadata: { labels: { app: 'other' } } } } },
  'a template without labels': { spec: { template: { metadata: { labels: null } } } },
  'an unknown operator': {
    spec: { selector: { matchExpressions: [{ key: 'app', operator: 'Equals', values: ['web'] }] } },
  },
  'an operator without values': { spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } } },
  'an operator with values': {
    spec: { selector: { matchExpressions: [{ key: 'app', operator: 'Exists', values: ['web'] }] } },
  },
  'a selector with an invalid key': { spec: { selector: { matchLabels: { 'a b': 'c' } } } },
  'a selector with an invalid value': { spec: { selector: { matchLabels: { app: 'a b' } } } },
};

const badTemplates = {
  'another restart policy': withPod({ restartPolicy: 'Never' }),
  'an unknown restart policy': withPod({ restartPolicy: 'Sometimes' }),
  'a deadline of pods': withPod({ activeDeadlineSeconds: 5 }),
  'no containers': withPod({ containers: null }),
};

const deployments: readonly InvalidRow[] = [
  ...invalidCreations(deployment, {
    ...badSelectors,
    ...badTemplates,
    'an empty spec': { spec: { selector: null, template: null } },
    'negative numbers': {
      spec: { replicas: -1, minReadySeconds: -2, revisionHistoryLimit: -3 },
    },
    'a name in capital letters': { metadata: { name: 'Web' } },
    'a name that is too long': { metadata: { name: 'a'.repeat(254) } },
    'no name': { metadata: { name: '' } },
    'invalid labels': { metadata: { labels: { 'a b': 'c d', '/x': 'ok', 'Prefix/x': '-' } } },
    'invalid annotations': { metadata: { annotations: { 'a b': 'c', '/x': '', 'a/b/c': '' } } },
    'invalid finalizers': { metadata: { finalizers: ['one', 'a/b c', 'example.com/ok'] } },
    'invalid template labels': { spec: { template: { metadata: { labels: { app: 'web', 'a b': 'c' } } } } },
    'invalid template annotations': { spec: { template: { metadata: { annotations: { 'a b': 'c' } } } } },
  }),
  ...invalidCreations(deployment, {
    'a container without name': withContainer({ name: '' }),
    'a container with an invalid name': withContainer({ name: 'Main' }),
    'a container with a name with dots': withContainer({ name: 'main.one' }),
    'a container without image': withContainer({ image: null }),
    'an image with spaces': withContainer({ image: ' web ' }),
    'an unknown pull policy': withContainer({ imagePullPolicy: 'Sometimes' }),
    'an invalid port': withContainer({ ports: [{ containerPort: 0 }, { containerPort: 70_000, hostPort: -1 }] }),
    'an invalid port name': withContainer({
      ports: [
        { name: 'Web--1', containerPort: 80 },
        { name: '1', containerPort: 81 },
      ],
    }),
    'the same port name twice': withContainer({
      ports: [
        { name: 'a', containerPort: 80 },
        { name: 'a', containerPort: 81 },
      ],
    }),
    'an unknown protocol': withContainer({ ports: [{ containerPort: 80, protocol: 'HTTP' }] }),
    'the same host port twice': withContainer({
      ports: [
        { name: 'a', containerPort: 80, hostPort: 1 },
        { name: 'b', containerPort: 81, hostPort: 1 },
      ],
    }),
    'requests above limits': withContainer({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    'an unknown resource': withContainer({ resources: { requests: { 'cpu power': '2', gpus: '1' } } }),
    'negative resources': withContainer({ resources: { requests: { memory: '-1' } } }),
    'a probe with negative numbers': withContainer({
      readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: -1, periodSeconds: -1, failureThreshold: -1 },
    }),
    'a liveness probe with successes': withContainer({
      livenessProbe: { tcpSocket: { port: 80 }, successThreshold: 2 },
    }),
  }),
  ...invalidCreations(deployment, {
    'two containers of the same name': withPod({ containers: [container, container] }),
    'a container named as an init container': withPod({ initContainers: [container] }),
    'an init container that restarts seldom': withPod({
      initContainers: [{ ...container, name: 'init', restartPolicy: 'Seldom' }],
    }),
    'an invalid node selector': withPod({ nodeSelector: { 'a b': 'c d' } }),
    'an invalid node name': withPod({ nodeName: 'A' }),
    'an invalid account': withPod({ serviceAccountName: 'A' }),
    'an invalid host name': withPod({ hostname: 'A.b', subdomain: 'c_d' }),
    'a negative grace period': withPod({ terminationGracePeriodSeconds: -1 }),
    'invalid tolerations': withPod({
      tolerations: [
        { key: 'a b', operator: 'Exists', effect: 'NoSchedule' },
        { operator: 'Equal', effect: 'Never' },
        { key: 'a', operator: 'Exists', value: 'x' },
        { key: 'a', operator: 'In', tolerationSeconds: 5 },
        { key: 'a', value: 'a b' },
      ],
    }),
    'an invalid priority class': withPod({ priorityClassName: 'A' }),
    'an invalid runtime class': withPod({ runtimeClassName: 'A' }),
    'an unknown policy of preemption': withPod({ preemptionPolicy: 'Always' }),
    'invalid node affinity': withPod({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a', operator: 'In' },
                  { key: 'b', operator: 'Exists', values: ['x'] },
                ],
              },
              { matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['x'] }] },
            ],
          },
        },
      },
    }),
    'node affinity without terms': withPod({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } },
    }),
    'host ports on the network of the node': withPod({
      hostNetwork: true,
      containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 81 }] }],
    }),
  }),
  ...invalidChanges(deployment, {
    'another selector': {
      spec: { selector: { matchLabels: { tier: 'a' } }, template: { metadata: { labels: { tier: 'a' } } } },
    },
    'another name': { metadata: { name: 'other' } },
    'negative replicas': { spec: { replicas: -1 } },
  }),
];

const replicaSets: readonly InvalidRow[] = [
  ...invalidCreations(replicaSet, {
    ...badSelectors,
    ...badTemplates,
    'negative numbers': { spec: { replicas: -1, minReadySeconds: -1 } },
  }),
  ...invalidChanges(replicaSet, {
    'another selector': {
      spec: { selector: { matchLabels: { tier: 'a' } }, template: { metadata: { labels: { tier: 'a' } } } },
    },
  }),
];

const statefulSets: readonly InvalidRow[] = [
  ...invalidCreations(statefulSet, {
    ...badSelectors,
    ...badTemplates,
    'a name with dots': { metadata: { name: 'web.one' } },
    'negative numbers': { spec: { replicas: -1, minReadySeconds: -1 } },
  }),
  ...invalidChanges(statefulSet, {
    'another service': { spec: { serviceName: 'other' } },
    'another pod management': { spec: { podManagementPolicy: 'Parallel' } },
  }),
];

const daemonSets: readonly InvalidRow[] = [
  ...invalidCreations(daemonSet, {
    ...badSelectors,
    ...badTemplates,
    'negative numbers': { spec: { minReadySeconds: -1, revisionHistoryLimit: -1 } },
  }),
  ...invalidChanges(daemonSet, {
    'another selector': {
      spec: { selector: { matchLabels: { tier: 'a' } }, template: { metadata: { labels: { tier: 'a' } } } },
    },
  }),
];

export const invalidWorkloads: readonly InvalidRow[] = [...deployments, ...replicaSets, ...statefulSets, ...daemonSets];
