/** Problems of single fields, as the causes of a Status (upstream `apimachinery/pkg/util/validation/field`). */
import { stringifyExact } from '../codec/parse-exact-json.ts';

export interface FieldError {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

function fieldError(field: string, reason: string, message: string, detail = ''): FieldError {
  return { reason, message: detail === '' ? message : `${message}: ${detail}`, field };
}

function quote(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : stringifyExact(value);
}

export function requiredField(field: string, detail?: string): FieldError {
  return fieldError(field, 'FieldValueRequired', 'Required value', detail);
}

export function invalidField(field: string, value: unknown, detail?: string): FieldError {
  return fieldError(field, 'FieldValueInvalid', `Invalid value: ${quote(value)}`, detail);
}

export function duplicateField(field: string, value: unknown, detail?: string): FieldError {
  return fieldError(field, 'FieldValueDuplicate', `Duplicate value: ${quote(value)}`, detail);
}

export function unsupportedField(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = `supported values: ${supported.map(quote).join(', ')}`;
  return fieldError(field, 'FieldValueNotSupported', `Unsupported value: ${quote(value)}`, detail);
}

export function forbiddenField(field: string, detail: string): FieldError {
  return fieldError(field, 'FieldValueForbidden', 'Forbidden', detail);
}

export function tooLongField(field: string, detail: string): FieldError {
  return fieldError(field, 'FieldValueTooLong', 'Too long', detail);
}
