/** Leases (upstream `pkg/registry/coordination/lease/strategy.go`, `ValidateLease`). */
import { type FieldError, invalidField } from '../../api-errors/field-errors.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { ageColumn, column, nameColumn, type PrintedColumn } from '../../printing/describe-columns.ts';
import { textAt } from '../../../../machinery/api/select-field.ts';
import type { KindRules } from '../plain-strategy.ts';

export const leaseRules: KindRules = { createsOnUpdate: true, needsVersion: true, validate: validateLease };

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
