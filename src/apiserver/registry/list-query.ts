/**
 * The options of a list, and which state each combination asks for (upstream `storage/cacher/delegator`,
 * `metainternalversion/validation`).
 */
import { badRequest, type FieldError, invalidOptions } from './refusals.ts';

export interface ListQuery {
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly continue: string;
  /** 0: no limit. */
  readonly limit: number;
  readonly sendInitialEvents: boolean | undefined;
}

export type ListPlan =
  /** The present; `atLeast` has to be reached first. */
  | { readonly kind: 'now'; readonly atLeast: number; readonly limit: number }
  | { readonly kind: 'exact'; readonly revision: number; readonly limit: number; readonly atLeast: number }
  /** A later page. `revision` is undefined where its snapshot was lost and the client went on regardless. */
  | { readonly kind: 'page'; readonly revision: number | undefined; readonly from: string; readonly limit: number };

const matches: readonly string[] = ['', 'Exact', 'NotOlderThan'];
const decimal = /^(0|[1-9]\d*)$/;

/** Throws a 400 or 422 ApiError for options that contradict each other. */
export function parseListPlan(query: ListQuery): ListPlan {
  const errors = validate(query);
  if (errors.length > 0) throw invalidOptions('ListOptions', errors);
  if (query.continue !== '') return parsePage(query);
  const revision = parseRevision(query.resourceVersion);
  if (revision === undefined) throw badRequest(`invalid resource version: "${query.resourceVersion}"`);
  // A cache answers 0 in one piece, whatever the limit: upstream `computeListLimit`.
  if (query.resourceVersion === '0') return { kind: 'now', atLeast: 0, limit: 0 };
  const exact = query.resourceVersionMatch === 'Exact' || (isLegacyExact(query) && revision > 0);
  if (exact) return { kind: 'exact', revision, limit: query.limit, atLeast: revision };
  return { kind: 'now', atLeast: revision, limit: query.limit };
}

/** Before there was a match parameter, a limit made a version exact. */
function isLegacyExact({ resourceVersionMatch, limit }: ListQuery): boolean {
  return resourceVersionMatch === '' && limit > 0;
}

/** Empty counts as 0; undefined for what is no version. */
export function parseRevision(text: string): number | undefined {
  if (text === '') return 0;
  return decimal.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

function validate(query: ListQuery): readonly FieldError[] {
  const errors: FieldError[] = [...validateMatch(query)];
  if (query.sendInitialEvents !== undefined) {
    const detail = 'sendInitialEvents is forbidden for list';
    errors.push({ field: 'sendInitialEvents', problem: 'FieldValueForbidden', detail });
  }
  return errors;
}

function validateMatch(query: ListQuery): readonly FieldError[] {
  const { resourceVersionMatch: match } = query;
  const field = 'resourceVersionMatch';
  if (match === '') return [];
  if (!matches.includes(match)) {
    const detail = 'supported values: "Exact", "NotOlderThan"';
    return [{ field, problem: 'FieldValueNotSupported', value: match, detail }];
  }
  const why = forbiddenMatch(query);
  return why === undefined ? [] : [{ field, problem: 'FieldValueForbidden', detail: why }];
}

function forbiddenMatch(query: ListQuery): string | undefined {
  if (query.continue !== '') return 'resourceVersionMatch is forbidden for continue';
  if (query.resourceVersion === '') return 'resourceVersionMatch is forbidden unless resourceVersion is provided';
  if (query.resourceVersionMatch === 'Exact' && query.resourceVersion === '0') {
    return 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
  }
  return undefined;
}

const tokenVersion = 'meta.k8s.io/v1';
/** The revision in a token that goes on in the present. */
const anyRevision = -1;

/** Names the place after `lastKey` in the state at `revision`; without a revision, in whatever is there then. */
export function makeToken(revision: number | undefined, lastKey: string): string {
  const token = { v: tokenVersion, rv: revision ?? anyRevision, start: `${lastKey}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function parsePage(query: ListQuery): ListPlan {
  if (query.resourceVersion !== '' && query.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const { rv, start } = parseToken(query.continue);
  return { kind: 'page', revision: rv === anyRevision ? undefined : rv, from: start, limit: query.limit };
}

function parseToken(text: string): { readonly rv: number; readonly start: string } {
  const token = decodeToken(text);
  if (typeof token !== 'object' || token === null) throw badToken('it is no token');
  const { v, rv, start }: { v?: unknown; rv?: unknown; start?: unknown } = token;
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
