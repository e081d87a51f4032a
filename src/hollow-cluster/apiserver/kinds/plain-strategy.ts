/** The strategy of a resource, from its row and the rules of its kind: names, generation and status as upstream's generic registry. */
import type { FieldError } from '../api-errors/field-errors.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import { type ServedResource, tableOf } from '../resources.ts';
import type { FieldLabels } from '../registry/selection.ts';
import type { Draft } from '../storage/stored-object.ts';
import { type Endpoint, isolateStatus, type Strategy, type WriteContext } from './strategy.ts';
import { explainSubdomain } from '../validation/formats.ts';

/** What a kind does differently. */
export type KindRules = Partial<Omit<Strategy, 'table' | 'namespaced' | 'fieldLabels'>> & {
  /** Field labels beyond name and namespace. */
  readonly fieldLabels?: FieldLabels;
  /** Validation on creation, without a stored object, and on changes of anything but the status. */
  readonly validateSpec?: (draft: Draft, stored?: Draft) => readonly FieldError[];
  /** Further validation of changes of anything but the status. */
  readonly validateChange?: (draft: Draft, stored: Draft) => readonly FieldError[];
  /** Validation of changes of the status. */
  readonly validateStatus?: (draft: Draft, stored: Draft) => readonly FieldError[];
  /** The status of a new object; default: empty. */
  readonly initialStatus?: Readonly<Record<string, unknown>>;
  /** Completes a new object, which has its generation and status. */
  readonly prepareNew?: (draft: Draft, context: WriteContext) => void;
  /** Completes an update, before its generation is computed. */
  readonly prepareChange?: (draft: Draft, stored: Draft, endpoint: Endpoint) => void;
};

export function strategyOfRow(served: ServedResource, allRules: KindRules = {}): Strategy {
  const { initialStatus, prepareNew, prepareChange, fieldLabels, ...others } = allRules;
  const { validateSpec, validateChange, validateStatus, ...rules } = others;
  const { namespaced } = served;
  const hasStatus = served.subresources.some(({ name }) => name === 'status');
  const labels = ['metadata.name', ...(namespaced ? ['metadata.namespace'] : []), ...(fieldLabels?.labels ?? [])];
  return {
    table: tableOf(served),
    namespaced,
    fieldLabels: { ...fieldLabels, labels },
    createsOnUpdate: false,
    needsVersion: false,
    returnsDeleted: false,
    graceful: false,
    explainName: explainSubdomain,
    setDefaults: () => {},
    admit: () => {},
    prepareCreate: (draft, context) => {
      if (hasStatus) {
        draft.metadata.generation = 1;
        draft.status = structuredClone({ ...initialStatus });
      }
      prepareNew?.(draft, context);
    },
    prepareUpdate: (draft, stored, endpoint) => {
      if (hasStatus) isolateStatus(draft, stored, endpoint);
      prepareChange?.(draft, stored, endpoint);
      if (hasStatus) incrementGeneration(draft, stored);
    },
    validate: () => [],
    validateCreate: (draft) => validateSpec?.(draft) ?? [],
    validateUpdate: (draft, stored, endpoint) =>
      endpoint === 'status'
        ? (validateStatus?.(draft, stored) ?? [])
        : [...(validateSpec?.(draft, stored) ?? []), ...(validateChange?.(draft, stored) ?? [])],
    fieldsOf: () => ({}),
    ...rules,
  };
}

/** A new generation, if anything but metadata and status changed. */
export function incrementGeneration(draft: Draft, stored: Draft): void {
  const { metadata: _metadata, status: _status, ...fields } = draft;
  const { metadata: _before, status: _statusBefore, ...before } = stored;
  if (!sameJson(fields, before)) draft.metadata.generation = (stored.metadata.generation ?? 0) + 1;
}
