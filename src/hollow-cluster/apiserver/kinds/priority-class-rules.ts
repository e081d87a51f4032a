/** PriorityClasses (upstream `pkg/registry/scheduling`, `pkg/apis/scheduling/validation`). */
import { type FieldError, forbiddenField, invalidField } from '../api-errors/field-errors.ts';
import { forbidden } from '../api-errors/api-errors.ts';
import type { WriteContext } from '../registry/strategy.ts';
import type { KindRules } from '../registry/plain-strategy.ts';
import type { Draft } from '../storage/stored-object.ts';
import { checkOneOf } from '../validation/field-checks.ts';
import { fillIn } from './fill-in.ts';

/** Of classes that users define. */
const priorityMax = 1_000_000_000;

/** The classes that every cluster has. */
export const systemPriorityClasses = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
] as const;

export const priorityClassRules: KindRules = {
  prepareCreate: ({ metadata }) => {
    metadata.generation = 1;
  },
  admit: assertOneDefault,
  explainUndeletable: (name) =>
    systemPriorityClasses.some((known) => known.name === name)
      ? 'this is a system priority class and cannot be deleted'
      : undefined,
  setDefaults: (draft) => void fillIn(draft, { preemptionPolicy: 'PreemptLowerPriority' }),
  validateCreate: validatePriority,
  validateChange: validatePriorityUpdate,
};

/** Throws a 403 ApiError if another class is the default (upstream admission plugin `Priority`). */
function assertOneDefault(draft: Draft, { objects }: WriteContext): void {
  if (draft['globalDefault'] !== true) return;
  const { name = '' } = draft.metadata;
  for (const other of objects.table('priorityclasses.scheduling.k8s.io').now().from('')) {
    if (other.name === name || other.content['globalDefault'] !== true) continue;
    const why = `PriorityClass ${other.name} is already marked as default. Only one default can exist`;
    throw forbidden({ group: 'scheduling.k8s.io', name: 'priorityclasses' }, name, why);
  }
}

function validatePriority(draft: Draft): readonly FieldError[] {
  const { name = '' } = draft.metadata;
  const { value } = draft;
  const ofPolicy = checkOneOf(draft, 'preemptionPolicy', '', ['PreemptLowerPriority', 'Never']);
  if (name.startsWith('system-')) return [...validateSystemClass(name, value), ...ofPolicy];
  if (typeof value !== 'number' || value <= priorityMax) return ofPolicy;
  return [forbiddenField('value', `maximum allowed value of a user defined priority is ${priorityMax}`), ...ofPolicy];
}

function validateSystemClass(name: string, value: unknown): readonly FieldError[] {
  const known = systemPriorityClasses.find((one) => one.name === name);
  if (known?.value === value) return [];
  const why =
    known === undefined
      ? `${name} is not a known system priority class`
      : `value of ${name} PriorityClass must be ${known.value}`;
  const prefix = "priority class names with 'system-' prefix are reserved for system use only. error: ";
  return [forbiddenField('metadata.name', prefix + why)];
}

function validatePriorityUpdate(draft: Draft, stored: Draft): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (draft['value'] !== stored['value']) errors.push(forbiddenField('value', 'may not be changed in an update.'));
  const policy = draft['preemptionPolicy'];
  if (policy !== stored['preemptionPolicy']) {
    errors.push(invalidField('preemptionPolicy', policy, 'field is immutable'));
  }
  return errors;
}
