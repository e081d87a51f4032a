/** Nodes (upstream `pkg/registry/core/node/strategy.go`, `ValidateNode`). */
import { taintKeys } from '../../../../machinery/api/taints.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { isLabelValue, isQualifiedName } from '../../../../machinery/api/names.ts';
import { sameJson } from '../../../../machinery/api/json-values.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../../api-errors/field-errors.ts';
import { mapsAt, type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';
import type { KindRules } from '../plain-strategy.ts';
import { isolateStatus } from '../strategy.ts';

const taintEffects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
export const nodeRules: KindRules = {
  fieldLabels: { labels: ['spec.unschedulable'] },
  setDefaults: (draft) => {
    defaultAllocatable(draft);
    pairPodCidrs(draft);
  },
  prepareCreate: taintUntilReady,
  prepareUpdate: isolateStatus,
  validate: (draft) => validateTaints(mapsAt(draft.spec, 'taints')),
  validateUpdate: (draft, stored) => [...validateAddresses(draft), ...validateSetOnce(draft, stored)],
  fieldsOf: (draft) => ({ 'spec.unschedulable': draft.spec?.['unschedulable'] === true ? 'true' : 'false' }),
};

function defaultAllocatable(draft: Draft): void {
  const { status } = draft;
  if (status?.['capacity'] !== undefined && status['allocatable'] === undefined) {
    status['allocatable'] = status['capacity'];
  }
}

/** `podCIDR` and the first of `podCIDRs` are one value (upstream conversion of `NodeSpec`). */
function pairPodCidrs({ spec }: Draft): void {
  if (spec === undefined) return;
  const single = textAt(spec, 'podCIDR');
  const list: readonly unknown[] = Array.isArray(spec['podCIDRs']) ? spec['podCIDRs'] : [];
  if (single !== '' && list[0] !== single) spec['podCIDRs'] = [single];
  else if (single === '' && typeof list[0] === 'string') spec['podCIDR'] = list[0];
}

/** A new node accepts no pods until it is ready (upstream admission plugin `TaintNodesByCondition`). */
function taintUntilReady(draft: Draft): void {
  const spec = (draft.spec ??= {});
  const taints = mapsAt(spec, 'taints');
  const tainted = taints.some((taint) => taint['key'] === taintKeys.notReady && taint['effect'] === 'NoSchedule');
  if (!tainted) spec['taints'] = [...taints, { key: taintKeys.notReady, effect: 'NoSchedule' }];
}

/** Field paths begin with `metadata`, as upstream. */
function validateTaints(taints: readonly MutableJsonMap[]): readonly FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const path = `metadata.taints[${index}]`;
    const errors = [...validateTaint(taint, path)];
    const identity = `${textAt(taint, 'key')}:${textAt(taint, 'effect')}`;
    if (seen.has(identity)) {
      errors.push(duplicateField(path, taint, 'taints must be unique by key and effect pair'));
    }
    seen.add(identity);
    return errors;
  });
}

function validateTaint(taint: MutableJsonMap, path: string): readonly FieldError[] {
  const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
  const errors: FieldError[] = [];
  if (!isQualifiedName(key)) errors.push(invalidField(`${path}.key`, key));
  if (!isLabelValue(value)) errors.push(invalidField(`${path}.value`, value));
  return [...errors, ...validateEffect(effect, `${path}.effect`)];
}

function validateEffect(effect: string, field: string): readonly FieldError[] {
  if (effect === '') return [requiredField(field)];
  return taintEffects.includes(effect) ? [] : [unsupportedField(field, effect, taintEffects)];
}

function validateAddresses(draft: Draft): readonly FieldError[] {
  const seen = new Set<string>();
  return mapsAt(draft.status, 'addresses').flatMap((address, index) => {
    const identity = JSON.stringify([address['type'], address['address']]);
    const repeated = seen.has(identity);
    seen.add(identity);
    return repeated ? [duplicateField(`status.addresses[${index}]`, address)] : [];
  });
}

function validateSetOnce(draft: Draft, stored: Draft): readonly FieldError[] {
  const isChanged = (field: 'podCIDRs' | 'providerID'): boolean =>
    stored.spec?.[field] !== undefined && !sameJson(stored.spec[field], draft.spec?.[field]);
  const ranges = 'node updates may not change podCIDR except from "" to valid';
  return [
    ...(isChanged('podCIDRs') ? [forbiddenField('spec.podCIDRs', ranges)] : []),
    ...(isChanged('providerID') ? [invalidField('spec.providerID', null, 'field cannot be modified once set')] : []),
  ];
}
