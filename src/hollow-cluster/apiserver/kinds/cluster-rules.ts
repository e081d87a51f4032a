/** Kinds of the other groups: scheduling, storage, networking, autoscaling, devices, flow control. */
import { sameJson } from '../../../machinery/api/same-json.ts';
import type { KindRules } from '../registry/plain-strategy.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { ensureMap, fillAt, fillIn, fillZero } from './fill-in.ts';
import { admissionRules } from './admission-rules.ts';
import {
  validateRuntimeClass,
  validateRuntimeClassChange,
  validateStorageClass,
  validateStorageClassChange,
} from './class-validation.ts';
import { validateSlice, validateSliceChange, validateSliceEndpoints } from './endpoint-validation.ts';
import { priorityClassRules } from './priority-class-rules.ts';

const scaleDown = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] } as const;
const scaleUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
} as const;
const cpuMetric = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
} as const;

/** By the table of the kind. */
export const clusterRules: Readonly<Record<string, KindRules>> = {
  ...admissionRules,
  'horizontalpodautoscalers.autoscaling': {
    hasGeneration: false,
    initialStatus: { desiredReplicas: 0, currentMetrics: null },
    setDefaults: defaultAutoscaler,
  },
  'endpointslices.discovery.k8s.io': {
    hasGeneration: true,
    setDefaults: (draft) => {
      for (const port of mapsAt(draft, 'ports')) fillIn(port, { name: '', protocol: 'TCP' });
    },
    validateSpec: validateSlice,
    validateCreate: (draft) => validateSliceEndpoints(draft),
    validateChange: validateSliceChange,
  },
  'priorityclasses.scheduling.k8s.io': priorityClassRules,
  'storageclasses.storage.k8s.io': {
    returnsDeleted: true,
    setDefaults: (draft) => void fillIn(draft, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
    validateCreate: validateStorageClass,
    validateChange: validateStorageClassChange,
  },
  'runtimeclasses.node.k8s.io': { validateCreate: validateRuntimeClass, validateChange: validateRuntimeClassChange },
  'csidrivers.storage.k8s.io': {
    returnsDeleted: true,
    setDefaults: defaultDriver,
    prepareUpdate: (draft, stored) => {
      // Upstream sets no generation on creation.
      if (!sameJson(draft.spec, stored.spec)) draft.metadata.generation = (stored.metadata.generation ?? 0) + 1;
    },
  },
  'csinodes.storage.k8s.io': { returnsDeleted: true },
  'volumeattachments.storage.k8s.io': {
    hasGeneration: false,
    returnsDeleted: true,
    initialStatus: { attached: false },
  },
  'volumeattributesclasses.storage.k8s.io': { returnsDeleted: true },
  'ingresses.networking.k8s.io': { initialStatus: { loadBalancer: {} } },
  'ingressclasses.networking.k8s.io': {
    hasGeneration: true,
    setDefaults: (draft) => fillAt(draft, ['spec', 'parameters'], { scope: 'Cluster' }),
  },
  'networkpolicies.networking.k8s.io': { hasGeneration: true, setDefaults: defaultNetworkPolicy },
  'servicecidrs.networking.k8s.io': { hasGeneration: false },
  'deviceclasses.resource.k8s.io': { hasGeneration: true, returnsDeleted: true },
  'resourceclaims.resource.k8s.io': {
    hasGeneration: false,
    returnsDeleted: true,
    setDefaults: ({ spec }) => defaultDevices(spec),
  },
  'resourceclaimtemplates.resource.k8s.io': {
    returnsDeleted: true,
    setDefaults: ({ spec }) => defaultDevices(mapAt(spec, 'spec')),
  },
  'resourceslices.resource.k8s.io': { hasGeneration: true, returnsDeleted: true },
  'flowschemas.flowcontrol.apiserver.k8s.io': {
    setDefaults: (draft) => fillZero(ensureMap(draft, 'spec'), { matchingPrecedence: 1_000 }),
  },
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': { setDefaults: defaultPriorityLevel },
};

function defaultAutoscaler(draft: Draft): void {
  const spec = fillIn((draft.spec ??= {}), { minReplicas: 1 });
  if (mapsAt(spec, 'metrics').length === 0) spec['metrics'] = [structuredClone(cpuMetric)];
  const { behavior } = spec;
  if (!isMap(behavior)) return;
  fillIn(ensureMap(behavior, 'scaleUp'), scaleUp);
  fillIn(ensureMap(behavior, 'scaleDown'), scaleDown);
}

function defaultDriver(draft: Draft): void {
  fillIn((draft.spec ??= {}), {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    volumeLifecycleModes: ['Persistent'],
    requiresRepublish: false,
    seLinuxMount: false,
  });
}

function defaultNetworkPolicy(draft: Draft): void {
  const spec = (draft.spec ??= {});
  for (const rule of [...mapsAt(spec, 'ingress'), ...mapsAt(spec, 'egress')]) {
    for (const port of mapsAt(rule, 'ports')) fillIn(port, { protocol: 'TCP' });
  }
  fillIn(spec, { policyTypes: mapsAt(spec, 'egress').length === 0 ? ['Ingress'] : ['Ingress', 'Egress'] });
}

function defaultDevices(spec: MutableJsonMap | undefined): void {
  for (const request of mapsAt(spec, 'devices', 'requests')) {
    if (isMap(request['exactly'])) defaultRequest(request['exactly']);
    for (const alternative of mapsAt(request, 'firstAvailable')) defaultRequest(alternative);
  }
}

function defaultRequest(request: MutableJsonMap): void {
  fillZero(request, { allocationMode: 'ExactCount' });
  if (textAt(request, 'allocationMode') === 'ExactCount') fillZero(request, { count: 1 });
}

function defaultPriorityLevel({ spec }: Draft): void {
  fillAt(spec, ['exempt'], { nominalConcurrencyShares: 0, lendablePercent: 0 });
  fillAt(spec, ['limited'], { nominalConcurrencyShares: 30, lendablePercent: 0 });
  const queuing = mapAt(spec, 'limited', 'limitResponse')['queuing'];
  if (isMap(queuing)) fillZero(queuing, { queues: 64, handSize: 8, queueLengthLimit: 50 });
}
