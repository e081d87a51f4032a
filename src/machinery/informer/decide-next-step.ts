import type { ApiReason } from '../api/api-error.ts';

/**
 * State machine of the reflector: the set of steps, and the one function that decides the next. A complete state comes
 * from `watch-list` (the server streams it) or, where the server does not support that, from `list`; after it comes
 * `watch`, repeatedly. No step is final: every result has a successor.
 *
 *     watch-list ──state complete──▶ watch ◀──┐ ended, lost, silent, busy
 *         │  ▲                        │ │ └───┘
 *   not   │  └───── version expired ──┘ │
 *   supp. ▼         undecodable         │
 *       list ◀── requested, failing ────┤
 *         └─────────state complete──────┘
 */
export type Step =
  /** `resourceVersion` is the minimum; empty means the most recent. */
  | { readonly kind: 'watch-list'; readonly resourceVersion: string }
  | { readonly kind: 'list'; readonly attempt: ListAttempt }
  | { readonly kind: 'watch'; readonly resourceVersion: string };

/** Pages twice, since the version may expire between two pages; then the whole list in one response. */
export type ListAttempt = 'pages' | 'pages-again' | 'whole';

/**
 * `failing`: {@link failuresMax} streams in a row failed at one version. `rolled-back`: the API server is at an older
 * version than the stream. `unverified`: whether it is could not be read. `requested`: by a caller of `relist`.
 */
type RelistCause = 'expired' | 'refused' | 'failing' | RelistRequest;
export type RelistRequest = 'rolled-back' | 'unverified' | 'requested' | 'undecodable';

/** Consecutive failures at one resourceVersion after which a relist at no resourceVersion follows. */
const failuresMax = 3;

/** `brief`: no events, and shorter than a second. */
export type StepEnd =
  /** The complete state is in the store. */
  | { readonly kind: 'listed' }
  /** The stream was open and ended: closed by the server, by a lost connection, or by the watch guard. */
  | { readonly kind: 'ended'; readonly by: 'server' | 'lost' | 'guard'; readonly brief: boolean }
  /** The server rejected the request, or the request for the next page. */
  | { readonly kind: 'refused'; readonly reason: ApiReason; readonly laterPage: boolean }
  /** An ERROR event in the stream. */
  | { readonly kind: 'error-event'; readonly reason: ApiReason }
  /** The stream contained an object that cannot be decoded: the store may be wrong from here on. */
  | { readonly kind: 'undecodable' };

interface Progress {
  /** The version reached by the last complete state and the events after it; empty before the first state. */
  readonly reached: string;
  /** The last complete state is so recent that another list at once would load the server needlessly. */
  readonly listedRecently: boolean;
  /** Consecutive streams that failed at `reached`, this one included; see {@link countsAgainstVersion}. 0 when absent. */
  readonly failuresAtVersion?: number;
  /**
   * Set until the next complete state: it must be read without a resourceVersion, and the current watch is ended. Still set after one that
   * may be of the storage before a restore.
   */
  readonly request?: RelistRequest | undefined;
}

export interface Plan {
  readonly step: Step;
  /** Whether a delay that grows with each failure precedes the step. */
  readonly pause: boolean;
  /** Set if a complete state must be read again. */
  readonly relist?: RelistCause;
}

