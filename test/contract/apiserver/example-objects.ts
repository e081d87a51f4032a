/** Objects of the kinds with rules, which the API servers are compared on: each with few fields, so that the defaults show. */
import type { Json } from './client.ts';

/** One object, its status, and a change of its spec. */
export interface Example {
  /** The path of the group version, as `apis/apps/v1`. */
  readonly version: string;
  readonly plural: string;
  readonly clusterScoped?: true;
  readonly body: Json;
  /** Merged into `/status`. */
  readonly status?: Json;
  /** Merged into the object, after the status. */
  readonly change?: Json;
}

const labels = { app: 'web' };
const selector = { matchLabels: labels };
const container = { name: 'main', image: 'registry.example/web:1' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const storage = { resources: { requests: { storage: '1Gi' } }, accessModes: ['ReadWriteOnce'] };

function named(name: string, fields: Json): Json {
  return { metadata: { name }, ...fields };
}

const core = { version: 'api/v1' } as const;
const apps = { version: 'apis/apps/v1' } as const;
const policy = { version: 'apis/policy/v1' } as const;
const cluster = { clusterScoped: true } as const;

/** Named, because not every API server sets it; and without a token, which is random. */
const account = { serviceAccountName: 'default', automountServiceAccountToken: false } as const;
const probe = { httpGet: { port: 80 } };
const fullPod = {
  terminationGracePeriodSeconds: -1,
  priorityClassName: 'system-node-critical',
  ...account,
  initContainers: [{ name: 'side', image: 'registry.example/side', restartPolicy: 'Always' }],
  containers: [
    {
      ...container,
      ports: [{ containerPort: 80 }],
      resources: { limits: { cpu: '1' } },
      env: [
        { name: 'A', value: '' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      livenessProbe: probe,
      readinessProbe: { exec: { command: ['true'] }, failureThreshold: 2 },
      startupProbe: { grpc: { port: 1 } },
      lifecycle: { preStop: { httpGet: { port: 'http' } } },
    },
    { name: 'second', image: 'registry.example/web', imagePullPolicy: 'Never' },
  ],
  volumes: [
    { name: 'empty', emptyDir: {} },
    { name: 'unnamed' },
    { name: 'config', configMap: { name: 'c' } },
    { name: 'secret', secret: { secretName: 's' } },
    { name: 'host', hostPath: { path: '/x' } },
    { name: 'down', downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } },
    { name: 'all', projected: { sources: [{ configMap: { name: 'c' } }] } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'p' } },
    { name: 'own', ephemeral: { volumeClaimTemplate: { spec: storage } } },
  ],
};

const coreExamples: readonly Example[] = [
  { ...core, plural: 'configmaps', body: named('cm', { data: { a: '1' }, binaryData: { b: 'AAE=' } }) },
  { ...core, plural: 'configmaps', body: named('cm-numbers', { binaryData: { a: [1, 255], b: [], c: [null, 1] } }) },
  { ...core, plural: 'namespaces', ...cluster, body: named('recorded-ns', {}) },
  { ...core, plural: 'nodes', ...cluster, body: named('recorded-node', {}) },
  { ...core, plural: 'pods', body: named('pod', { spec: { ...template.spec, ...account } }) },
  { ...core, plural: 'pods', body: named('full-pod', { spec: fullPod }) },
  { ...core, plural: 'serviceaccounts', body: named('sa', {}) },
];

const workloadExamples: readonly Example[] = [
  { ...apps, plural: 'controllerrevisions', body: named('cr', { data: { a: 1 }, revision: 2 }) },
  {
    ...apps,
    plural: 'daemonsets',
    body: named('ds', { spec: { selector, template } }),
    status: { numberReady: 2, currentNumberScheduled: 3, desiredNumberScheduled: 4, numberMisscheduled: 0 },
    change: { spec: { minReadySeconds: 3 } },
  },
  {
    ...apps,
    plural: 'deployments',
    body: named('deploy', { spec: { selector, template } }),
    status: { replicas: 2, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
    change: { metadata: { annotations: { a: 'b' } } },
  },
  {
    ...apps,
    plural: 'deployments',
    body: named('deploy-full', {
      spec: {
        selector,
        template: { spec: { ...fullPod, terminationGracePeriodSeconds: 3 }, metadata: { labels } },
        strategy: { type: 'Recreate' },
      },
    }),
    change: { spec: { paused: true } },
  },
  {
    ...apps,
    plural: 'replicasets',
    body: named('rs', { spec: { selector, template, replicas: 0 } }),
    status: { replicas: 1, readyReplicas: 1 },
    change: { spec: { replicas: 2 } },
  },
  {
    ...apps,
    plural: 'statefulsets',
    body: named('sts', {
      spec: { serviceName: 'web', selector, template, volumeClaimTemplates: [named('data', { spec: storage })] },
    }),
    status: { replicas: 1, readyReplicas: 1 },
    change: { spec: { replicas: 2 } },
  },
  {
    ...apps,
    plural: 'statefulsets',
    body: named('sts-delete', { spec: { selector, template, updateStrategy: { type: 'OnDelete' } } }),
  },
  {
    ...policy,
    plural: 'poddisruptionbudgets',
    body: named('pdb', { spec: { maxUnavailable: 1, selector } }),
    status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
    change: { spec: { maxUnavailable: '30%' } },
  },
  {
    version: 'apis/coordination.k8s.io/v1',
    plural: 'leases',
    body: named('lease', { spec: { holderIdentity: 'me' } }),
    change: { spec: { holderIdentity: 'you' } },
  },
];

export const examples: readonly Example[] = [...coreExamples, ...workloadExamples];

/** `apis/apps/v1 deployments deploy`, unique among the examples. */
export function keyOf({ version, plural, body }: Example): string {
  return `${version} ${plural} ${body.metadata.name}`;
}
