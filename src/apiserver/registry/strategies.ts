/** Every stored resource and what is special about it; those with more to say have a file of their own. */
import type { Draft, JsonMap } from '../storage/stored-object.ts';
import { eventStrategy } from './event-strategy.ts';
import { isDnsLabel, isDnsSubdomain } from './names.ts';
import { nodeStrategy } from './node-strategy.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validatePodSpec } from './pod-rules.ts';
import { podStrategy } from './pod-strategy.ts';
import type { FieldError } from './refusals.ts';
import { sameValue } from './same-value.ts';
import {
  type Endpoint,
  isolateStatus,
  isRecord,
  mapsOf,
  plainStrategy,
  type Strategy,
  takeField,
  textAt,
} from './strategy.ts';

const namespacedFields = ['metadata.name', 'metadata.namespace'] as const;

export interface StrategyOptions {
  readonly defaultTolerationSeconds: number;
}

/** By plural, which is also the name under which the store keeps them. */
export function makeStrategies(options: StrategyOptions): ReadonlyMap<string, Strategy> {
  const all = [
    nodeStrategy,
    podStrategy(options.defaultTolerationSeconds),
    namespaceStrategy,
    eventStrategy,
    leaseStrategy,
    daemonSetStrategy,
  ];
  return new Map(all.map((strategy) => [strategy.plural, strategy]));
}

/** Upstream `pkg/registry/coordination/lease/strategy.go`, `ValidateLease`. */
const leaseStrategy: Strategy = {
  ...plainStrategy,
  kind: 'Lease',
  group: 'coordination.k8s.io',
  plural: 'leases',
  namespaced: true,
  createsOnUpdate: true,
  needsVersion: true,
  isName: isDnsSubdomain,
  fieldLabels: { labels: namespacedFields },
  validate: validateLease,
};

function validateLease({ spec }: Draft): readonly FieldError[] {
  const [duration, transitions] = [spec?.['leaseDurationSeconds'], spec?.['leaseTransitions']];
  const errors: FieldError[] = [];
  if (typeof duration === 'number' && duration <= 0) {
    const field = 'spec.leaseDurationSeconds';
    errors.push({ field, problem: 'FieldValueInvalid', value: duration, detail: 'must be greater than 0' });
  }
  if (typeof transitions === 'number' && transitions < 0) {
    const detail = 'must be greater than or equal to 0';
    errors.push({ field: 'spec.leaseTransitions', problem: 'FieldValueInvalid', value: transitions, detail });
  }
  return errors;
}

/** Upstream `pkg/registry/core/namespace/strategy.go`. */
const namespaceStrategy: Strategy = {
  ...plainStrategy,
  kind: 'Namespace',
  group: '',
  plural: 'namespaces',
  namespaced: false,
  returnsDeleted: true,
  isName: isDnsLabel,
  fieldLabels: { labels: ['metadata.name', 'status.phase'] },
  setDefaults: (draft) => {
    draft.metadata.labels = { ...draft.metadata.labels, 'kubernetes.io/metadata.name': draft.metadata.name ?? '' };
  },
  prepareCreate: (draft) => {
    const finalizers: readonly unknown[] = Array.isArray(draft.spec?.['finalizers']) ? draft.spec['finalizers'] : [];
    draft.spec = { ...draft.spec, finalizers: [...new Set([...finalizers, 'kubernetes'])] };
    draft.status = { phase: 'Active' };
  },
  prepareUpdate: isolateNamespace,
  fieldsOf: (draft) => ({ 'status.phase': textAt(draft.status, 'phase') }),
};

/** The spec is nothing but finalizers, and only `/finalize` may touch those. */
function isolateNamespace(draft: Draft, stored: Draft, endpoint: Endpoint): void {
  isolateStatus(draft, stored, endpoint);
  if (endpoint !== 'finalize') takeField(draft, stored, 'spec');
}

/** Upstream `pkg/registry/apps/daemonset/strategy.go`. */
const daemonSetStrategy: Strategy = {
  ...plainStrategy,
  kind: 'DaemonSet',
  group: 'apps',
  plural: 'daemonsets',
  namespaced: true,
  isName: isDnsSubdomain,
  fieldLabels: { labels: namespacedFields },
  setDefaults: defaultDaemonSet,
  prepareCreate: (draft) => {
    draft.metadata.generation = 1;
    draft.status = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
  },
  prepareUpdate: (draft, stored, endpoint) => {
    isolateStatus(draft, stored, endpoint);
    if (!sameValue(draft.spec, stored.spec)) draft.metadata.generation = (stored.metadata.generation ?? 0) + 1;
  },
  validate: validateDaemonSet,
  validateUpdate: validateSelectorKept,
};

function defaultDaemonSet(draft: Draft): void {
  const spec = (draft.spec ??= {});
  spec['revisionHistoryLimit'] ??= 10;
  const strategy = isRecord(spec['updateStrategy']) ? spec['updateStrategy'] : {};
  const type = textAt(strategy, 'type') || 'RollingUpdate';
  spec['updateStrategy'] = { ...strategy, type };
  if (type === 'RollingUpdate') {
    const rolling = isRecord(strategy['rollingUpdate']) ? strategy['rollingUpdate'] : {};
    spec['updateStrategy'] = { type, rollingUpdate: { maxUnavailable: 1, maxSurge: 0, ...rolling } };
  }
  const template = spec['template'];
  if (isRecord(template) && isRecord(template['spec'])) defaultPodSpec(template['spec']);
}

function validateDaemonSet({ spec = {} }: Draft): readonly FieldError[] {
  const template: JsonMap = isRecord(spec['template']) ? spec['template'] : {};
  const podSpec = isRecord(template['spec']) ? template['spec'] : {};
  return [...validateSelector(spec, template), ...validatePodSpec(podSpec, 'spec.template.spec')];
}

function validateSelector(spec: JsonMap, template: JsonMap): readonly FieldError[] {
  const wanted = Object.entries(labelsWanted(spec['selector']));
  const metadata = isRecord(template['metadata']) ? template['metadata'] : {};
  const matched = wanted.every(([key, value]) => textAt(metadata, 'labels', key) === value);
  // Expressions are taken as they are: whether they match the template is not checked here.
  if (matched && (wanted.length > 0 || hasExpressions(spec['selector']))) return [];
  const detail = '`selector` does not match template `labels`';
  const value = metadata['labels'] ?? {};
  return [{ field: 'spec.template.metadata.labels', problem: 'FieldValueInvalid', value, detail }];
}

function hasExpressions(selector: unknown): boolean {
  return isRecord(selector) && mapsOf(selector['matchExpressions']).length > 0;
}

function labelsWanted(selector: unknown): JsonMap {
  return isRecord(selector) && isRecord(selector['matchLabels']) ? selector['matchLabels'] : {};
}

function validateSelectorKept(draft: Draft, stored: Draft): readonly FieldError[] {
  const value = draft.spec?.['selector'];
  if (sameValue(value, stored.spec?.['selector'])) return [];
  return [{ field: 'spec.selector', problem: 'FieldValueInvalid', value, detail: 'field is immutable' }];
}
