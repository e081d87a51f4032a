// Roles, admission, flow control, scheduling and devices.
import { anObject, type PrintedObject } from './printed-object.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const admission = '/apis/admissionregistration.k8s.io/v1';
const flowControl = '/apis/flowcontrol.apiserver.k8s.io/v1';
const resource = '/apis/resource.k8s.io/v1';

const apiGroup = 'rbac.authorization.k8s.io';
const subjects = [
  { kind: 'ServiceAccount', namespace: 'kube-system', name: 'a' },
  { kind: 'Group', apiGroup, name: 'system:nodes' },
  { kind: 'User', apiGroup, name: 'u2' },
  { kind: 'User', apiGroup, name: 'u1' },
  { kind: 'ServiceAccount', namespace: 'default', name: 'b' },
];

const accessObjects: readonly PrintedObject[] = [
  anObject(`${rbac}/namespaces/default/roles`, 'reader', { rules: [] }),
  anObject(`${rbac}/clusterroles`, 'own-reader', { rules: [] }),
  anObject(`${rbac}/namespaces/default/rolebindings`, 'few', { roleRef: { apiGroup, kind: 'Role', name: 'reader' } }),
  anObject(`${rbac}/namespaces/default/rolebindings`, 'many', {
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'own-reader' },
    subjects,
  }),
  anObject(`${rbac}/clusterrolebindings`, 'own-few', {
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'own-reader' },
  }),
  anObject(`${rbac}/clusterrolebindings`, 'own-many', {
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'own-reader' },
    subjects,
  }),
];

const rules = [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets'] }];
const webhook = {
  rules,
  clientConfig: { url: 'https://webhook.example.com' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const webhooks = ['a.example.com', 'b.example.com'].map((name) => ({ name, ...webhook }));
const matchConstraints = { resourceRules: rules };
const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
const validations = [{ expression: 'true' }, { expression: 'object.spec.size < 7' }];
const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }];

function bindings(plural: string, spec: object): readonly PrintedObject[] {
  const path = `${admission}/${plural}`;
  const parameterNotFoundAction = 'Allow';
  const selector = {
    matchLabels: { b: '2', a: '1' },
    matchExpressions: [
      { key: 'c', operator: 'In', values: ['y', 'x'] },
      { key: 'd', operator: 'Exists' },
    ],
  };
  return [
    anObject(path, 'few', { spec: { policyName: 'few', ...spec } }),
    anObject(path, 'named', {
      spec: { policyName: 'many', ...spec, paramRef: { name: 'p', parameterNotFoundAction } },
    }),
    anObject(path, 'placed', {
      spec: { policyName: 'many', ...spec, paramRef: { name: 'p', namespace: 'default', parameterNotFoundAction } },
    }),
    anObject(path, 'selected', {
      spec: { policyName: 'many', ...spec, paramRef: { selector, parameterNotFoundAction } },
    }),
    anObject(path, 'all-selected', {
      spec: { policyName: 'many', ...spec, paramRef: { selector: {}, parameterNotFoundAction } },
    }),
  ];
}

const admissionObjects: readonly PrintedObject[] = [
  anObject(`${admission}/mutatingwebhookconfigurations`, 'none'),
  anObject(`${admission}/mutatingwebhookconfigurations`, 'two', { webhooks }),
  anObject(`${admission}/validatingwebhookconfigurations`, 'none'),
  anObject(`${admission}/validatingwebhookconfigurations`, 'two', { webhooks }),
  anObject(`${admission}/validatingadmissionpolicies`, 'few', {
    spec: { matchConstraints, validations: validations.slice(1) },
  }),
  anObject(`${admission}/validatingadmissionpolicies`, 'many', { spec: { matchConstraints, validations, paramKind } }),
  anObject(`${admission}/mutatingadmissionpolicies`, 'few', {
    spec: { matchConstraints, mutations, reinvocationPolicy: 'Never' },
  }),
  anObject(`${admission}/mutatingadmissionpolicies`, 'many', {
    spec: {
      matchConstraints,
      mutations: [...mutations, ...mutations],
      reinvocationPolicy: 'IfNeeded',
      paramKind: { apiVersion: 'rules.example.com/v1', kind: 'Parameters' },
    },
  }),
  ...bindings('validatingadmissionpolicybindings', { validationActions: ['Deny'] }),
  ...bindings('mutatingadmissionpolicybindings', {}),
];

const flowObjects: readonly PrintedObject[] = [
  anObject(`${flowControl}/flowschemas`, 'own-few', {
    spec: { priorityLevelConfiguration: { name: 'own-rejects' }, matchingPrecedence: 9_000, rules: [] },
  }),
  anObject(
    `${flowControl}/flowschemas`,
    'own-many',
    {
      spec: {
        priorityLevelConfiguration: { name: 'absent' },
        matchingPrecedence: 8_999,
        distinguisherMethod: { type: 'ByNamespace' },
        rules: [],
      },
    },
    {
      status: {
        conditions: [
          { type: 'Dangling', status: 'True', reason: 'NotFound', lastTransitionTime: '2026-01-02T03:04:05Z' },
        ],
      },
    },
  ),
  anObject(`${flowControl}/prioritylevelconfigurations`, 'own-rejects', {
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 7, limitResponse: { type: 'Reject' } } },
  }),
  anObject(`${flowControl}/prioritylevelconfigurations`, 'own-queues', {
    spec: {
      type: 'Limited',
      limited: {
        limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 20 } },
      },
    },
  }),
];

