/**
 * What the kinds of kube-controller-manager and kube-scheduler do differently from others: defaults, generations and status as
 * upstream (`defaults.go` of each API group, `pkg/registry`); of their fields, names and types only are validated.
 */
import { sameJson } from '../../api/same-json.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, textAt, valueAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { incrementGeneration, type KindRules } from './plain-strategy.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { type Endpoint, isolateStatus } from './strategy.ts';

const rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%' } as const;

/** `/status` does not change labels, and a change of annotations is a new generation (upstream `deploymentStrategy`). */
function prepareDeployment(draft: Draft, stored: Draft, endpoint: Endpoint): void {
  isolateStatus(draft, stored, endpoint);
  if (endpoint === 'status') {
    if (stored.metadata.labels === undefined) delete draft.metadata.labels;
    else draft.metadata.labels = { ...stored.metadata.labels };
    return;
  }
  if (sameJson(draft.metadata.annotations, stored.metadata.annotations)) incrementGeneration(draft, stored);
  else draft.metadata.generation = (stored.metadata.generation ?? 0) + 1;
}

/** Replicas and a pod template. */
function defaultReplicas(draft: Draft, more: Readonly<Record<string, unknown>> = {}): MutableJsonMap {
  const spec = fillIn((draft.spec ??= {}), { replicas: 1, ...more });
  defaultTemplate(spec);
  return spec;
}

function defaultTemplate(owner: MutableJsonMap): void {
  const podSpec = valueAt(owner, 'template', 'spec');
  if (isMap(podSpec)) defaultPodSpec(podSpec);
}

function defaultDeployment(draft: Draft): void {
  const spec = defaultReplicas(draft, { revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const wanted = mapAt(spec, 'strategy');
  const type = textAt(wanted, 'type') || 'RollingUpdate';
  const limits = { rollingUpdate: { ...rollingUpdate, ...mapAt(wanted, 'rollingUpdate') } };
  spec['strategy'] = { ...wanted, type, ...(type === 'RollingUpdate' ? limits : {}) };
}

function defaultStatefulSet(draft: Draft): void {
  const spec = defaultReplicas(draft, {
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  });
  const wanted = mapAt(spec, 'updateStrategy');
  const type = textAt(wanted, 'type') || 'RollingUpdate';
  const limits = { rollingUpdate: { partition: 0, ...mapAt(wanted, 'rollingUpdate') } };
  spec['updateStrategy'] = { ...wanted, type, ...(type === 'RollingUpdate' ? limits : {}) };
}

function defaultController(draft: Draft): void {
  const spec = defaultReplicas(draft);
  spec['selector'] ??= mapAt(spec, 'template', 'metadata', 'labels');
}

function defaultJob(spec: MutableJsonMap): void {
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1;
  fillIn(spec, {
    parallelism: 1,
    completionMode: 'NonIndexed',
    suspend: false,
    backoffLimit: spec['backoffLimitPerIndex'] === undefined ? 6 : 2 ** 31 - 1,
    podReplacementPolicy: spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed',
  });
  defaultTemplate(spec);
}

/** A Job selects its pods by its own uid (upstream `jobStrategy.PrepareForCreate`). */
function generateSelector({ metadata, spec = {} }: Draft): void {
  if (spec['manualSelector'] === true) return;
  const { uid = '', name = '' } = metadata;
  const own = { 'controller-uid': uid, 'batch.kubernetes.io/controller-uid': uid };
  const named = { 'job-name': name, 'batch.kubernetes.io/job-name': name };
  const template = mapAt(spec, 'template');
  const labels = { ...mapAt(template, 'metadata', 'labels'), ...named, ...own };
  spec['template'] = { ...template, metadata: { ...mapAt(template, 'metadata'), labels } };
  spec['selector'] = { ...mapAt(spec, 'selector'), matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
}

function defaultCronJob(draft: Draft): void {
  const spec = fillIn((draft.spec ??= {}), {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  defaultTemplate(mapAt(spec, 'jobTemplate', 'spec'));
}

/** No addresses are allocated: nothing in a simulation would route them. */
function defaultService(draft: Draft): void {
  const spec = fillIn((draft.spec ??= {}), {
    type: 'ClusterIP',
    clusterIP: 'None',
    clusterIPs: ['None'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
  });
  for (const port of mapsAt(spec, 'ports')) fillIn(port, { protocol: 'TCP', targetPort: port['port'] });
}

/** `stringData` is write-only (upstream `Convert_v1_Secret_To_core_Secret`). */
function defaultSecret(draft: Draft): void {
  draft['type'] ??= 'Opaque';
  const { stringData } = draft;
  if (stringData === undefined) return;
  delete draft['stringData'];
  const encoded = Object.entries(mapAt(stringData)).map(
    ([key, text]) => [key, Buffer.from(String(text)).toString('base64')] as const,
  );
  draft['data'] = { ...mapAt(draft, 'data'), ...Object.fromEntries(encoded) };
}

function fillIn(target: MutableJsonMap, defaults: Readonly<Record<string, unknown>>): MutableJsonMap {
  for (const [field, value] of Object.entries(defaults)) target[field] ??= structuredClone(value);
  return target;
}

const noReplicas = { replicas: 0 } as const;

/** By the table of the kind. */
export const workloadRules: Readonly<Record<string, KindRules>> = {
  'deployments.apps': { setDefaults: defaultDeployment, prepareUpdate: prepareDeployment },
  'replicasets.apps': { initialStatus: noReplicas, setDefaults: (draft) => void defaultReplicas(draft) },
  replicationcontrollers: { initialStatus: noReplicas, setDefaults: defaultController },
  'statefulsets.apps': { initialStatus: { ...noReplicas, availableReplicas: 0 }, setDefaults: defaultStatefulSet },
  'jobs.batch': { setDefaults: (draft) => defaultJob((draft.spec ??= {})), prepareNew: generateSelector },
  'cronjobs.batch': { setDefaults: defaultCronJob },
  services: { hasGeneration: false, initialStatus: { loadBalancer: {} }, setDefaults: defaultService },
  secrets: {
    setDefaults: defaultSecret,
    fieldLabels: { labels: ['metadata.name', 'metadata.namespace', 'type'] },
    fieldsOf: (draft) => ({ type: typeof draft['type'] === 'string' ? draft['type'] : '' }),
  },
  persistentvolumeclaims: { initialStatus: { phase: 'Pending' } },
  serviceaccounts: { returnsDeleted: true },
  persistentvolumes: { initialStatus: { phase: 'Pending' } },
  'volumeattachments.storage.k8s.io': { initialStatus: { attached: false } },
};
