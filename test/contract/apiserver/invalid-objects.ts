/** Objects other than workloads that kube-apiserver rejects. */
import { invalidChanges, invalidCreations, type InvalidRow } from './invalid-rows.ts';

const core = { version: 'api/v1' } as const;
const port = { port: 80 };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const service = { ...core, plural: 'services', body: { spec: { selector: { app: 'web' }, ports: [port] } } };
const headless = { ...service, body: { spec: { clusterIP: 'None', selector: { app: 'web' } } } };
const nodePort = { ...service, body: { spec: { type: 'NodePort', ports: [port] } } };
const configMap = { ...core, plural: 'configmaps', body: { data: { a: '1' } } };
const secret = { ...core, plural: 'secrets', body: { data: { a: 'YQ==' } } };
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

const services: readonly InvalidRow[] = [
  ...invalidCreations(service, {
    'no ports': { spec: { ports: null } },
    'an unknown type': { spec: { type: 'Public' } },
    'a name with dots': { metadata: { name: 'web.one' } },
    'a name in capital letters': { metadata: { name: 'Web' } },
    'ports without names': { spec: { ports: [port, { port: 81 }] } },
    'the same port twice': {
      spec: {
        ports: [
          { name: 'a', ...port },
          { name: 'a', ...port },
        ],
      },
    },
    'invalid ports': {
      spec: { ports: [{ name: 'A', port: 0, targetPort: 70_000, protocol: 'HTTP', appProtocol: 'a b' }] },
    },
    'an invalid target port name': { spec: { ports: [{ port: 80, targetPort: 'Web_Port' }] } },
    'a node port of a ClusterIP': { spec: { ports: [{ port: 80, nodePort: 30_001 }] } },
    'an unknown affinity': { spec: { sessionAffinity: 'Cookie' } },
    'an affinity that is too long': {
      spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 100_000 } } },
    },
    'an affinity without time': { spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: {} } },
    'an address that is not one': { spec: { clusterIP: 'a.b.c.d' } },
    'an address of another network': { spec: { clusterIP: '192.0.2.1' } },
    'addresses that differ': { spec: { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.8'] } },
    'addresses without the first': { spec: { clusterIPs: ['None', '10.0.0.8'] } },
    IPv6: { spec: { ipFamilies: ['IPv6'] } },
    'both families': { spec: { ipFamilyPolicy: 'RequireDualStack' } },
    'unknown families': { spec: { ipFamilies: ['IPv5'], ipFamilyPolicy: 'Any' } },
    'an external name without name': { spec: { type: 'ExternalName' } },
    'an external name that is not one': { spec: { type: 'ExternalName', externalName: 'a_b' } },
    'an external name with an address': {
      spec: { type: 'ExternalName', externalName: 'a.example', clusterIP: 'None' },
    },
    'an external address that is none': { spec: { externalIPs: ['a', '127.0.0.1', '0.0.0.0', '169.254.0.1'] } },
    'traffic policies that are unknown': {
      spec: { type: 'NodePort', externalTrafficPolicy: 'Far', internalTrafficPolicy: 'Near' },
    },
    'an external traffic policy of a ClusterIP': { spec: { externalTrafficPolicy: 'Local' } },
    'an unknown traffic distribution': { spec: { trafficDistribution: 'Random' } },
    'fields of load balancers': {
      spec: {
        allocateLoadBalancerNodePorts: true,
        loadBalancerClass: 'a/b',
        loadBalancerSourceRanges: ['10.0.0.0/8'],
        healthCheckNodePort: 30_002,
      },
    },
    'a load balancer with an invalid range': {
      spec: { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0'], loadBalancerClass: 'a b' },
    },
    'an invalid selector': { spec: { selector: { 'a b': 'c d' } } },
    'the same node port twice': {
      spec: {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 80, nodePort: 30_003 },
          { name: 'b', port: 81, nodePort: 30_003 },
        ],
      },
    },
    'a NodePort without address': { spec: { type: 'NodePort', clusterIP: 'None' } },
    'a LoadBalancer without address': { spec: { type: 'LoadBalancer', clusterIP: 'None' } },
  }),
  ...invalidChanges(service, {
    'another address': { spec: { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'] } },
    'no address': { spec: { clusterIP: 'None', clusterIPs: ['None'] } },
    'another family': { spec: { ipFamilies: ['IPv6'] } },
    'an external name that keeps its address': { spec: { type: 'ExternalName' } },
  }),
  ...invalidChanges(headless, { 'an address': { spec: { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'] } } }),
  ...invalidChanges(nodePort, { 'a node port out of range': { spec: { ports: [{ port: 80, nodePort: 1 }] } } }),
];

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
    'bytes as a list of larger numbers': { binaryData: { b: [1, 256] } },
    'bytes as a list of texts': { binaryData: { b: ['a'] } },
    'bytes as a list of fractions': { binaryData: { b: [1.5] } },
    'bytes as a list with null': { binaryData: { b: [null, 1] } },
    'bytes as a number': { binaryData: { b: 1 } },
    'bytes as an object': { binaryData: { b: {} } },
    'bytes as a list': { binaryData: [] },
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
  ...invalidCreations(secret, {
    'an invalid key': { data: { 'a b': 'YQ==' } },
    'data that is too large': { data: { a: base64('a'.repeat(1024 * 1024 + 1)) } },
    'TLS without certificate': { type: 'kubernetes.io/tls' },
    'TLS without key': { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } },
    'a basic authentication without user': { type: 'kubernetes.io/basic-auth' },
    'an SSH authentication without key': { type: 'kubernetes.io/ssh-auth' },
    'an SSH authentication with an empty key': { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': '' } },
    'a docker configuration without content': { type: 'kubernetes.io/dockercfg' },
    'a docker configuration that is not JSON': {
      type: 'kubernetes.io/dockercfg',
      data: { '.dockercfg': base64('{a') },
    },
    'a docker configuration that is no object': {
      type: 'kubernetes.io/dockercfg',
      data: { '.dockercfg': base64('[]') },
    },
    'a docker configuration that is empty': { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': '' } },
    'a docker configuration of version 2 without content': { type: 'kubernetes.io/dockerconfigjson' },
    'a docker configuration of version 2 that is not JSON': {
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': base64('hello') },
    },
    'a token without account': { type: 'kubernetes.io/service-account-token' },
    'text that is not one': { stringData: { a: 1 } },
  }),
  ...invalidChanges(secret, { 'another type': { type: 'example.com/other' } }),
  ...invalidChanges(
    { ...secret, body: { data: { a: 'YQ==' }, immutable: true } },
    {
      'data of an immutable one': { data: { a: 'Yg==' } },
      'an immutable one that is not': { immutable: null },
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

export const invalidObjects: readonly InvalidRow[] = [...services, ...configuration, ...policies, ...pods];
