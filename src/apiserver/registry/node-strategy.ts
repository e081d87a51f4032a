/** Nodes (upstream `pkg/registry/core/node/strategy.go`, `ValidateNode`). */
import { taintKeys } from '../../api/taints.ts';
import type { Draft, JsonMap } from '../storage/stored-object.ts';
import { isDnsSubdomain, isLabelValue, isQualifiedName } from './names.ts';
import type { FieldError } from './refusals.ts';
import { sameValue } from './same-value.ts';
import { isolateStatus, mapsOf, plainStrategy, type Strategy, textAt } from './strategy.ts';

export const taintEffects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const setOnce = ['podCIDRs', 'providerID'] as const;

export const nodeStrategy: Strategy = {
  ...plainStrategy,
  kind: 'Node',
  group: '',
  plural: 'nodes',
  namespaced: false,
  isName: isDnsSubdomain,
  fieldLabels: { labels: ['metadata.name', 'spec.unschedulable'] },
  setDefaults: (draft) => {
    defaultAllocatable(draft);
    pairPodCidrs(draft);
  },
  prepareCreate: taintUntilReady,
  prepareUpdate: isolateStatus,
  validate: (draft) => validateTaints(mapsOf(draft.spec?.['taints'])),
  validateUpdate: (draft, stored) => [...validateAddresses(draft), ...validateSetOnce(draft, stored)],
  fieldsOf: (draft) => ({ 'spec.unschedulable': draft.spec?.['unschedulable'] === true ? 'true' : 'false' }),
};

function defaultAllocatable(draft: Draft): void {
  const { status } = draft;
  if (status?.['capacity'] !== undefined && status['allocatable'] === undefined) {
    status['allocatable'] = status['capacity'];
  }
}

/** The older single field and the first of the newer list are one value (upstream conversion of `NodeSpec`). */
function pairPodCidrs({ spec }: Draft): void {
  if (spec === undefined) return;
  const single = textAt(spec, 'podCIDR');
  const list: readonly unknown[] = Array.isArray(spec['podCIDRs']) ? spec['podCIDRs'] : [];
  if (single !== '' && list[0] !== single) spec['podCIDRs'] = [single];
  else if (single === '' && typeof list[0] === 'string') spec['podCIDR'] = list[0];
}

/** A new node takes no pods before somebody has seen it ready (upstream admission plugin `TaintNodesByCondition`). */
function taintUntilReady(draft: Draft): void {
  const spec = (draft.spec ??= {});
  const taints = mapsOf(spec['taints']);
  const tainted = taints.some((taint) => taint['key'] === taintKeys.notReady && taint['effect'] === 'NoSchedule');
  if (!tainted) spec['taints'] = [...taints, { key: taintKeys.notReady, effect: 'NoSchedule' }];
}

/** Field paths begin with `metadata`: an upstream quirk that clients have seen for years. */
function validateTaints(taints: readonly JsonMap[]): readonly FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const path = `metadata.taints[${index}]`;
    const errors = [...validateTaint(taint, path)];
    const identity = `${textAt(taint, 'key')}:${textAt(taint, 'effect')}`;
    if (seen.has(identity)) {
      const detail = 'taints must be unique by key and effect pair';
      errors.push({ field: path, problem: 'FieldValueDuplicate', value: taint, detail });
    }
    seen.add(identity);
    return errors;
  });
}

function validateTaint(taint: JsonMap, path: string): readonly FieldError[] {
  const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
  const errors: FieldError[] = [];
  if (!isQualifiedName(key)) errors.push({ field: `${path}.key`, problem: 'FieldValueInvalid', value: key });
  if (!isLabelValue(value)) errors.push({ field: `${path}.value`, problem: 'FieldValueInvalid', value });
  return [...errors, ...validateEffect(effect, `${path}.effect`, false)];
}

/** One of the three; empty only where that means all of them. */
export function validateEffect(effect: string, field: string, emptyAllowed: boolean): readonly FieldError[] {
  if (effect === '') return emptyAllowed ? [] : [{ field, problem: 'FieldValueRequired' }];
  if (taintEffects.includes(effect)) return [];
  const detail = `supported values: ${taintEffects.map((word) => `"${word}"`).join(', ')}`;
  return [{ field, problem: 'FieldValueNotSupported', value: effect, detail }];
}

function validateAddresses(draft: Draft): readonly FieldError[] {
  const seen = new Set<string>();
  return mapsOf(draft.status?.['addresses']).flatMap((address, index): readonly FieldError[] => {
    const identity = JSON.stringify([address['type'], address['address']]);
    const repeated = seen.has(identity);
    seen.add(identity);
    return repeated ? [{ field: `status.addresses[${index}]`, problem: 'FieldValueDuplicate', value: address }] : [];
  });
}

function validateSetOnce(draft: Draft, stored: Draft): readonly FieldError[] {
  return setOnce
    .filter((field) => {
      const before = stored.spec?.[field];
      return before !== undefined && !sameValue(before, draft.spec?.[field]);
    })
    .map((field) => ({
      field: `spec.${field}`,
      problem: 'FieldValueForbidden',
      detail: 'node updates may not change this field once it is set',
    }));
}
