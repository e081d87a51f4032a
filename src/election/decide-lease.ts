/**
 * Who may lead, judged from one Lease. The holder's own timestamps are never compared with our clock: only the moment at
 * which we saw the record change counts, so the machines' clocks need not agree.
 */
import type { Lease, LeaseSpec } from '../api/lease.ts';

/** What the lease last looked like, and since when by our monotonic clock. */
export interface ObservedLease {
  readonly record: LeaseSpec | 'missing';
  readonly seenAtMs: number;
}

export interface LeaseQuestion {
  /** Undefined as long as this process has never seen the lease. */
  readonly observed: ObservedLease | undefined;
  readonly identity: string;
  /** We lead, and our own deadline has not passed. */
  readonly leading: boolean;
  /** How long a record binds us that does not say so itself. */
  readonly leaseDurationMs: number;
  readonly nowMs: number;
}

export type LeaseDecision =
  | { readonly next: 'create'; readonly reason: 'never-seen' | 'deleted-under-us' | 'missing-long-enough' }
  | { readonly next: 'renew'; readonly reason: 'ours' }
  | { readonly next: 'take'; readonly reason: 'released' | 'expired' }
  | {
      readonly next: 'wait';
      readonly reason: 'held' | 'taken-from-us' | 'another-is-preferred' | 'missing-too-shortly';
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
 * Notes what the server shows (undefined: no such lease). The time of observation moves only when the record's content
 * changed (client-go `LeaderElector.tryAcquireOrRenew`, step 3). A lease that is gone is a change like any other; one
 * that was never there is not.
 */
export function observeLease(
  known: ObservedLease | undefined,
  shown: Lease | undefined,
  nowMs: number,
): ObservedLease | undefined {
  if (known === undefined && shown === undefined) return undefined;
  const record = shown === undefined ? 'missing' : (shown.spec ?? {});
  return known !== undefined && sameRecord(known.record, record) ? known : { record, seenAtMs: nowMs };
}

function sameRecord(a: ObservedLease['record'], b: ObservedLease['record']): boolean {
  if (a === 'missing' || b === 'missing') return a === b;
  return recordFields.every((field) => (a[field] ?? undefined) === (b[field] ?? undefined));
}

/**
 * What to do about the lease as it is now observed. After client-go's `tryAcquireOrRenew`, except that a lease which
 * vanished binds like one that just changed hands: its holder may go on, unknowing, until its own deadline.
 */
export function decideLease(question: LeaseQuestion): LeaseDecision {
  const { observed, identity, leading } = question;
  if (observed === undefined) return { next: 'create', reason: 'never-seen' };
  const { record } = observed;
  if (record === 'missing') return decideMissing(question, observed);
  if (record.holderIdentity === identity) return decideOurs(record, identity);
  if (leading) return { next: 'wait', reason: 'taken-from-us' };
  if (!isHeld(record)) return { next: 'take', reason: 'released' };
  return isBinding(question, observed, bindingMs(record, question))
    ? { next: 'wait', reason: 'held' }
    : { next: 'take', reason: 'expired' };
}

/** A coordinator that prefers somebody else gets its way: the lease is left to run out. */
function decideOurs({ preferredHolder }: LeaseSpec, identity: string): LeaseDecision {
  const oursToKeep = !preferredHolder || preferredHolder === identity;
  return oursToKeep ? { next: 'renew', reason: 'ours' } : { next: 'wait', reason: 'another-is-preferred' };
}

function decideMissing(question: LeaseQuestion, observed: ObservedLease): LeaseDecision {
  if (question.leading) return { next: 'create', reason: 'deleted-under-us' };
  return isBinding(question, observed, question.leaseDurationMs)
    ? { next: 'wait', reason: 'missing-too-shortly' }
    : { next: 'create', reason: 'missing-long-enough' };
}

/** The lease names somebody. A released one names nobody (`holderIdentity` empty). */
function isHeld(record: LeaseSpec): boolean {
  return typeof record.holderIdentity === 'string' && record.holderIdentity !== '';
}

function isBinding(question: LeaseQuestion, observed: ObservedLease, forMs: number): boolean {
  return question.nowMs < observed.seenAtMs + forMs;
}

/** client-go takes a record without a duration at once; we grant it ours, since its holder surely counts on some. */
function bindingMs(record: LeaseSpec, { leaseDurationMs }: LeaseQuestion): number {
  const seconds = record.leaseDurationSeconds;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : leaseDurationMs;
}
