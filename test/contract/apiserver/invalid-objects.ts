/** Objects other than workloads that kube-apiserver rejects. */
import { invalidChanges, invalidCreations, type InvalidRow } from './invalid-rows.ts';

const core = { version: 'api/v1' } as const;
const configMap = { ...core, plural: 'configmaps', body: { data: { a: '1' } } };
const pod = {
  ...core,
  plural: 'pods',
  body: {
    spec: {
      serviceAccountName: 'default',
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'registry.example/web:1' }],
    },
  },
};

const configuration: readonly InvalidRow[] = [
  ...invalidCreations(configMap, {
    'an invalid key': { data: { 'a b': '1' } },
    'keys that are paths': { data: { '..': '1', '.': '1', '..a': '1' } },
    'a key that is too long': { data: { ['a'.repeat(254)]: '1' } },
    'a key twice': { binaryData: { a: 'YQ==' } },
    'an invalid binary key': { binaryData: { 'b c': 'YQ==' } },
    'data that is too large': { data: { a: 'a'.repeat(1024 * 1024) } },
    'bytes that are not base64': { binaryData: { b: 'a' } },
    'bytes as a list of numbers': { binaryData: { b: [1, 2, 3] } },
    'bytes as an empty list': { binaryData: { b: [] } },
    'data that is no text': { data: { a: 1 } },
    'a name in capital letters': { metadata: { name: 'A' } },
  }),
  ...invalidChanges(
    { ...configMap, body: { data: { a: '1' }, immutable: true } },
    {
      'data of an immutable one': { data: { a: '2' } },
      'binary data of an immutable one': { binaryData: { b: 'YQ==' } },
      'an immutable one that is not': { immutable: false, data: { a: '2' } },
    },
  ),
];

const budget = {
  version: 'apis/policy/v1',
  plural: 'poddisruptionbudgets',
  body: { spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } } },
};

const policies: readonly InvalidRow[] = [
  ...invalidCreations(budget, {
    'both numbers': { spec: { minAvailable: 1 } },
    'numbers out of range': { spec: { maxUnavailable: '101%' } },
    'a number that is none': { spec: { maxUnavailable: 'half' } },
    'a negative number': { spec: { maxUnavailable: -1 } },
    'an invalid selector': {
      spec: { selector: { matchExpressions: [{ key: 'a b', operator: 'In', values: ['x'] }] } },
    },
    'an unknown policy': { spec: { unhealthyPodEvictionPolicy: 'Never' } },
  }),
];

const pods: readonly InvalidRow[] = [
  ...invalidCreations(pod, {
    'a priority': { spec: { priority: 5 } },
    'another policy of preemption': { spec: { preemptionPolicy: 'Never' } },
    'an unknown priority class': { spec: { priorityClassName: 'unknown' } },
    'another priority than that of its class': { spec: { priorityClassName: 'system-node-critical', priority: 5 } },
  }),
];

export const invalidObjects: readonly InvalidRow[] = [...configuration, ...policies, ...pods];
