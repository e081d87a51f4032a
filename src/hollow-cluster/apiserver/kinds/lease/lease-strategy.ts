/** Leases (upstream `pkg/registry/coordination/lease/strategy.go`, `ValidateLease`). */
import { type FieldError, invalidField } from '../../api-errors/field-errors.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { ageColumn, column, nameColumn, type PrintedColumn } from '../../printing/describe-columns.ts';
import { textAt } from '../../select-field.ts';
import { explainSubdomain } from '../../validation/formats.ts';
import { plainStrategy, type Strategy } from '../strategy.ts';

export const leaseStrategy: Strategy = {
  ...plainStrategy,
  table: 'leases.coordination.k8s.io',
  namespaced: true,
  createsOnUpdate: true,
  needsVersion: true,
  explainName: explainSubdomain,
  fieldLabels: { labels: ['metadata.name', 'metadata.namespace'] },
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

/** Columns of `kubectl get leases` (upstream `printLease`). */
export const leaseColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Holder', 'Identity of the holder.', (lease) => textAt(lease, 'spec', 'holderIdentity')),
  ageColumn,
];
