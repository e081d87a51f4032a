/** The options of a watch, and where each combination starts (upstream `ValidateListOptions`, `cacher.Watch`). */
import { parseRevision } from '../registry/list-query.ts';
import { type FieldError, invalidOptions, refusal } from '../registry/refusals.ts';
import { integerOf, isSet } from './exchange.ts';

export interface WatchPlan {
  /** The state first, then changes; otherwise changes after `revision`. */
  readonly stateFirst: boolean;
  /** The state, where wanted, is at least this old. */
  readonly revision: number;
  readonly bookmarks: boolean;
  /** A bookmark says where the state ends. */
  readonly announcesEnd: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** Throws a 422 ApiError for options that contradict each other, 500 for a version that is none (as upstream). */
export function parseWatchPlan(query: URLSearchParams): WatchPlan {
  const resourceVersion = query.get('resourceVersion') ?? '';
  const sendInitialEvents = query.has('sendInitialEvents') ? isSet(query, 'sendInitialEvents') : undefined;
  const errors = validate(query.get('resourceVersionMatch') ?? '', sendInitialEvents);
  if (errors.length > 0) throw invalidOptions('ListOptions', errors);
  const revision = parseRevision(resourceVersion);
  if (revision === undefined) throw badVersion(resourceVersion);
  const bookmarks = isSet(query, 'allowWatchBookmarks');
  const seconds = integerOf(query, 'timeoutSeconds');
  return {
    stateFirst: sendInitialEvents ?? revision === 0,
    revision,
    bookmarks,
    announcesEnd: sendInitialEvents === true && bookmarks,
    timeoutSeconds: seconds > 0 ? seconds : undefined,
  };
}

/** Upstream answers 500 without a reason here; clients that parse versions never see it. */
export function badVersion(text: string): Error {
  return refusal(
    500,
    '',
    `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
  );
}

function validate(match: string, sendInitialEvents: boolean | undefined): readonly FieldError[] {
  const field = 'resourceVersionMatch';
  if (sendInitialEvents === undefined) {
    if (match === '') return [];
    const detail = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    return [{ field, problem: 'FieldValueForbidden', detail }];
  }
  if (match === 'NotOlderThan') return [];
  const supported = 'supported values: "NotOlderThan"';
  const unsupported: FieldError = { field, problem: 'FieldValueNotSupported', value: match, detail: supported };
  const detail = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
  const forbidden: FieldError = { field, problem: 'FieldValueForbidden', detail };
  return match === '' ? [forbidden] : [forbidden, unsupported];
}
