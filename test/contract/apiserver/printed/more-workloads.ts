// Workloads beyond those of nodes-and-workloads.ts, quotas and autoscalers.
import { anObject, type PrintedObject } from './printed-object.ts';

const core = '/api/v1/namespaces/default';
/** Quotas and limits here do not apply to the other objects. */
const quotas = '/api/v1/namespaces/kube-node-lease/resourcequotas';
const limits = '/api/v1/namespaces/kube-node-lease/limitranges';
const controllers = `${core}/replicationcontrollers`;
const podTemplates = `${core}/podtemplates`;
const cronJobs = '/apis/batch/v1/namespaces/default/cronjobs';
const jobs = '/apis/batch/v1/namespaces/default/jobs';
const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
const autoscalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const longAgo = '2026-01-02T03:04:05Z';

const containers = [
  { name: 'main', image: 'registry.example/main:1' },
  { name: 'proxy', image: 'registry.example/proxy' },
];
const labels = { tier: 'b', app: 'x', 'app.kubernetes.io/name': 'y' };
const template = { metadata: { labels }, spec: { containers } };
const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers } } } };

const workloads: readonly PrintedObject[] = [
  anObject(
    controllers,
    'few',
    { spec: { selector: { app: 'x' }, template } },
    { status: { replicas: 0, observedGeneration: 1 } },
  ),
  anObject(
    controllers,
    'many',
    { spec: { replicas: 5, selector: labels, template } },
    { status: { replicas: 4, readyReplicas: 3, availableReplicas: 2 } },
  ),
  anObject(podTemplates, 'plain', { template: { spec: { containers: containers.slice(1) } } }),
  anObject(podTemplates, 'labelled', { template }),
  anObject(cronJobs, 'never-ran', { spec: { schedule: '*/5 * * * *', jobTemplate } }),
  anObject(
    cronJobs,
    'busy',
    {
      spec: {
        schedule: '0 3 * * 1',
        timeZone: 'Europe/Berlin',
        suspend: true,
        jobTemplate,
      },
    },
    { status: { active: [{ name: 'busy-1' }, { name: 'busy-2' }], lastScheduleTime: longAgo } },
  ),
  anObject(revisions, 'free', { revision: 1, data: { a: 1 } }),
  anObject(
    revisions,
    'owned',
    { revision: 12, data: {} },
    {
      metadata: {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'u1' },
          { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'everywhere', uid: 'u2', controller: true },
        ],
      },
    },
  ),
  anObject(
    revisions,
    'owned-by-core',
    { revision: 2, data: {} },
    { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u3', controller: true }] } },
  ),
  anObject(
    jobs,
    'terminating',
    { spec: { template: jobTemplate.spec.template } },
    { deleted: true, status: { startTime: longAgo, active: 1 } },
  ),
];

const quotaHard = {
  'requests.cpu': '4000m',
  'limits.cpu': '8',
  'limits.memory': '16384Mi',
  'requests.memory': '1.5Gi',
  pods: '1000',
  'count/deployments.apps': '5',
  'limitsless.example.com/a': '1',
};

const policies: readonly PrintedObject[] = [
  anObject('/api/v1/namespaces', 'own'),
  anObject('/api/v1/namespaces', 'leaves', {}, { deleted: true }),
  anObject(quotas, 'empty', { spec: {} }),
  anObject(
    quotas,
    'full',
    { spec: { hard: quotaHard } },
    { status: { hard: quotaHard, used: { 'limits.cpu': '0.5', pods: '12', 'requests.memory': '123456789' } } },
  ),
  anObject(limits, 'few', { spec: { limits: [] } }),
  anObject(limits, 'many', { spec: { limits: [{ type: 'Container', default: { cpu: '100m' } }] } }),
];

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const queue = { metric: { name: 'queue' } };
const describedObject = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main' };

function autoscaler(name: string, metrics: readonly object[], currentMetrics?: readonly object[]): PrintedObject {
  const status = { currentReplicas: 2, desiredReplicas: 3, conditions: [], currentMetrics };
  return anObject(
    autoscalers,
    name,
    { spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 10, metrics } },
    currentMetrics === undefined ? {} : { status },
  );
}

const memory = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '0.5Gi' } },
};
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } };
const podsMetric = { type: 'Pods', pods: { ...queue, target: { type: 'AverageValue', averageValue: '1000' } } };
const sidecarCpu = {
  type: 'ContainerResource',
  containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 70 } },
};
const sidecarMemory = {
  type: 'ContainerResource',
  containerResource: { name: 'memory', container: 'c', target: { type: 'AverageValue', averageValue: '64Mi' } },
};

function targeted(type: 'External' | 'Object', target: object): object {
  return type === 'External'
    ? { type, external: { ...queue, target } }
    : { type, object: { ...queue, describedObject, target } };
}

function reported(type: 'External' | 'Object', current: object): object {
  return type === 'External'
    ? { type, external: { ...queue, current } }
    : { type, object: { ...queue, describedObject, current } };
}

const byValue = { type: 'Value', value: '1500m' };
const byAverage = { type: 'AverageValue', averageValue: '30' };

const autoscaling: readonly PrintedObject[] = [
  anObject(autoscalers, 'few', { spec: { scaleTargetRef, maxReplicas: 3 } }),
  autoscaler('resources', [cpu, memory]),
  autoscaler(
    'reported-resources',
    [cpu, memory],
    [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 55, averageValue: '110m' } } },
      { type: 'Resource', resource: { name: 'memory', current: { averageValue: '131072Ki' } } },
    ],
  ),
  autoscaler(
    'reported-others',
    [podsMetric, sidecarCpu],
    [
      { type: 'Pods', pods: { ...queue, current: { averageValue: '1200m' } } },
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'c', current: { averageUtilization: 9, averageValue: '9m' } },
      },
    ],
  ),
  autoscaler(
    'externals',
    [targeted('External', byValue), targeted('External', byAverage)],
    [reported('External', { value: '2' }), reported('External', { averageValue: '7' })],
  ),
  autoscaler(
    'objects',
    [targeted('Object', byValue), targeted('Object', byAverage)],
    [reported('Object', { value: '2k' }), reported('Object', { value: '3' })],
  ),
  autoscaler('unknown', [targeted('Object', byAverage), targeted('External', byValue)]),
  autoscaler(
    'other-report',
    [podsMetric, sidecarMemory],
    [
      { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1' } } },
      {
        type: 'ContainerResource',
        containerResource: { name: 'memory', container: 'c', current: { averageUtilization: 3 } },
      },
    ],
  ),
  autoscaler('many', [cpu, memory, podsMetric, sidecarCpu, sidecarMemory]),
];

export const moreWorkloads: readonly PrintedObject[] = [...workloads, ...policies, ...autoscaling];
