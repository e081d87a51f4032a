/** Pods (upstream `pkg/registry/core/pod/strategy.go`). */
import { explainMirrorReference } from '../../../../machinery/api/select-api-reference.ts';
import { taintKeys } from '../../../../machinery/api/taints.ts';
import { forbidden } from '../../api-errors/api-errors.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { admitPodSpec, defaultPod, qosClassOf } from '../../../../machinery/api/pod-defaults.ts';
import type { ServerGate } from '../feature-gates.ts';
import { checkPodSpec } from './pod-spec-validation.ts';
import { podValidationOptions } from './pod-validation-options.ts';
import { validatePodStatusUpdate, validatePodUpdate } from './pod-update-validation.ts';
import { admitPriority, keepPriority } from './pod-priority.ts';
import { mapsAt, type MutableJsonMap, numberAt, textAt } from '../../../../machinery/api/select-field.ts';
import type { KindRules } from '../plain-strategy.ts';

/** The API object of a static pod has it (upstream `MirrorPodAnnotationKey`). */
const mirrorAnnotation = 'kubernetes.io/config.mirror';
const selectable = ['restartPolicy', 'schedulerName', 'serviceAccountName', 'nodeName'] as const;

/** `defaultTolerationSeconds`: default toleration of the not-ready and unreachable taints, in seconds. */
export function podRules(defaultTolerationSeconds: number, gates: ReadonlySet<ServerGate>): KindRules {
  return {
    returnsDeleted: true,
    graceful: true,
    fieldLabels: {
      labels: [
        ...selectable.map((field) => `spec.${field}`),
        'spec.hostNetwork',
        'status.phase',
        'status.podIP',
        'status.podIPs',
        'status.nominatedNodeName',
      ],
      aliases: { 'spec.host': 'spec.nodeName' },
    },
    setDefaults: (draft) => {
      const spec = (draft.spec ??= {});
      defaultPod(spec);
      if (numberAt(spec, 'terminationGracePeriodSeconds') < 0) spec['terminationGracePeriodSeconds'] = 1;
    },
    admit: (draft, context, stored) => {
      const spec = (draft.spec ??= {});
      if (stored === undefined) admitPriority(draft, context);
      else keepPriority(spec, stored.spec ?? {});
      if (isMirror(draft)) admitMirror(draft, stored);
      else admitPodSpec(spec);
      addDefaultTolerations(spec, defaultTolerationSeconds);
    },
    prepareNew: (draft, { now }) => {
      const qosClass = qosClassOf(draft.spec ?? {});
      draft.status = { phase: 'Pending', ...gatedConditions(draft.spec, now), qosClass };
    },
    prepareChange: (draft, stored, endpoint) => {
      if (endpoint === 'status') restoreForStatus(draft, stored);
    },
    validateSpec: (draft, stored) => checkPodSpec(draft.spec ?? {}, 'spec', podValidationOptions(gates, stored?.spec)),
    validateChange: validatePodUpdate,
    validateStatus: validatePodStatusUpdate,
    fieldsOf,
  };
}

function isMirror({ metadata }: Draft): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}

/**
 * Admission of a mirror pod, whose spec stays as the kubelet sent it: otherwise the kubelet would delete it. Throws a
 * 403 ApiError.
 */
function admitMirror({ metadata: { name = '' }, spec = {} }: Draft, stored: Draft | undefined): void {
  const why = stored === undefined ? explainMirrorReference(spec) : undefined;
  if (why !== undefined) throw forbidden({ group: '', name: 'pods' }, name, why);
}

/** The condition of a new pod that is not to be scheduled yet; kube-scheduler writes none for it. */
function gatedConditions(spec: MutableJsonMap | undefined, now: string): MutableJsonMap {
  if (mapsAt(spec, 'schedulingGates').length === 0) return {};
  const message = 'Scheduling is blocked due to non-empty scheduling gates';
  const times = { lastProbeTime: null, lastTransitionTime: now };
  return { conditions: [{ type: 'PodScheduled', status: 'False', ...times, reason: 'SchedulingGated', message }] };
}

/** Upstream admission plugin `DefaultTolerationSeconds`. */
function addDefaultTolerations(spec: MutableJsonMap, seconds: number): void {
  const tolerations = mapsAt(spec, 'tolerations');
  const missing = [taintKeys.notReady, taintKeys.unreachable].filter(
    (key) => !tolerations.some((toleration) => covers(toleration, key)),
  );
  if (missing.length === 0) return;
  spec['tolerations'] = [
    ...tolerations,
    ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds })),
  ];
}

function covers(toleration: MutableJsonMap, key: string): boolean {
  return ['', key].includes(textAt(toleration, 'key')) && ['', 'NoExecute'].includes(textAt(toleration, 'effect'));
}

/** `/status` does not change owners, and the QoS class of a pod is immutable. */
function restoreForStatus(draft: Draft, stored: Draft): void {
  if (stored.metadata.ownerReferences === undefined) delete draft.metadata.ownerReferences;
  else draft.metadata.ownerReferences = stored.metadata.ownerReferences;
  const qosClass = textAt(stored.status, 'qosClass');
  if (qosClass !== '' && textAt(draft.status, 'qosClass') === '') draft.status = { ...draft.status, qosClass };
}

function fieldsOf(draft: Draft): Readonly<Record<string, string>> {
  const { spec, status } = draft;
  const addresses = mapsAt(status, 'podIPs').map((address) => textAt(address, 'ip'));
  return {
    ...Object.fromEntries(selectable.map((field) => [`spec.${field}`, textAt(spec, field)])),
    'spec.hostNetwork': spec?.['hostNetwork'] === true ? 'true' : 'false',
    'status.phase': textAt(status, 'phase'),
    'status.podIP': textAt(status, 'podIP'),
    'status.podIPs': addresses.join(','),
    'status.nominatedNodeName': textAt(status, 'nominatedNodeName'),
  };
}
