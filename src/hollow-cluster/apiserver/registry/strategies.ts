/** The strategies of all stored resources; the larger ones have a file of their own. */
import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Draft } from '../storage/stored-object.ts';
import { eventStrategy } from './event-strategy.ts';
import { type ServedResource, servedResources, tableOf } from '../resources.ts';
import { budgetStrategy } from './budget-strategy.ts';
import { coreRules } from '../kinds/core-rules.ts';
import { workloadRules } from '../kinds/workload-rules.ts';
import { customStrategy } from './custom-strategy.ts';
import { nodeStrategy } from './node-strategy.ts';
import { podStrategy } from './pod-strategy.ts';
import { rbacStrategies } from './rbac-strategies.ts';
import { type FieldError, invalidField } from '../api-errors/field-errors.ts';
import { textAt } from '../select-field.ts';
import { type KindRules, strategyOfRow } from './plain-strategy.ts';
import { isolateStatus, plainStrategy, type Strategy, takeField } from './strategy.ts';
import { explainLabel, explainSubdomain } from '../validation/formats.ts';

const kindRules: Readonly<Record<string, KindRules>> = { ...coreRules, ...workloadRules };

const namespacedFields = ['metadata.name', 'metadata.namespace'] as const;

/** By the name of the table in the store. */
export function makeStrategies(
  defaultTolerationSeconds: number,
  custom: readonly ServedResource[] = [],
): ReadonlyMap<string, Strategy> {
  const pods = podStrategy(defaultTolerationSeconds);
  const own = [nodeStrategy, pods, namespaceStrategy, eventStrategy, leaseStrategy, budgetStrategy, ...rbacStrategies];
  const named = new Map(own.map((strategy) => [strategy.table, strategy]));
  const stored = servedResources.filter(({ review }) => !review);
  const builtIn = stored.map((served) => named.get(tableOf(served)) ?? strategyOfRow(served, rulesOf(served)));
  return new Map([...builtIn, ...custom.map(customStrategy)].map((strategy) => [strategy.table, strategy]));
}

function rulesOf(served: ServedResource): KindRules | undefined {
  return ownValue(kindRules, tableOf(served));
}

/** Upstream `pkg/registry/coordination/lease/strategy.go`, `ValidateLease`. */
const leaseStrategy: Strategy = {
  ...plainStrategy,
  table: 'leases.coordination.k8s.io',
  namespaced: true,
  createsOnUpdate: true,
  needsVersion: true,
  explainName: explainSubdomain,
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
  explainName: explainLabel,
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
