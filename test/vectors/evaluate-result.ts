import type { Failures } from './run-vector.ts';

export type Account = Record<'passed' | 'failed' | 'deviating', number>;

export interface VectorResult {
  readonly result: keyof Account;
  /** Empty for a vector that passes. */
  readonly line: string;
}

interface Trial {
  readonly vector: unknown;
  readonly failures: Failures;
  readonly deviations: ReadonlyMap<string, string>;
  /** Whether this decision record exists. */
  readonly isRecorded: (record: string) => boolean;
}

/** A deviation is accepted only while it exists and its record does. */
export function evaluateResult({ vector, failures, deviations, isRecorded }: Trial): VectorResult {
  const { id, name } = (vector ?? {}) as { readonly id?: unknown; readonly name?: unknown };
  const record = typeof id === 'string' ? deviations.get(id) : undefined;
  const line = (result: string, details: string): string => `${result} ${String(id)} (${String(name)}): ${details}`;
  if (record === undefined) {
    if (failures.length === 0) return { result: 'passed', line: '' };
    return { result: 'failed', line: line('FAILED', failures.join(' | ')) };
  }
  if (!isRecorded(record)) return { result: 'failed', line: line('FAILED', `no record ${record}`) };
  if (failures.length === 0) {
    return { result: 'failed', line: line('FAILED', `passes, so ${record} must not list it`) };
  }
  return { result: 'deviating', line: line('deviating', `${failures.join(' | ')} [${record}]`) };
}