/** The step that follows a step that ended like this. Total: every end of every step has a successor. */
export function decideNextStep(step: Step, end: StepEnd, progress: Progress): Plan {
  if (end.kind === 'listed') return afterComplete(progress);
  if (progress.request !== undefined && !isConsistent(step)) return startOver(end, progress.request);
  if (mayDrop(end, progress)) return { step: { kind: 'watch', resourceVersion: progress.reached }, pause: true };
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

/** The step reads the most recent complete state: without a resourceVersion the server may not return an older one. */
export function isConsistent(step: Step): boolean {
  return step.kind === 'list' || (step.kind === 'watch-list' && step.resourceVersion === '');
}

/**
 * Whether the stream was open, or could have been, without any event: the server may never send any at this version, as
 * after etcd was restored from a backup. A lost connection and a busy server do not count against the version.
 */
export function countsAgainstVersion(end: StepEnd): boolean {
  if (end.kind === 'ended') return end.by === 'guard';
  return (end.kind === 'refused' || end.kind === 'error-event') && end.reason === 'internal';
}

function afterComplete({ reached, request: relist }: Progress): Plan {
  if (relist === undefined) return { step: { kind: 'watch', resourceVersion: reached }, pause: false };
  return { step: { kind: 'list', attempt: 'pages' }, pause: false, relist };
}

/**
 * A list is no reason to give up a version where the server is too busy for lists (429): the watch may be accepted. Except after a
 * restore, where the version is of the storage before it.
 */
function mayDrop(end: Failure, { reached, request }: Progress): boolean {
  return reasonOf(end) === 'too-many-requests' && reached !== '' && request !== undefined && request !== 'rolled-back';
}

/** A paged list at no version: a server whose streams stay silent would not complete a streaming list either. */
function startOver(end: Failure, relist: RelistCause): Plan {
  return { step: { kind: 'list', attempt: 'pages' }, pause: mustPause(end), relist };
}

/** A short stream without events is a failure: without a delay, a hundred of them would be opened each second. */
function mustPause(end: Failure): boolean {
  return end.kind === 'ended' ? end.brief : true;
}

/** client-go `Reflector.watchList`: retry while the server is busy, drop the version, or fall back to a list. */
function afterWatchList(step: Extract<Step, { kind: 'watch-list' }>, end: Failure): Plan {
  const reason = reasonOf(end);
  if (reason !== undefined && isExpired(reason)) {
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

function afterList(step: Extract<Step, { kind: 'list' }>, end: Failure, { reached, request }: Progress): Plan {
  if (end.kind === 'refused' && end.laterPage && isExpired(end.reason)) {
    return { step: { kind: 'list', attempt: nextAttempt[step.attempt] }, pause: step.attempt === 'whole' };
  }
  // A server that does not page returns everything at once; the response is decoded object by object, never held as a whole.
  if (end.kind === 'refused' && end.reason === 'too-large' && step.attempt !== 'whole') {
    return { step: { kind: 'list', attempt: 'whole' }, pause: false };
  }
  return { step: { kind: 'watch-list', resourceVersion: request === undefined ? reached : '' }, pause: true };
}

function afterWatch(end: Failure, { reached, listedRecently, failuresAtVersion = 0 }: Progress): Plan {
  const relist = relistCause(end);
  if (relist !== undefined) {
    const step: Step = { kind: 'watch-list', resourceVersion: reached };
    return { step, pause: listedRecently || relist === 'refused', relist };
  }
  if (failuresAtVersion >= failuresMax) return startOver(end, 'failing');
  return { step: { kind: 'watch', resourceVersion: reached }, pause: mustPause(end) };
}

/** Undefined if the reached version is still valid: a busy or absent server then causes no second list. */
function relistCause(end: Failure): RelistCause | undefined {
  if (end.kind === 'undecodable') return 'undecodable';
  const reason = reasonOf(end);
  if (reason === undefined || isTransient(reason)) return undefined;
  return isExpired(reason) ? 'expired' : 'refused';
}

function reasonOf(end: Failure): ApiReason | undefined {
  return end.kind === 'refused' || end.kind === 'error-event' ? end.reason : undefined;
}

/** The server cannot serve this version: too old, or newer than its own (client-go `isExpiredError`). */
function isExpired(reason: ApiReason): boolean {
  return reason === 'expired' || reason === 'too-large-resource-version';
}

function isBusy(reason: ApiReason): boolean {
  return reason === 'too-many-requests' || reason === 'unavailable';
}

/** Transient, and independent of the version. Includes credentials: they are read again when their file changes. */
function isTransient(reason: ApiReason): boolean {
  const transient: readonly ApiReason[] = ['timeout', 'internal', 'aborted', 'unauthorized', 'forbidden'];
  return isBusy(reason) || transient.includes(reason);
}
