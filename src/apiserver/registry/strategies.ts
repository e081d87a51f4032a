/** The strategies of all stored resources; the larger ones have a file of their own. */
import type { Draft } from '../storage/stored-object.ts';
import { eventStrategy } from './event-strategy.ts';
import { type ServedResource, servedResources, tableOf } from '../resources.ts';
import { budgetStrategy } from './budget-strategy.ts';
import { customStrategy } from './custom-strategy.ts';
import { isDnsLabel, isDnsSubdomain } from '../../api/names.ts';
import { nodeStrategy } from './node-strategy.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validatePodSpec } from './pod-rules.ts';
import { podStrategy } from './pod-strategy.ts';
import { rbacStrategies } from './rbac-strategies.ts';
import { type FieldError, invalidField } from '../api-errors/field-errors.ts';
import { sameJson } from '../../api/same-json.ts';
import { isMap, mapAt, mapsAt, textAt, valueAt } from '../select-field.ts';
import { type KindRules, strategyOfRow } from './plain-strategy.ts';
import { workloadRules } from './workload-rules.ts';
import { isolateStatus, plainStrategy, type Strategy, takeField } from './strategy.ts';

const namespacedFields = ['metadata.name', 'metadata.namespace'] as const;

/** By the name of the table in the store. */
export function makeStrategies(
  defaultTolerationSeconds: number,
  custom: readonly ServedResource[] = [],
): ReadonlyMap<string, Strategy> {
  const pods = podStrategy(defaultTolerationSeconds);
  const own = [
    nodeStrategy,
    pods,
    namespaceStrategy,
    eventStrategy,
    leaseStrategy,
    daemonSetStrategy,
    budgetStrategy,
    ...rbacStrategies,
  ];
  const named = new Map(own.map((strategy) => [strategy.table, strategy]));
  const stored = servedResources.filter(({ review }) => !review);
  const builtIn = stored.map((served) => named.get(tableOf(served)) ?? strategyOfRow(served, rulesOf(served)));
  return new Map([...builtIn, ...custom.map(customStrategy)].map((strategy) => [strategy.table, strategy]));
}

function rulesOf(served: ServedResource): KindRules | undefined {
  return workloadRules[tableOf(served)];
}

/** Upstream `pkg/registry/coordination/lease/strategy.go`, `ValidateLease`. */
const leaseStrategy: Strategy = {
  ...plainStrategy,
  table: 'leases.coordination.k8s.io',
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
    errors.push(invalidField('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  if (typeof transitions === 'number' && transitions < 0) {
    errors.push(invalidField('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  return errors;
}

/** The phase follows from the deletion (upstream `ValidateNamespaceStatusUpdate`). */
function validatePhase({ metadata, status }: Draft): readonly FieldError[] {
  const phase = textAt(status, 'phase');
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const wanted = isDeleted ? 'Terminating' : 'Active';
  if (phase === wanted) return [];
  const detail = `may only be '${wanted}' if \`deletionTimestamp\` is ${isDeleted ? 'not ' : ''}empty`;
  return [invalidField('status.Phase', phase, detail)];
}

/** Upstream `pkg/registry/core/namespace/strategy.go`. */
const namespaceStrategy: Strategy = {
  ...plainStrategy,
  table: 'namespaces',
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
  prepareUpdate: (draft, stored, endpoint) => {
    isolateStatus(draft, stored, endpoint);
    // The spec consists of finalizers only, and only `/finalize` may change them.
    if (endpoint !== 'finalize') takeField(draft, stored, 'spec');
  },
  validateUpdate: (draft, _stored, endpoint) => (endpoint === 'status' ? validatePhase(draft) : []),
  fieldsOf: (draft) => ({ 'status.phase': textAt(draft.status, 'phase') }),
};

/** Upstream `pkg/registry/apps/daemonset/strategy.go`. */
const daemonSetStrategy: Strategy = {
  ...plainStrategy,
  table: 'daemonsets.apps',
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
    if (!sameJson(draft.spec, stored.spec)) draft.metadata.generation = (stored.metadata.generation ?? 0) + 1;
  },
  validate: validateDaemonSet,
  validateUpdate: validateSelectorKept,
};

function defaultDaemonSet(draft: Draft): void {
  const spec = (draft.spec ??= {});
  spec['revisionHistoryLimit'] ??= 10;
  const strategy = mapAt(spec, 'updateStrategy');
  const type = textAt(strategy, 'type') || 'RollingUpdate';
  spec['updateStrategy'] = { ...strategy, type };
  if (type === 'RollingUpdate') {
    const rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...mapAt(strategy, 'rollingUpdate') };
    spec['updateStrategy'] = { type, rollingUpdate };
  }
  const podSpec = valueAt(spec, 'template', 'spec');
  if (isMap(podSpec)) defaultPodSpec(podSpec);
}

function validateDaemonSet({ spec = {} }: Draft): readonly FieldError[] {
  const podErrors = validatePodSpec(mapAt(spec, 'template', 'spec'), 'spec.template.spec');
  const wanted = Object.entries(mapAt(spec, 'selector', 'matchLabels'));
  const metadata = mapAt(spec, 'template', 'metadata');
  const matched = wanted.every(([key, value]) => textAt(metadata, 'labels', key) === value);
  // matchExpressions are not compared with the template.
  if (matched && (wanted.length > 0 || mapsAt(spec, 'selector', 'matchExpressions').length > 0)) return podErrors;
  const labels = metadata['labels'] ?? {};
  const detail = '`selector` does not match template `labels`';
  return [invalidField('spec.template.metadata.labels', labels, detail), ...podErrors];
}

function validateSelectorKept(draft: Draft, stored: Draft): readonly FieldError[] {
  const value = draft.spec?.['selector'];
  if (sameJson(value, stored.spec?.['selector'])) return [];
  return [invalidField('spec.selector', value, 'field is immutable')];
}
