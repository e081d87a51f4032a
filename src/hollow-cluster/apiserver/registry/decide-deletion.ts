/**
 * Effect of a DELETE on an object (upstream `rest.BeforeDelete`, `Store.updateForGracefulDeletionAndFinalizers`). A
 * grace period and finalizers each delay the removal; a repeated DELETE can only shorten the grace period.
 */
import { secondsUntilLastTime } from '../../../machinery/api/timestamps.ts';

export interface DeletionInput {
  readonly nowMs: number;
  /** deletionTimestamp, if the object is being deleted already. */
  readonly deletionAtMs: number | undefined;
  readonly deletionGraceSeconds: number | undefined;
  readonly hasFinalizers: boolean;
  /** Absent for kinds without graceful deletion. */
  readonly grace: GraceInput | undefined;
}

interface GraceInput {
  readonly requestedSeconds: number | undefined;
  /** `spec.terminationGracePeriodSeconds` of the object. */
  readonly ownSeconds: number | undefined;
  /** No running containers need the grace period. */
  readonly idle: boolean;
}

export type Deletion =
  | { readonly kind: 'remove' }
  /** The object is being deleted already, and this request changes nothing. */
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'mark';
      readonly deletionAtMs: number;
      readonly graceSeconds: number;
      readonly firstTime: boolean;
      /** The object is marked, then removed: two revisions. */
      readonly thenRemove: boolean;
    };

export function decideDeletion(input: DeletionInput): Deletion {
  const { deletionAtMs, deletionGraceSeconds, grace } = input;
  if (grace === undefined) return ungraceful(input);
  if (deletionAtMs === undefined) return begin(input, grace);
  if (deletionGraceSeconds === undefined || deletionGraceSeconds === 0) return ungraceful(input);
  return shortenGrace({ ...input, deletionAtMs, deletionGraceSeconds }, grace.requestedSeconds);
}

function ungraceful({ nowMs, deletionAtMs, hasFinalizers }: DeletionInput): Deletion {
  if (!hasFinalizers) return { kind: 'remove' };
  if (deletionAtMs !== undefined) return { kind: 'unchanged' };
  return { kind: 'mark', deletionAtMs: nowMs, graceSeconds: 0, firstTime: true, thenRemove: false };
}

function begin({ nowMs, hasFinalizers }: DeletionInput, grace: GraceInput): Deletion {
  const wanted = grace.idle ? 0 : (grace.requestedSeconds ?? grace.ownSeconds ?? 0);
  // A later deletion could not be written down: its time is beyond RFC 3339.
  const graceSeconds = wanted < 0 ? 1 : Math.min(wanted, secondsUntilLastTime(nowMs));
  return {
    kind: 'mark',
    deletionAtMs: nowMs + graceSeconds * 1_000,
    graceSeconds,
    firstTime: true,
    thenRemove: graceSeconds === 0 && !hasFinalizers,
  };
}

interface RunningDeletion extends DeletionInput {
  readonly deletionAtMs: number;
  readonly deletionGraceSeconds: number;
}

function shortenGrace(running: RunningDeletion, requestedSeconds: number | undefined): Deletion {
  const { nowMs, hasFinalizers, deletionAtMs, deletionGraceSeconds } = running;
  if (requestedSeconds === undefined) return { kind: 'unchanged' };
  const graceSeconds = requestedSeconds < 0 ? 1 : requestedSeconds;
  if (graceSeconds >= deletionGraceSeconds) return { kind: 'unchanged' };
  const shortenedMs = deletionAtMs - (deletionGraceSeconds - graceSeconds) * 1_000;
  const overdue = shortenedMs < nowMs;
  return {
    kind: 'mark',
    deletionAtMs: Math.max(shortenedMs, nowMs),
    // A deadline in the past still leaves 1 s, unless the requested grace period is 0.
    graceSeconds: overdue && graceSeconds !== 0 ? 1 : graceSeconds,
    firstTime: false,
    thenRemove: graceSeconds === 0 && !hasFinalizers,
  };
}
