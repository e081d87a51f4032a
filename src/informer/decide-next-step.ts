import type { ApiReason } from '../api/api-error.ts';

/**
 * The list-watch as a closed set of steps, and the one function that goes from one to the next. A complete state comes
 * from `watch-list` (the server streams it) or, where the server will not, from `list`; from then on it is `watch`, over
 * and over. There is no last step: whatever happens, something follows.
 *
 *     watch-list ──state complete──▶ watch ◀──┐ ended, lost, quiet, not now
 *         │  ▲                         │ └────┘
 *   will  │  └───── version expired ───┤
 *   not   ▼         undecodable        │
 *       list ───────state complete─────┘
 */
export type Step =
  /** `resourceVersion` is the least that is good enough; empty means the newest. */
  | { readonly kind: 'watch-list'; readonly resourceVersion: string }
  | { readonly kind: 'list'; readonly attempt: ListAttempt }
  | { readonly kind: 'watch'; readonly resourceVersion: string };

/** Pages twice, since a version may expire between two of them; then everything at once. */
export type ListAttempt = 'pages' | 'pages-again' | 'whole';

export type RelistCause = 'expired' | 'undecodable' | 'refused';

/** `brief`: it brought nothing and lasted less than a second. */
export type StepEnd =
  /** The complete state is in the store. */
  | { readonly kind: 'listed' }
  /** The stream was there and ended: by the server in good order, by a lost connection, or by our own guard. */
  | { readonly kind: 'ended'; readonly by: 'server' | 'lost' | 'guard'; readonly brief: boolean }
  /** The server would not begin, or not go on with the next page. */
  | { readonly kind: 'refused'; readonly reason: ApiReason; readonly laterPage: boolean }
  /** The server said so in the stream. */
  | { readonly kind: 'error-event'; readonly reason: ApiReason }
  /** Something came that we cannot read: what we hold may be wrong from here on. */
  | { readonly kind: 'undecodable' };

export interface Progress {
  /** The version that the last complete state and everything after it brought us to; empty before the first. */
  readonly reached: string;
  /** The last complete state is so young that reading another one at once would be a storm. */
  readonly listedLately: boolean;
}

export interface Plan {
  readonly step: Step;
  /** After a delay that grows with each failure, or at once. */
  readonly pause: boolean;
  /** Set where a complete state has to be read again. */
  readonly relist?: RelistCause;
}

/** What to do after a step ended like this. Total: every end of every step has a successor. */
export function decideNextStep(step: Step, end: StepEnd, progress: Progress): Plan {
  if (end.kind === 'listed') return { step: { kind: 'watch', resourceVersion: progress.reached }, pause: false };
  switch (step.kind) {
    case 'watch-list':
      return afterWatchList(step, end);
    case 'list':
      return afterList(step, end, progress);
    case 'watch':
      return afterWatch(end, progress);
  }
}

type Failure = Exclude<StepEnd, { kind: 'listed' }>;

/** client-go `Reflector.watchList`: wait and ask again while the server is busy, give up the version, or fall back. */
function afterWatchList(step: Extract<Step, { kind: 'watch-list' }>, end: Failure): Plan {
  const reason = reasonOf(end);
  if (reason !== undefined && isForgotten(reason)) {
    return { step: { kind: 'watch-list', resourceVersion: '' }, pause: step.resourceVersion === '' };
  }
  if (end.kind === 'refused' && isBusy(end.reason)) return { step, pause: true };
  return { step: { kind: 'list', attempt: 'pages' }, pause: false };
}

const nextAttempt: Readonly<Record<ListAttempt, ListAttempt>> = {
  pages: 'pages-again',
  'pages-again': 'whole',
  whole: 'whole',
};

function afterList(step: Extract<Step, { kind: 'list' }>, end: Failure, { reached }: Progress): Plan {
  if (end.kind === 'refused' && end.laterPage && isForgotten(end.reason)) {
    return { step: { kind: 'list', attempt: nextAttempt[step.attempt] }, pause: step.attempt === 'whole' };
  }
  return { step: { kind: 'watch-list', resourceVersion: reached }, pause: true };
}

function afterWatch(end: Failure, { reached, listedLately }: Progress): Plan {
  const relist = relistCause(end);
  if (relist !== undefined) {
    const step: Step = { kind: 'watch-list', resourceVersion: reached };
    return { step, pause: listedLately || relist === 'refused', relist };
  }
  // A stream that brought nothing and did not last is a failure, or we should open a hundred of them a second.
  const pause = end.kind === 'ended' ? end.brief : true;
  return { step: { kind: 'watch', resourceVersion: reached }, pause };
}

/** Undefined where the version we reached is still good: then a busy or absent server costs no second list. */
function relistCause(end: Failure): RelistCause | undefined {
  if (end.kind === 'undecodable') return 'undecodable';
  const reason = reasonOf(end);
  if (reason === undefined || isNotNow(reason)) return undefined;
  return isForgotten(reason) ? 'expired' : 'refused';
}

function reasonOf(end: Failure): ApiReason | undefined {
  return end.kind === 'refused' || end.kind === 'error-event' ? end.reason : undefined;
}

/** The server cannot serve from this version: too old, or newer than anything it has (client-go `isExpiredError`). */
function isForgotten(reason: ApiReason): boolean {
  return reason === 'expired' || reason === 'too-large-resource-version';
}

function isBusy(reason: ApiReason): boolean {
  return reason === 'too-many-requests' || reason === 'unavailable';
}

/** It may be well in a moment, and says nothing about the version. Credentials too: they come back with their file. */
function isNotNow(reason: ApiReason): boolean {
  const passing: readonly ApiReason[] = ['timeout', 'internal', 'aborted', 'unauthorized', 'forbidden'];
  return isBusy(reason) || passing.includes(reason);
}
