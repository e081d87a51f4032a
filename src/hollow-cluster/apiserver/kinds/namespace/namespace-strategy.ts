/** Namespaces (upstream `pkg/registry/core/namespace/strategy.go`, `ValidateNamespaceStatusUpdate`). */
import { type FieldError, invalidField } from '../../api-errors/field-errors.ts';
import { textAt } from '../../../../machinery/api/select-field.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { ageColumn, column, nameColumn, type PrintedColumn } from '../../printing/describe-columns.ts';
import { explainLabel } from '../../validation/formats.ts';
import type { KindRules } from '../plain-strategy.ts';
import { isolateStatus, takeField } from '../strategy.ts';

export const namespaceRules: KindRules = {
  returnsDeleted: true,
  explainName: explainLabel,
  fieldLabels: { labels: ['status.phase'] },
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
  validateStatus: validatePhase,
  fieldsOf: (draft) => ({ 'status.phase': textAt(draft.status, 'phase') }),
};

/** The phase follows from the deletion. */
function validatePhase({ metadata, status }: Draft): readonly FieldError[] {
  const phase = textAt(status, 'phase');
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const wanted = isDeleted ? 'Terminating' : 'Active';
  if (phase === wanted) return [];
  const detail = `may only be '${wanted}' if \`deletionTimestamp\` is ${isDeleted ? 'not ' : ''}empty`;
  return [invalidField('status.Phase', phase, detail)];
}

/** Columns of `kubectl get namespaces` (upstream `printNamespace`). */
export const namespaceColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Status', 'Phase of the namespace: Active or Terminating.', (object) => textAt(object, 'status', 'phase')),
  ageColumn,
];
