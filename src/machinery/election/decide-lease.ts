/**
 * Decides from one Lease whether this process may lead. The holder's timestamps are never compared with the local clock:
 * only the time at which this process observed a change of the record counts, so clocks need not be synchronized.
 */
import type { Lease, LeaseSpec } from '../api/lease.ts';

/** The last observed record, and the local monotonic time at which it was first observed. */
export interface ObservedLease {
  readonly record: LeaseSpec | 'missing';
  readonly observedAtMs: number;
}

export interface LeaseInput {
  /** Undefined until this process has observed the lease for the first time. */
  readonly observed: ObservedLease | undefined;
  readonly identity: string;
  /** This process leads, and its own deadline has not passed. */
  readonly leading: boolean;
  /** This process led, and another may have led since (after a suspend). Excludes `leading`. */
  readonly paused: boolean;
  /** The lease duration to assume for a record without one. */
  readonly leaseDurationMs: number;
  readonly nowMs: number;
}

export type LeaseDecision =
  | { readonly next: 'create'; readonly reason: 'never-seen' | 'deleted-while-leading' | 'missing-long-enough' }
  | { readonly next: 'renew'; readonly reason: 'held-by-this-process' }
  | { readonly next: 'take'; readonly reason: 'released' | 'expired' }
  | {
      readonly next: 'wait';
      readonly reason: 'held' | 'taken-by-another' | 'another-is-preferred' | 'missing-too-recently';
    };

const recordFields = [
  'holderIdentity',
  'leaseDurationSeconds',
  'acquireTime',
  'renewTime',
  'leaseTransitions',
  'preferredHolder',
] as const;

/**
 * Records the server's state (undefined: no such lease). The observation time changes only when the record's content
 * changes (client-go `LeaderElector.tryAcquireOrRenew`, step 3). The deletion of an observed lease is a change; a lease
 * that never existed is not.
 */
export function observeLease(
  known: ObservedLease | undefined,
  current: Lease | undefined,
  nowMs: number,
): ObservedLease | undefined {
  if (known === undefined && current === undefined) return undefined;
  const record = current === undefined ? 'missing' : (current.spec ?? {});
  return known !== undefined && sameRecord(known.record, record) ? known : { record, observedAtMs: nowMs };
}

/** Whether two states of the lease are of one renewal. */
export function sameRecord(a: ObservedLease['record'], b: ObservedLease['record']): boolean {
  if (a === 'missing' || b === 'missing') return a === b;
  return recordFields.every((field) => (a[field] ?? undefined) === (b[field] ?? undefined));
}

/**
 * The next action for the observed lease. As client-go's `tryAcquireOrRenew`, except that a deleted lease binds like one
 * that just changed its holder: the previous holder may continue, unaware of the deletion, until its own deadline.
 */
export function decideLease(input: LeaseInput): LeaseDecision {
  const { observed, identity, leading, paused } = input;
  if (observed === undefined) return { next: 'create', reason: 'never-seen' };
  const { record } = observed;
  if (record === 'missing') return decideMissing(input, observed);
  if (record.holderIdentity === identity) return decideHeld(record, identity);
  if (leading || paused) return { next: 'wait', reason: 'taken-by-another' };
  if (!isHeld(record)) return { next: 'take', reason: 'released' };
  return isBinding(input, observed) ? { next: 'wait', reason: 'held' } : { next: 'take', reason: 'expired' };
}

/** Decision of the holder: if another holder is preferred, it lets the lease expire. */
function decideHeld({ preferredHolder }: LeaseSpec, identity: string): LeaseDecision {
  const mayKeep = !preferredHolder || preferredHolder === identity;
  return mayKeep ? { next: 'renew', reason: 'held-by-this-process' } : { next: 'wait', reason: 'another-is-preferred' };
}

function decideMissing(input: LeaseInput, observed: ObservedLease): LeaseDecision {
  if (input.leading) return { next: 'create', reason: 'deleted-while-leading' };
  if (input.paused) return { next: 'wait', reason: 'missing-too-recently' };
  return isBinding(input, observed)
    ? { next: 'wait', reason: 'missing-too-recently' }
    : { next: 'create', reason: 'missing-long-enough' };
}

/** A released lease has an empty `holderIdentity`. */
function isHeld(record: LeaseSpec): boolean {
  return typeof record.holderIdentity === 'string' && record.holderIdentity !== '';
}

function isBinding({ nowMs, leaseDurationMs }: LeaseInput, observed: ObservedLease): boolean {
  return nowMs < expiresAtMs(observed, leaseDurationMs);
}

/**
 * Monotonic time until which the observed record binds other contenders. client-go takes a record without a duration at once;
 * here it binds for the configured duration, and so does a missing lease.
 */
export function expiresAtMs({ record, observedAtMs }: ObservedLease, leaseDurationMs: number): number {
  const seconds = record === 'missing' ? undefined : record.leaseDurationSeconds;
  return observedAtMs + (typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : leaseDurationMs);
}
