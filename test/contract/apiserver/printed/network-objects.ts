// Endpoints and objects of networking.k8s.io and discovery.k8s.io.
import { anObject, type PrintedObject } from './printed-object.ts';

const core = '/api/v1/namespaces/default';
const endpoints = `${core}/endpoints`;
const services = `${core}/services`;
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const networking = '/apis/networking.k8s.io/v1';
const ingresses = `${networking}/namespaces/default/ingresses`;
const ingressClasses = `${networking}/ingressclasses`;
const policies = `${networking}/namespaces/default/networkpolicies`;

function addresses(...ips: readonly string[]): readonly object[] {
  return ips.map((ip) => ({ ip }));
}

const endpointObjects: readonly PrintedObject[] = [
  anObject(endpoints, 'none'),
  anObject(endpoints, 'not-ready', {
    subsets: [{ notReadyAddresses: addresses('10.1.0.1'), ports: [{ port: 80 }] }],
  }),
  anObject(endpoints, 'headless', { subsets: [{ addresses: addresses('10.1.0.1', '10.1.0.2') }] }),
  anObject(endpoints, 'three', {
    subsets: [
      {
        addresses: addresses('10.1.0.1'),
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ],
      },
      { addresses: addresses('fd00::1'), ports: [{ port: 443 }] },
    ],
  }),
  anObject(endpoints, 'many', {
    subsets: [
      {
        addresses: addresses('10.1.0.1', '10.1.0.2'),
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ],
      },
      { addresses: addresses('10.1.0.9') },
    ],
  }),
  anObject(slices, 'none', { addressType: 'IPv4', endpoints: [] }),
  anObject(slices, 'few', {
    addressType: 'IPv6',
    endpoints: [{ addresses: ['fd00::1'] }],
    ports: [{ name: 'web', protocol: 'TCP', port: 80 }],
  }),
  anObject(slices, 'unnumbered', {
    addressType: 'FQDN',
    endpoints: [{ addresses: ['x.example.com'] }],
    ports: [{ name: 'any', protocol: 'TCP' }, { protocol: 'UDP' }],
  }),
  anObject(slices, 'many', {
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.1.0.1'] },
      { addresses: ['10.1.0.2', '10.1.0.3'], conditions: { ready: false } },
      { addresses: ['10.1.0.4'] },
      { addresses: ['10.1.0.5'] },
    ],
    ports: [1, 2, 3, 4].map((port) => ({ name: `p${port}`, port, protocol: 'TCP' })),
  }),
  anObject(
    services,
    'balanced-twice',
    { spec: { type: 'LoadBalancer', externalIPs: ['198.51.100.7'], ports: [{ port: 3 }] } },
    {
      status: {
        loadBalancer: { ingress: [{ hostname: 'lb.example.com' }, { ip: '203.0.113.9' }, { ip: '203.0.113.10' }] },
      },
    },
  ),
];

function rule(host?: string): object {
  const path = { path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } };
  return { ...(host === undefined ? {} : { host }), http: { paths: [path] } };
}

const defaultBackend = { service: { name: 's', port: { name: 'web' } } };

const ingressObjects: readonly PrintedObject[] = [
  anObject(ingresses, 'few', { spec: { defaultBackend } }),
  anObject(
    ingresses,
    'addressed',
    {
      spec: {
        ingressClassName: 'nginx',
        rules: [rule('a.example.com'), rule()],
        tls: [{ hosts: ['a.example.com'], secretName: 't' }],
      },
    },
    {
      status: {
        loadBalancer: {
          ingress: [
            { ip: '203.0.113.7' },
            { hostname: 'a-long-name-of-a-balancer.example.com' },
            { ip: '203.0.113.7' },
          ],
        },
      },
    },
  ),
  anObject(ingresses, 'three', { spec: { rules: [rule('c.example'), rule('b.example'), rule('a.example')] } }),
  anObject(ingresses, 'three-last', {
    spec: { rules: [rule(), rule('c.example'), rule('b.example'), rule('a.example')] },
  }),
  anObject(ingresses, 'many', {
    spec: { rules: [rule(), rule('d.example'), rule('c.example'), rule('b.example'), rule(), rule('a.example')] },
  }),
  anObject(ingressClasses, 'few', { spec: { controller: 'example.com/few' } }),
  anObject(
    ingressClasses,
    'many',
    {
      spec: {
        controller: 'example.com/many',
        parameters: { apiGroup: 'k8s.example.com', kind: 'Parameters', name: 'p', scope: 'Cluster' },
      },
    },
    { metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } } },
  ),
  anObject(ingressClasses, 'core-parameters', {
    spec: {
      controller: 'example.com/core',
      parameters: { kind: 'ConfigMap', name: 'c', scope: 'Namespace', namespace: 'default' },
    },
  }),
];

const otherObjects: readonly PrintedObject[] = [
  anObject(policies, 'all-pods', { spec: { podSelector: {} } }),
  anObject(policies, 'some-pods', {
    spec: {
      podSelector: {
        matchLabels: { b: '1', a: '' },
        matchExpressions: [{ key: 'c', operator: 'In', values: ['y', 'x'] }],
      },
      policyTypes: ['Egress'],
    },
  }),
  anObject(`${networking}/servicecidrs`, 'two', { spec: { cidrs: ['10.200.0.0/24', 'fd00:200::/112'] } }),
  anObject(`${networking}/servicecidrs`, 'one', { spec: { cidrs: ['10.201.0.0/24'] } }),
  anObject(`${networking}/ipaddresses`, '10.200.0.7', {
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'plain' } },
  }),
  anObject(`${networking}/ipaddresses`, '10.200.0.8', {
    spec: { parentRef: { group: 'gateway.example.com', resource: 'gateways', name: 'g' } },
  }),
];

export const networkObjects: readonly PrintedObject[] = [...endpointObjects, ...ingressObjects, ...otherObjects];
