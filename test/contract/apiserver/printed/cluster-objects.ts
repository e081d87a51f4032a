// Roles, certificates, admission, flow control, scheduling and devices.
import { anObject, type PrintedObject } from './printed-object.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
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

/** Of `CN=system:node:x,O=system:nodes`; its private key is gone. */
const request = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIcU1JR1JBZ0VBTUM4eEZqQVVCZ05WQkFNTURYTjVjM1JsYlRwdWIyUmxPbm',
  'd4RlRBVEJnTlZCQW9NREhONQpjM1JsYlRwdWIyUmxjekJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCS1ByckFXVnQrT0xBREEz',
  'CldLOXVIeVpkV3UxL0xBN3VIcDJRTzY4LzFMVklwUXQwdlNTYjBNQ0dsQ1NrVXZmRmNBcEJYd0xlZDlMWTgwQ0oKakJvL3dUNmdBREFLQmdncW',
  'hrak9QUVFEQWdOSUFEQkZBaUVBaTRIdkNlZkRnQTh4aXEzWjByV1puSDBacS9ydgpJeFRhL3RBM3JyM0NIMllDSUE5ZXg1b2FISGFoNVBpMDJj',
  'bFMzRk8vL0lNNWhLVklYN2Y1bG9selkweSsKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==',
].join('');
const certificate = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJiakNDQVJXZ0F3SUJBZ0lVTEd1ZGk4N25saHRwZzJLZG9UVDF4TW0vWHBRd0NnWUlLb1',
  'pJemowRUF3SXcKRERFS01BZ0dBMVVFQXd3QmVEQWdGdzB5TmpFeE1qWXdNVEE0TkRaYUdBOHlNVEkyTVRFd01qQXhNRGcwTmxvdwpEREVLTUFn',
  'R0ExVUVBd3dCZURCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OUF3RUhBMElBQktQcnJBV1Z0K09MCkFEQTNXSzl1SHlaZFd1MS9MQTd1SHAyUU',
  '82OC8xTFZJcFF0MHZTU2IwTUNHbENTa1V2ZkZjQXBCWHdMZWQ5TFkKODBDSmpCby93VDZqVXpCUk1CMEdBMVVkRGdRV0JCUXcwQlJuaWpvRTlC',
  'R3l2UUVwTlJ6R2h3RTNxREFmQmdOVgpIU01FR0RBV2dCUXcwQlJuaWpvRTlCR3l2UUVwTlJ6R2h3RTNxREFQQmdOVkhSTUJBZjhFQlRBREFRSC',
  '9NQW9HCkNDcUdTTTQ5QkFNQ0EwY0FNRVFDSURXaXFmYnJVTWlPNU5JZzNjRGhERzc1T3lkNENHTDNycXhVblYyN0NOdnEKQWlBZjJqRGl3bHhz',
  'a1c4V3hmdjhhbU9tdWxwWjRnUXpWSzlnUnZzQlEwNmFyUT09Ci0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K',
].join('');

function aRequest(name: string, spec: object, more: Partial<PrintedObject> = {}): PrintedObject {
  const usages = ['digital signature', 'client auth'];
  return anObject(requests, name, { spec: { request, signerName: 'example.com/signer', usages, ...spec } }, more);
}

function condition(type: string): object {
  return { type, status: 'True', reason: 'Test', message: 'x' };
}

const certificateObjects: readonly PrintedObject[] = [
  aRequest('pending', {}),
  aRequest('short', { expirationSeconds: 86_400 }, { approval: [condition('Approved')] }),
  aRequest('denied', { expirationSeconds: 31_536_000 }, { approval: [condition('Denied')] }),
  aRequest('issued', {}, { approval: [condition('Approved')], status: { certificate } }),
  aRequest(
    'failed',
    { expirationSeconds: 3_600 },
    { approval: [condition('Approved')], status: { conditions: [condition('Approved'), condition('Failed')] } },
  ),
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
  ...certificateObjects,
  ...admissionObjects,
  ...flowObjects,
  ...schedulingObjects,
  ...deviceObjects,
];