const schedulingObjects: readonly PrintedObject[] = [
  anObject('/apis/scheduling.k8s.io/v1/priorityclasses', 'few', { value: 7 }),
  anObject('/apis/scheduling.k8s.io/v1/priorityclasses', 'many', {
    value: -1_000_000,
    globalDefault: true,
    preemptionPolicy: 'Never',
    description: 'x',
  }),
  anObject('/apis/node.k8s.io/v1/runtimeclasses', 'gvisor', { handler: 'runsc', overhead: { podFixed: { cpu: '1' } } }),
];

const exactly = { deviceClassName: 'gpu.example.com' };
const claimSpec = { devices: { requests: [{ name: 'r', exactly }] } };
const claims = `${resource}/namespaces/default/resourceclaims`;
const allocation = {
  devices: { results: [{ request: 'r', driver: 'gpu.example.com', pool: 'p', device: 'd' }] },
};
const reservedFor = [{ resource: 'pods', name: 'p', uid: 'u' }];
const pool = { name: 'p', generation: 1, resourceSliceCount: 1 };

const deviceObjects: readonly PrintedObject[] = [
  anObject(`${resource}/deviceclasses`, 'gpu.example.com', { spec: {} }),
  anObject(`${resource}/namespaces/default/resourceclaimtemplates`, 't', { spec: { spec: claimSpec } }),
  anObject(claims, 'pending', { spec: claimSpec }),
  anObject(claims, 'allocated', { spec: claimSpec }, { status: { allocation } }),
  anObject(claims, 'reserved', { spec: claimSpec }, { status: { allocation, reservedFor } }),
  anObject(claims, 'leaves', { spec: claimSpec }, { deleted: true }),
  anObject(claims, 'leaves-reserved', { spec: claimSpec }, { deleted: true, status: { allocation, reservedFor } }),
  anObject(`${resource}/resourceslices`, 'on-node', {
    spec: { driver: 'gpu.example.com', nodeName: 'worker', pool, devices: [{ name: 'd' }] },
  }),
  anObject(`${resource}/resourceslices`, 'everywhere', {
    spec: { driver: 'net.example.com', allNodes: true, pool: { ...pool, name: 'q' } },
  }),
];

export const clusterObjects: readonly PrintedObject[] = [
  ...accessObjects,
  ...admissionObjects,
  ...flowObjects,
  ...schedulingObjects,
  ...deviceObjects,
];
