/** What Jobs must be (upstream `pkg/apis/batch/validation`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import { listRequirements, matchesLabels } from '../../../machinery/api/label-selector.ts';
import {
  duplicateField,
  type FieldError,
  inconsistentField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../api-errors/field-errors.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, numberAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { checkCounts, checkFormat, checkKept, checkOneOf, checkSelector } from '../validation/field-checks.ts';
import { findRepeated } from '../validation/find-repeated.ts';
import { explainLabel, explainQualifiedName, explainSubdomain } from '../validation/formats.ts';
import { countIndexes } from './job-indexes.ts';
import { validateEndingPod, validateSelected } from './pod-template-rules.ts';

const completionModes = ['NonIndexed', 'Indexed'] as const;
const replacementPolicies = ['Failed', 'TerminatingOrFailed'] as const;
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'] as const;
const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;
const fixed = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;
const managerMax = 63;

export function validateJob(draft: Draft): readonly FieldError[] {
  const { spec = {} } = draft;
  const ofSelector = isMap(spec['selector'])
    ? checkSelector('spec.selector', spec['selector'])
    : [requiredField('spec.selector')];
  return [...validateJobSpec(spec, 'spec'), ...ofSelector, ...validateSelected(spec)];
}

/** The selector is generated, and the name of a pod with the last index is one. */
export function validateNewJob(draft: Draft): readonly FieldError[] {
  const { metadata, spec = {} } = draft;
  const completions = numberAt(spec, 'completions');
  const errors = [...validateGenerated(draft)];
  if (spec['completionMode'] !== 'Indexed' || completions < 1) return errors;
  const { name = '' } = metadata;
  const last = `${name}-${completions - 1}`;
  if (explainLabel(last).length === 0) return errors;
  return [
    ...errors,
    invalidField('metadata.name', name, `will not able to create pod with invalid DNS label: ${last}`),
  ];
}

function validateGenerated({ metadata, spec = {} }: Draft): readonly FieldError[] {
  const { selector } = spec;
  if (spec['manualSelector'] === true || !isMap(selector)) return [];
  const { uid = '', name = '' } = metadata;
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  if (matchesLabels(listRequirements(selector), labels)) return [];
  return [invalidField('spec.selector', selector, '`selector` not auto-generated')];
}

/** Of a Job, or in a CronJob. */
export function validateJobSpec(spec: MutableJsonMap, path: string): readonly FieldError[] {
  return [
    ...checkCounts(spec, counts, path),
    ...validateFailedIndexes(spec, path),
    ...validateManager(spec, path),
    ...validateMode(spec, path),
    ...validateFailurePolicy(spec, `${path}.podFailurePolicy`),
    ...validateSuccessPolicy(spec, `${path}.successPolicy`),
    ...checkOneOf(
      spec,
      'podReplacementPolicy',
      path,
      spec['podFailurePolicy'] === undefined ? replacementPolicies : ['Failed'],
    ),
    ...validateEndingPod(spec, path),
  ];
}

