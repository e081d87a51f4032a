/**
 * The options of lists and watches, and the state that each combination requests (upstream
 * `metainternalversion/validation`, `storage/cacher/delegator`, `cacher.Watch`).
 */
import { badRequest, invalidOptions, statusError } from '../api-errors/api-errors.ts';
import { type FieldError, forbiddenField, unsupportedField } from '../api-errors/field-errors.ts';
import { isMap } from '../../../machinery/api/select-field.ts';

export type ListPlan =
  /** The current state; `atLeast` has to be reached first. */
  | { readonly kind: 'now'; readonly atLeast: number; readonly limit: number }
  | { readonly kind: 'exact'; readonly revision: number; readonly limit: number; readonly atLeast: number }
  /** A later page. `revision` is undefined if its snapshot was lost and the client continued without it. */
  | { readonly kind: 'page'; readonly revision: number | undefined; readonly from: string; readonly limit: number };

export interface WatchPlan {
  /** The state first, then changes; otherwise changes after `revision`. */
  readonly stateFirst: boolean;
  /** Minimum revision of the state. */
  readonly revision: number;
  readonly bookmarks: boolean;
  /** A bookmark marks the end of the state. */
  readonly announcesEnd: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** Bound of signed numbers of 64 bits. */
const integerBound = 2 ** 63;
const matchField = 'resourceVersionMatch';

/** Throws a 400 or 422 ApiError for conflicting options. */
export function parseListPlan(query: URLSearchParams): ListPlan {
  const limit = limitOf(query);
  integerOf(query, 'timeoutSeconds');
  const errors = validateMatch(query);
  if (query.has('sendInitialEvents')) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (errors.length > 0) throw invalidOptions('ListOptions', errors);
  if (textOf(query, 'continue') !== '') return parsePage(query, limit);
  const version = textOf(query, 'resourceVersion');
  const revision = parseRevision(version);
  if (revision === undefined) throw badRequest(`invalid resource version: ${revisionProblem(version)}`);
  // The watch cache serves resourceVersion=0 unpaged: upstream `computeListLimit`.
  if (version === '0') return { kind: 'now', atLeast: 0, limit: 0 };
  const match = textOf(query, matchField);
  // Without resourceVersionMatch, a limit makes a version exact.
  const exact = match === 'Exact' || (match === '' && limit > 0 && revision > 0);
  return exact ? { kind: 'exact', revision, limit, atLeast: revision } : { kind: 'now', atLeast: revision, limit };
}

/** Throws a 422 ApiError for conflicting options, 500 for an invalid version (as upstream). */
export function parseWatchPlan(query: URLSearchParams): WatchPlan {
  const sendInitialEvents = query.has('sendInitialEvents') ? isSet(query, 'sendInitialEvents') : undefined;
  const errors = validateWatchMatch(textOf(query, matchField), sendInitialEvents);
  if (errors.length > 0) throw invalidOptions('ListOptions', errors);
  const revision = requireRevision(query);
  const bookmarks = isSet(query, 'allowWatchBookmarks');
  const seconds = integerOf(query, 'timeoutSeconds');
  limitOf(query);
  return {
    stateFirst: sendInitialEvents ?? revision === 0,
    revision,
    bookmarks,
    announcesEnd: sendInitialEvents === true && bookmarks,
    timeoutSeconds: seconds > 0 ? seconds : undefined,
  };
}

/** Empty counts as 0; undefined for an invalid version. */
export function parseRevision(text: string): number | undefined {
  if (text === '') return 0;
  return /^(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

/** The version of a get or watch. Upstream responds with 500 and no reason to an invalid one. */
export function requireRevision(query: URLSearchParams): number {
  const text = textOf(query, 'resourceVersion');
  const revision = parseRevision(text);
  if (revision !== undefined) return revision;
  throw statusError(500, '', revisionProblem(text));
}

function revisionProblem(text: string): string {
  return `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`;
}

/** The maximum number of objects; 0: no limit. */
export function limitOf(query: URLSearchParams): number {
  return Math.max(0, integerOf(query, 'limit'));
}

/** True also for a parameter without a value, as in `?watch`. */
export function isSet(query: URLSearchParams, name: string): boolean {
  return query.has(name) && !['false', '0'].includes(textOf(query, name));
}

/** 0 if it is missing; throws a 400 ApiError for any other text. */
export function integerOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0';
  const isInteger = /^[+-]?\d+$/.test(text);
  const value = Number(text);
  if (isInteger && value >= -integerBound && value < integerBound) return value;
  throw badRequest(`strconv.ParseInt: parsing "${text}": ${isInteger ? 'value out of range' : 'invalid syntax'}`);
}

function textOf(query: URLSearchParams, name: string): string {
  return query.get(name) ?? '';
}

function validateMatch(query: URLSearchParams): FieldError[] {
  const match = textOf(query, matchField);
  if (match === '') return [];
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    return [unsupportedField(matchField, match, ['Exact', 'NotOlderThan', ''])];
  }
  const version = textOf(query, 'resourceVersion');
  if (textOf(query, 'continue') !== '') {
    return [forbiddenField(matchField, 'resourceVersionMatch is forbidden for continue')];
  }
  if (version === '') {
    return [forbiddenField(matchField, 'resourceVersionMatch is forbidden unless resourceVersion is provided')];
  }
  if (match === 'NotOlderThan' || version !== '0') return [];
  return [forbiddenField(matchField, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')];
}

function validateWatchMatch(match: string, sendInitialEvents: boolean | undefined): readonly FieldError[] {
  if (sendInitialEvents === undefined) {
    if (match === '') return [];
    const detail = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    return [forbiddenField(matchField, detail)];
  }
  if (match === 'NotOlderThan') return [];
  const detail = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
  const forbidden = forbiddenField(matchField, detail);
  return match === '' ? [forbidden] : [forbidden, unsupportedField(matchField, match, ['NotOlderThan'])];
}

const tokenVersion = 'meta.k8s.io/v1';
/** Revision in a token that continues at the current state. */
const anyRevision = -1;

/** Token for the objects after `lastKey` in the state at `revision`; without a revision, in the state at that time. */
export function makeToken(revision: number | undefined, lastKey: string): string {
  const token = { v: tokenVersion, rv: revision ?? anyRevision, start: `${lastKey}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function parsePage(query: URLSearchParams, limit: number): ListPlan {
  if (!['', '0'].includes(textOf(query, 'resourceVersion'))) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const { rv, start } = parseToken(textOf(query, 'continue'));
  return { kind: 'page', revision: rv === anyRevision ? undefined : rv, from: start, limit };
}

function parseToken(text: string): { readonly rv: number; readonly start: string } {
  const token = decodeToken(text);
  if (!isMap(token)) throw badToken('not a token');
  const { v, rv, start } = token;
  if (v !== tokenVersion) throw badToken('server does not recognize this encoded version');
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv < anyRevision || rv === 0) {
    throw badToken('incorrect encoded start resourceVersion');
  }
  if (typeof start !== 'string' || start === '') throw badToken('encoded start key empty');
  return { rv, start };
}

function decodeToken(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function badToken(why: string): Error {
  return badRequest(`continue key is not valid: ${why}`);
}
