/**
 * What a DELETE does to an object (upstream `rest.BeforeDelete`, `Store.updateForGracefulDeletionAndFinalizers`). Three
 * things can hold an object back: a grace period, finalizers, and both at once; a repeated DELETE can only hurry it.
 */

export interface DeletionInput {
  readonly nowMs: number;
  /** When it is to be gone, if it is being deleted already. */
  readonly deletionAtMs: number | undefined;
  readonly deletionGraceSeconds: number | undefined;
  readonly hasFinalizers: boolean;
  /** Absent for kinds that are not deleted gracefully. */
  readonly grace: GraceInput | undefined;
}

export interface GraceInput {
  readonly askedSeconds: number | undefined;
  /** The object's own: `spec.terminationGracePeriodSeconds`. */
  readonly ownSeconds: number | undefined;
  /** Nothing runs that would need time. */
  readonly idle: boolean;
}

export type Deletion =
  | { readonly kind: 'remove' }
  /** It is on its way already, and this changes nothing. */
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'mark';
      readonly deletionAtMs: number;
      readonly graceSeconds: number;
      readonly firstTime: boolean;
      /** The mark is written, and then the object goes: two revisions. */
      readonly thenRemove: boolean;
    };

export function decideDeletion(input: DeletionInput): Deletion {
  const { deletionAtMs, deletionGraceSeconds, grace } = input;
  if (grace === undefined) return ungraceful(input);
  if (deletionAtMs === undefined) return begin(input, grace);
  if (deletionGraceSeconds === undefined || deletionGraceSeconds === 0) return ungraceful(input);
  return hurry(input, { deletionAtMs, deletionGraceSeconds, askedSeconds: grace.askedSeconds });
}

function ungraceful({ nowMs, deletionAtMs, hasFinalizers }: DeletionInput): Deletion {
  if (!hasFinalizers) return { kind: 'remove' };
  if (deletionAtMs !== undefined) return { kind: 'unchanged' };
  return { kind: 'mark', deletionAtMs: nowMs, graceSeconds: 0, firstTime: true, thenRemove: false };
}

function begin({ nowMs, hasFinalizers }: DeletionInput, grace: GraceInput): Deletion {
  const wanted = grace.idle ? 0 : (grace.askedSeconds ?? grace.ownSeconds ?? 0);
  const graceSeconds = wanted < 0 ? 1 : wanted;
  return {
    kind: 'mark',
    deletionAtMs: nowMs + graceSeconds * 1_000,
    graceSeconds,
    firstTime: true,
    thenRemove: graceSeconds === 0 && !hasFinalizers,
  };
}

interface Underway {
  readonly deletionAtMs: number;
  readonly deletionGraceSeconds: number;
  readonly askedSeconds: number | undefined;
}

function hurry({ nowMs, hasFinalizers }: DeletionInput, underway: Underway): Deletion {
  const { deletionAtMs, deletionGraceSeconds, askedSeconds } = underway;
  if (askedSeconds === undefined) return { kind: 'unchanged' };
  const graceSeconds = askedSeconds < 0 ? 1 : askedSeconds;
  if (graceSeconds >= deletionGraceSeconds) return { kind: 'unchanged' };
  const shortenedMs = deletionAtMs - (deletionGraceSeconds - graceSeconds) * 1_000;
  const overdue = shortenedMs < nowMs;
  return {
    kind: 'mark',
    deletionAtMs: Math.max(shortenedMs, nowMs),
    // What was to end before now still gets a moment, unless it was to end at once.
    graceSeconds: overdue && graceSeconds !== 0 ? 1 : graceSeconds,
    firstTime: false,
    thenRemove: graceSeconds === 0 && !hasFinalizers,
  };
}
