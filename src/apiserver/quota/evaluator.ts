import type { Endpoint } from '../registry/strategy.ts';
import type { Draft } from '../storage/stored-object.ts';
import type { Measurement } from './select-scopes.ts';

/** A write as quotas see it. */
export interface QuotaWrite {
  readonly draft: Draft;
  /** Undefined for a creation. */
  readonly stored: Draft | undefined;
  readonly endpoint: Endpoint;
}

/** How the objects of one resource count in quotas (upstream `quota.Evaluator`). */
export interface QuotaEvaluator {
  /** Whether its objects use the resource of that name. */
  measures(name: string): boolean;
  measure(object: Draft): Measurement;
  /** Whether the write can change what is used. */
  handles(write: QuotaWrite): boolean;
  /** What an object must have if a quota limits the resources of these names; undefined if it has it. */
  explainMissing?(object: Draft, names: readonly string[]): string | undefined;
}
