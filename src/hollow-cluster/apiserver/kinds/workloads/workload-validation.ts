/** What Deployments, ReplicaSets, StatefulSets and DaemonSets must be (upstream `pkg/apis/apps/validation`). */
import { ownValue } from '../../../../machinery/api/json-map.ts';
import { sameJson } from '../../../../machinery/api/json-values.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../../api-errors/field-errors.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, numberAt, textAt } from '../../select-field.ts';
import type { Draft } from '../../storage/stored-object.ts';
import {
  checkAtMostAll,
  checkCounts,
  checkOneOf,
  checkOptional,
  checkReplicaCounts,
  checkShare,
  isZeroShare,
} from '../../validation/field-checks.ts';
import { explainLabel } from '../../validation/formats.ts';
import { validateServing } from './pod-template-validation.ts';

const unusable = 'invalid label selector';
const retentions = ['Retain', 'Delete'] as const;
const changeable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

export function validateDeployment(draft: Draft): readonly FieldError[] {
  const { spec = {} } = draft;
  const counts = ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'];
  const about = { selectorOf: 'deployment', kind: 'ReplicaSet', unusable, counts };
  const errors = [...validateServing(draft, about), ...validateStrategy(mapAt(spec, 'strategy'))];
  const deadline = spec['progressDeadlineSeconds'];
  if (typeof deadline === 'number' && deadline <= numberAt(spec, 'minReadySeconds')) {
    errors.push(invalidField('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return errors;
}

function validateStrategy(strategy: MutableJsonMap): readonly FieldError[] {
  const { type, rollingUpdate } = strategy;
  const path = 'spec.strategy.rollingUpdate';
  switch (type) {
    case 'Recreate':
      if (rollingUpdate === undefined) return [];
      return [forbiddenField(path, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate':
      return isMap(rollingUpdate) ? validateRollingUpdate(rollingUpdate, path) : [];
    default:
      return [unsupportedField('spec.strategy', strategy, ['Recreate', 'RollingUpdate'])];
  }
}

function validateRollingUpdate(limits: MutableJsonMap, path: string): readonly FieldError[] {
  const { maxUnavailable, maxSurge } = limits;
  const field = `${path}.maxUnavailable`;
  const none = isZeroShare(maxUnavailable) && isZeroShare(maxSurge);
  return [
    ...checkShare(field, maxUnavailable),
    ...checkShare(`${path}.maxSurge`, maxSurge),
    ...(none ? [invalidField(field, maxUnavailable, 'may not be 0 when `maxSurge` is 0')] : []),
    ...checkAtMostAll(field, maxUnavailable),
  ];
}

/** Validation of the status of a Deployment or a ReplicaSet. */
function validateReplicaStatus({ status = {} }: Draft): readonly FieldError[] {
  const counts = [
    'observedGeneration',
    'replicas',
    'fullyLabeledReplicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ];
  return checkReplicaCounts(status, counts, ['readyReplicas', 'availableReplicas'], 'readyReplicas');
}

export function validateDeploymentStatus(draft: Draft): readonly FieldError[] {
  return [...validateReplicaStatus(draft), ...checkReplicaCounts(draft.status ?? {}, [], ['updatedReplicas'])];
}

export function validateReplicaSetStatus(draft: Draft): readonly FieldError[] {
  return [...validateReplicaStatus(draft), ...checkReplicaCounts(draft.status ?? {}, [], ['fullyLabeledReplicas'])];
}

export function validateReplicaSet(draft: Draft): readonly FieldError[] {
  const counts = ['replicas', 'minReadySeconds'];
  return validateServing(draft, { selectorOf: 'deployment', kind: 'ReplicaSet', unusable, counts });
}

export function validateStatefulSet(draft: Draft): readonly FieldError[] {
  const { spec = {} } = draft;
  const management = textAt(spec, 'podManagementPolicy');
  const isKnown = ['', 'OrderedReady', 'Parallel'].includes(management);
  const detail = "must be 'OrderedReady' or 'Parallel'";
  const retention = 'persistentVolumeClaimRetentionPolicy';
  const about = {
    selectorOf: 'statefulset',
    kind: 'StatefulSet',
    unusable: '',
    counts: ['replicas', 'minReadySeconds'],
  };
  return [
    ...(isKnown ? [] : [invalidField('spec.podManagementPolicy', management, detail)]),
    ...validateStatefulStrategy(mapAt(spec, 'updateStrategy')),
    ...['whenDeleted', 'whenScaled'].flatMap((when) =>
      checkOneOf(mapAt(spec, retention), when, `spec.${retention}`, retentions),
    ),
    ...checkCounts(mapAt(spec, 'ordinals'), ['start'], 'spec.ordinals'),
    ...validateServing(withoutIdentity(draft), about),
  ];
}

/** The controller sets these names, and adds volumes for the claims. */
function withoutIdentity(draft: Draft): Draft {
  const { spec = {} } = draft;
  const pod = mapAt(spec, 'template', 'spec');
  const claims = mapsAt(spec, 'volumeClaimTemplates').map((claim) => textAt(claim, 'metadata', 'name'));
  const own = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const others = mapsAt(pod, 'volumes').filter(({ name }) => !claims.some((claim) => claim === name));
  const template = {
    ...mapAt(spec, 'template'),
    spec: { ...pod, hostname: undefined, subdomain: undefined, volumes: [...own, ...others] },
  };
  return { ...draft, spec: { ...spec, template } };
}

/** Checked once: the name may not change. */
export function validateNewStatefulSet({ spec = {} }: Draft): readonly FieldError[] {
  return checkOptional(spec, 'serviceName', 'spec', explainLabel);
}

function validateStatefulStrategy(strategy: MutableJsonMap): readonly FieldError[] {
  const { type, rollingUpdate } = strategy;
  const path = 'spec.updateStrategy';
  const own = `${path}.rollingUpdate`;
  if (type === 'OnDelete') {
    if (rollingUpdate === undefined) return [];
    return [invalidField(own, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")];
  }
  if (type !== 'RollingUpdate') return [invalidField(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  if (!isMap(rollingUpdate)) return [];
  const { maxUnavailable } = rollingUpdate;
  const field = `${own}.maxUnavailable`;
  const none = maxUnavailable !== undefined && isZeroShare(maxUnavailable);
  return [
    ...checkCounts(rollingUpdate, ['partition'], own),
    ...checkShare(field, maxUnavailable),
    ...(none ? [invalidField(field, maxUnavailable, 'cannot be 0')] : []),
    ...checkAtMostAll(field, maxUnavailable),
  ];
}

export function validateStatefulSetChange(draft: Draft, stored: Draft): readonly FieldError[] {
  const fixedPart = ({ spec = {} }: Draft): MutableJsonMap =>
    Object.fromEntries(Object.entries(spec).filter(([field]) => !changeable.some((known) => known === field)));
  if (sameJson(fixedPart(draft), fixedPart(stored))) return [];
  const fields = changeable.slice(0, -1).map((field) => `'${field}'`);
  const why = `updates to statefulset spec for fields other than ${fields.join(', ')} and 'minReadySeconds' are forbidden`;
  return [forbiddenField('spec', why)];
}

export function validateStatefulSetStatus({ status = {} }: Draft): readonly FieldError[] {
  const limited = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];
  const counts = [...limited, 'replicas', 'observedGeneration', 'collisionCount'];
  return checkReplicaCounts(status, counts, limited, 'status.readyReplicas');
}

export function validateDaemonSet(draft: Draft): readonly FieldError[] {
  const counts = ['minReadySeconds', 'revisionHistoryLimit'];
  return [
    ...validateServing(draft, { selectorOf: 'daemonset', kind: 'DaemonSet', counts }),
    ...validateDaemonStrategy(mapAt(draft.spec, 'updateStrategy')),
  ];
}

function validateDaemonStrategy(strategy: MutableJsonMap): readonly FieldError[] {
  const { type, rollingUpdate } = strategy;
  const path = 'spec.updateStrategy';
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') return [unsupportedField(path, strategy, ['RollingUpdate', 'OnDelete'])];
  return validateDaemonLimits(mapAt({ rollingUpdate }, 'rollingUpdate'), `${path}.rollingUpdate`);
}

/** Exactly one of the limits is not zero. */
function validateDaemonLimits(limits: MutableJsonMap, path: string): readonly FieldError[] {
  const { maxUnavailable, maxSurge } = limits;
  const errors = ['maxUnavailable', 'maxSurge'].flatMap((name) => [
    ...checkShare(`${path}.${name}`, ownValue(limits, name)),
    ...checkAtMostAll(`${path}.${name}`, ownValue(limits, name)),
  ]);
  if (!isZeroShare(maxUnavailable) && !isZeroShare(maxSurge)) {
    errors.push(invalidField(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (isZeroShare(maxUnavailable) && isZeroShare(maxSurge)) {
    errors.push(requiredField(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}

export function validateDaemonSetStatus({ status = {} }: Draft): readonly FieldError[] {
  const counts = [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ];
  return checkCounts(status, counts, 'status');
}

/** The selector may not change. */
export function validateSelectorKept(draft: Draft, stored: Draft): readonly FieldError[] {
  const selector = draft.spec?.['selector'];
  if (sameJson(selector, stored.spec?.['selector'])) return [];
  return [invalidField('spec.selector', selector ?? null, 'field is immutable')];
}
