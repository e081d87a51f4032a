/**
 * Objects as version 1 of the data dir format has them from a server that did not yet canonicalise quantities or set most
 * defaults: without kind and apiVersion.
 */
import type { Json } from './client.ts';

export interface FormerObject {
  readonly table: string;
  readonly path: string;
  readonly content: Json;
}

const then = '2026-11-25T03:03:14Z';

function former(table: string, group: string, name: string, content: Json): FormerObject {
  const path = `/${group}/namespaces/default/${table.split('.')[0] ?? ''}/${name}`;
  const { metadata, ...fields } = content;
  const kept = {
    name,
    namespace: 'default',
    uid: `uid-of-${table}-${name}`,
    creationTimestamp: then,
    finalizers: ['example.com/kept'],
  };
  return { table, path, content: { metadata: { ...kept, ...metadata }, ...fields } };
}

const container = {
  name: 'm',
  image: 'a:1',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
};
const template = {
  restartPolicy: 'Never',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};
const podSpec = {
  ...template,
  enableServiceLinks: true,
  serviceAccountName: 'default',
  serviceAccount: 'default',
  priority: 0,
  preemptionPolicy: 'PreemptLowerPriority',
  tolerations: ['not-ready', 'unreachable'].map((state) => ({
    key: `node.kubernetes.io/${state}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })),
};
const managedFields = [
  {
    manager: 'kubectl',
    operation: 'Update',
    apiVersion: 'v1',
    time: then,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:restartPolicy': {} } },
  },
];

function pod(name: string, spec: Json): FormerObject {
  const metadata = { generation: 1, managedFields };
  return former('pods', 'api/v1', name, { metadata, spec: { ...podSpec, ...spec }, status: { phase: 'Pending' } });
}

export const formerPod = pod('half', {
  containers: [{ ...container, resources: { requests: { cpu: '0.5', memory: '1024Mi' } } }],
});

/** Its kind cannot have such data. */
export const undecodable = former('configmaps', 'api/v1', 'malformed', { data: ['x'] });

export const formerObjects: readonly FormerObject[] = [
  formerPod,
  pod('host-network', {
    hostNetwork: true,
    containers: [{ ...container, ports: [{ containerPort: 80, protocol: 'TCP' }] }],
  }),
  pod('probes', {
    volumes: [
      { name: 'v', configMap: { name: 'x' } },
      { name: 'h', hostPath: { path: '/a' } },
      { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } },
    ],
    containers: [{ ...container, livenessProbe: { httpGet: { port: 80 } } }],
  }),
  former('persistentvolumeclaims', 'api/v1', 'large', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
    status: { phase: 'Pending' },
  }),
];
