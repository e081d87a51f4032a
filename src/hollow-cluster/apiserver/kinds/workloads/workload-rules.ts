/** Workloads that serve (upstream `pkg/apis/apps/v1/defaults.go`, `pkg/registry/apps`, `pkg/apis/apps/validation`). */
import { sameJson } from '../../../../machinery/api/json-values.ts';
import type { ServerGate } from '../feature-gates.ts';
import { incrementGeneration, type KindRules } from '../plain-strategy.ts';
import { defaultTemplate } from '../../../../machinery/api/pod-defaults.ts';
import { type Endpoint, isolateStatus } from '../strategy.ts';
import { mapsAt, type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { ensureMap, fillAt, fillIn, fillZero } from '../../../../machinery/api/fill-in.ts';
import { validateSelectorKept, validateStatefulSetChange, validateWorkload } from './workload-validation.ts';
import { explainLabel } from '../../validation/formats.ts';

const noReplicas = { replicas: 0 } as const;
const templateGeneration = 'deprecated.daemonset.template.generation';

const unusable = 'invalid label selector';

/** Rules of the workloads, by the table of the kind. */
export function workloadRules(gates: ReadonlySet<ServerGate>): Readonly<Record<string, KindRules>> {
  return {
    'deployments.apps': {
      setDefaults: defaultDeployment,
      prepareUpdate: prepareDeployment,
      validateSpec: validateWorkload(gates, {
        selectorOf: 'deployment',
        kind: 'ReplicaSet',
        unusable,
        counts: ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'],
      }),
      validateChange: validateSelectorKept,
    },
    'replicasets.apps': {
      initialStatus: noReplicas,
      setDefaults: (draft) => void defaultReplicas(draft),
      validateSpec: validateWorkload(gates, {
        selectorOf: 'deployment',
        kind: 'ReplicaSet',
        unusable,
        counts: ['replicas', 'minReadySeconds'],
      }),
      validateChange: validateSelectorKept,
    },
    'statefulsets.apps': {
      initialStatus: { ...noReplicas, availableReplicas: 0 },
      explainName: explainLabel,
      setDefaults: defaultStatefulSet,
      validateSpec: validateWorkload(gates, {
        selectorOf: 'statefulset',
        kind: 'StatefulSet',
        unusable: '',
        counts: ['replicas', 'minReadySeconds'],
      }),
      validateChange: validateStatefulSetChange,
    },
    'daemonsets.apps': {
      initialStatus: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
      setDefaults: defaultDaemonSet,
      prepareNew: ({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, [templateGeneration]: '1' };
      },
      prepareChange: countTemplates,
      validateSpec: validateWorkload(gates, {
        selectorOf: 'daemonset',
        kind: 'DaemonSet',
        counts: ['minReadySeconds', 'revisionHistoryLimit'],
      }),
      validateChange: validateSelectorKept,
    },
  };
}

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

function defaultDeployment(draft: Draft): void {
  const spec = defaultReplicas(draft, { revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = ensureMap(spec, 'strategy');
  fillZero(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] !== 'RollingUpdate') return;
  fillIn(ensureMap(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
}

function defaultStatefulSet(draft: Draft): void {
  const spec = defaultReplicas(draft, { podManagementPolicy: 'OrderedReady', revisionHistoryLimit: 10 });
  fillZero(ensureMap(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' });
  const strategy = ensureMap(spec, 'updateStrategy');
  if (textAt(strategy, 'type') === '') fillIn(strategy, { rollingUpdate: {} });
  fillZero(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate') fillAt(strategy, ['rollingUpdate'], { partition: 0, maxUnavailable: 1 });
  for (const claim of mapsAt(spec, 'volumeClaimTemplates')) {
    Object.assign(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
    fillIn(ensureMap(claim, 'spec'), { volumeMode: 'Filesystem' });
    fillZero(ensureMap(claim, 'status'), { phase: 'Pending' });
  }
}

function defaultDaemonSet(draft: Draft): void {
  const spec = fillIn((draft.spec ??= {}), { revisionHistoryLimit: 10 });
  const strategy = ensureMap(spec, 'updateStrategy');
  fillZero(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate')
    fillIn(ensureMap(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
  defaultTemplate(spec);
}

/** An annotation counts the templates, which only this server changes. */
function countTemplates(draft: Draft, stored: Draft, endpoint: Endpoint): void {
  if (endpoint !== '') return;
  const count = Number(stored.metadata.annotations?.[templateGeneration] ?? 1);
  const changed = !sameJson(draft.spec?.['template'], stored.spec?.['template']);
  draft.metadata.annotations = {
    ...draft.metadata.annotations,
    [templateGeneration]: String(changed ? count + 1 : count),
  };
}