function validateFailedIndexes(spec: MutableJsonMap, path: string): readonly FieldError[] {
  if (spec['maxFailedIndexes'] === undefined || spec['backoffLimitPerIndex'] !== undefined) return [];
  return [requiredField(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')];
}

function validateManager(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const { managedBy } = spec;
  const field = `${path}.managedBy`;
  if (typeof managedBy !== 'string') return [];
  if (managedBy === '') return [requiredField(field)];
  const [domain = '', ...rest] = managedBy.split('/');
  if (domain === '' || rest.join('/') === '') {
    return [invalidField(field, managedBy, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const tooLong = { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${managerMax} bytes`, field };
  return [...checkFormat(field, domain, explainSubdomain), ...(managedBy.length > managerMax ? [tooLong] : [])];
}

function validateMode(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const mode = textAt(spec, 'completionMode') || 'NonIndexed';
  if (mode === 'Indexed') return validateIndexed(spec, path);
  if (mode !== 'NonIndexed') return [unsupportedField(`${path}.completionMode`, mode, completionModes)];
  return ['backoffLimitPerIndex', 'maxFailedIndexes']
    .filter((field) => ownValue(spec, field) !== undefined)
    .map((field) => invalidField(`${path}.${field}`, ownValue(spec, field), 'requires indexed completion mode'));
}

function validateIndexed(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const { completions, maxFailedIndexes: failed, parallelism } = spec;
  const errors: FieldError[] = [];
  if (completions === undefined) errors.push(requiredField(`${path}.completions`, 'when completion mode is Indexed'));
  if (typeof parallelism === 'number' && parallelism > 100_000) {
    const detail = 'must be less than or equal to 100000 when completion mode is Indexed';
    errors.push(invalidField(`${path}.parallelism`, parallelism, detail));
  }
  if (typeof failed === 'number' && typeof completions === 'number' && failed > completions) {
    errors.push(invalidField(`${path}.maxFailedIndexes`, failed, 'must be less than or equal to completions'));
  }
  return errors;
}

function validateFailurePolicy(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const names = ['containers', 'initContainers'].flatMap((kind) =>
    mapsAt(spec, 'template', 'spec', kind).map((container) => textAt(container, 'name')),
  );
  return mapsAt(spec, 'podFailurePolicy', 'rules').flatMap((rule, index) => {
    const own = `${path}.rules[${index}]`;
    const [codes, conditions] = [rule['onExitCodes'], mapsAt(rule, 'onPodConditions')];
    const both = codes !== undefined && conditions.length > 0;
    const none = codes === undefined && conditions.length === 0;
    return [
      ...validateAction(rule, spec, own),
      ...(isMap(codes) ? validateExitCodes(codes, `${own}.onExitCodes`, names) : []),
      ...conditions.flatMap((condition, place) => validateCondition(condition, `${own}.onPodConditions[${place}]`)),
      ...(both ? [inconsistentField(own, 'specifying both OnExitCodes and OnPodConditions is not supported')] : []),
      ...(none ? [inconsistentField(own, 'specifying one of OnExitCodes and OnPodConditions is required')] : []),
    ];
  });
}

function validateAction(rule: MutableJsonMap, spec: MutableJsonMap, path: string): readonly FieldError[] {
  const action = textAt(rule, 'action');
  const field = `${path}.action`;
  if (action === '') return [requiredField(field, `valid values: [${actions.map((one) => `"${one}"`).join(' ')}]`)];
  if (action !== 'FailIndex') return checkOneOf(rule, 'action', path, actions);
  if (spec['backoffLimitPerIndex'] !== undefined) return [];
  return [invalidField(field, action, 'requires the backoffLimitPerIndex to be set')];
}

function validateCondition(condition: MutableJsonMap, path: string): readonly FieldError[] {
  return [
    ...checkFormat(`${path}.type`, textAt(condition, 'type'), explainQualifiedName),
    ...checkOneOf(condition, 'status', path, ['False', 'True', 'Unknown']),
  ];
}

function validateExitCodes(codes: MutableJsonMap, path: string, names: readonly string[]): readonly FieldError[] {
  const values: readonly number[] = Array.isArray(codes['values']) ? codes['values'] : [];
  const field = `${path}.values`;
  const container = textAt(codes, 'containerName');
  const unknown = 'must be one of the container or initContainer names in the pod template';
  const repeated = findRepeated(values);
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? 0) <= value);
  return [
    ...checkOneOf(codes, 'operator', path, ['In', 'NotIn']),
    ...(container !== '' && !names.includes(container)
      ? [invalidField(`${path}.containerName`, container, unknown)]
      : []),
    ...(values.length === 0 ? [invalidField(field, null, 'at least one value is required')] : []),
    ...values.flatMap((value, index) => [
      ...(value === 0 && codes['operator'] === 'In'
        ? [invalidField(`${field}[${index}]`, value, 'must not be 0 for the In operator')]
        : []),
      ...(repeated.has(index) ? [duplicateField(`${field}[${index}]`, value)] : []),
    ]),
    ...(isOrdered ? [] : [invalidField(field, values, 'must be ordered')]),
  ];
}

function validateSuccessPolicy(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const { successPolicy } = spec;
  if (!isMap(successPolicy)) return [];
  if (spec['completionMode'] !== 'Indexed') {
    return [invalidField(path, successPolicy, 'requires indexed completion mode')];
  }
  const rules = mapsAt(successPolicy, 'rules');
  const none = 'at least one rules must be specified when the successPolicy is specified';
  return [
    ...(rules.length === 0 ? [requiredField(`${path}.rules`, none)] : []),
    ...rules.flatMap((rule, index) =>
      validateSuccessRule(rule, numberAt(spec, 'completions'), `${path}.rules[${index}]`),
    ),
  ];
}

function validateSuccessRule(rule: MutableJsonMap, completions: number, path: string): readonly FieldError[] {
  const { succeededCount: count, succeededIndexes } = rule;
  const errors: FieldError[] = [];
  if (count === undefined && succeededIndexes === undefined) {
    errors.push(requiredField(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  }
  const indexes = typeof succeededIndexes === 'string' ? countIndexes(succeededIndexes, completions) : undefined;
  if (typeof indexes === 'string') {
    const detail = `error parsing succeededIndexes: ${indexes}`;
    errors.push(invalidField(`${path}.succeededIndexes`, succeededIndexes, detail));
  }
  if (typeof count !== 'number') return errors;
  const field = `${path}.succeededCount`;
  errors.push(...checkCounts(rule, ['succeededCount'], path));
  if (count > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`;
    errors.push(invalidField(field, count, detail));
  }
  if (typeof indexes === 'number' && count > indexes) {
    const detail = `must be less than or equal to ${indexes} (the number of indexes in the specified succeededIndexes field)`;
    errors.push(invalidField(field, count, detail));
  }
  return errors;
}

export function validateJobChange(draft: Draft, stored: Draft): readonly FieldError[] {
  const specs = [draft.spec ?? {}, stored.spec ?? {}] as const;
  return [
    ...validateCompletions(...specs),
    ...validateGenerated(draft),
    ...checkKept(isUnstarted(stored) ? withSchedulingOf(...specs) : specs, ['template'], 'spec'),
    ...checkKept(specs, fixed, 'spec'),
  ];
}

/** Only an Indexed Job may change its completions, together with its parallelism. */
function validateCompletions(spec: MutableJsonMap, before: MutableJsonMap): readonly FieldError[] {
  if (spec['completions'] === before['completions']) return [];
  const completions = spec['completions'] ?? null;
  if (spec['completionMode'] !== 'Indexed')
    return [invalidField('spec.completions', completions, 'field is immutable')];
  if (completions === null || completions === spec['parallelism']) return [];
  return [invalidField('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

/** A suspended Job that has not started may change where its pods run, and their resources. */
function isUnstarted(stored: Draft): boolean {
  return stored.spec?.['suspend'] === true && stored.status?.['startTime'] === undefined;
}

function withSchedulingOf(after: MutableJsonMap, before: MutableJsonMap): readonly [MutableJsonMap, MutableJsonMap] {
  return [{ template: fixedTemplate(after) }, { template: fixedTemplate(before) }];
}

function fixedTemplate(spec: MutableJsonMap): MutableJsonMap {
  const template = mapAt(spec, 'template');
  const pod = mapAt(template, 'spec');
  const { nodeAffinity: _affinity, ...affinity } = mapAt(pod, 'affinity');
  const withoutResources = (field: string): readonly MutableJsonMap[] =>
    mapsAt(pod, field).map((container) => ({ ...container, resources: undefined }));
  return {
    spec: {
      ...pod,
      affinity: sameJson(affinity, {}) ? undefined : affinity,
      nodeSelector: undefined,
      tolerations: undefined,
      schedulingGates: undefined,
      containers: withoutResources('containers'),
      initContainers: withoutResources('initContainers'),
    },
  };
}
