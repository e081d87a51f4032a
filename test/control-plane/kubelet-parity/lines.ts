// The requests of a kubelet in a step, in a comparable form: by object, in order, with placeholders for times, ids and
// addresses.
//
// The real kubelet has races: the number of its reads, and of the patches into which it splits changes of a pod within a
// moment, differ from run to run. So repeated reads are merged, and patches within a moment are merged, except for the first
// patch of a pod. Node status updates without changes count only after a registration.
import type { AuditedRequest } from '../audit-trail.ts';
import { isRecord, type JsonRecord, keyed } from './json.ts';
import type { Names } from './names.ts';
import { actionOf, isWithoutNews, objectOf } from './requests.ts';

/** Patches closer than this are merged: the runtime is polled every second, or at once. */
const momentMs = 2_000;

export interface Line {
  /** `PATCH status 200`. */
  readonly action: string;
  readonly body: unknown;
}

export type StepLines = ReadonlyMap<string, readonly Line[]>;

/** A line before placeholders are inserted. */
interface Entry {
  readonly action: string;
  readonly body: unknown;
  readonly request: AuditedRequest;
}

/** `patched` contains the pods that were patched before, and is updated. */
export function linesOf(requests: readonly AuditedRequest[], names: Names, patched: Set<string>): StepLines {
  const objects = Map.groupBy(requests, objectOf);
  return new Map(
    [...objects]
      .map(([object, about]) => [object, linesOfObject(about, names, patched)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function linesOfObject(requests: readonly AuditedRequest[], names: Names, patched: Set<string>): readonly Line[] {
  const entries = requests.map(entryOf).filter((entry, place, all) => !isIdleReport(entry, place, all));
  return inOneBreath(entries, patched)
    .filter((entry, place, others) => !isSameLook(entry, others[place - 1]))
    .map(({ action, body, request }) => ({ action, body: names.replace(withTimes(body, request.answer)) }));
}

function entryOf(request: AuditedRequest): Entry {
  return { action: actionOf(request), body: isWithoutNews(request) ? {} : request.body, request };
}

/** One is sent after each registration; others are sent every 30 s or every five minutes. */
function isIdleReport({ request }: Entry, place: number, entries: readonly Entry[]): boolean {
  if (!isWithoutNews(request)) return false;
  return entries.slice(0, place).findLast((entry) => entry.request.verb !== 'get')?.request.verb !== 'create';
}

function isSameLook(entry: Entry, before: Entry | undefined): boolean {
  return entry.request.verb === 'get' && entry.action === before?.action;
}

/** Reads between merged patches are dropped. */
function inOneBreath(entries: readonly Entry[], patched: Set<string>): readonly Entry[] {
  const kept: Entry[] = [];
  for (const entry of entries) {
    const place = kept.findLastIndex(({ request }) => request.verb !== 'get');
    const last = kept[place];
    if (last !== undefined && goesWith(entry, last, patched)) {
      kept.splice(place, kept.length - place, { ...entry, body: merged(last.body, entry.body) });
    } else {
      kept.push(entry);
    }
    noteFirst(entry, patched);
  }
  return kept;
}

function goesWith(entry: Entry, last: Entry, patched: ReadonlySet<string>): boolean {
  if (!isPodPatch(entry) || !isPodPatch(last) || entry.action !== last.action) return false;
  const isSame = uidOf(entry) === uidOf(last) && entry.request.atMs - last.request.atMs < momentMs;
  return isSame && patched.has(`${uidOf(last)} again`);
}

/** A mirror pod is created for a running pod: its first patch counts as the second patch of another pod. */
function noteFirst(entry: Entry, patched: Set<string>): void {
  const { resource, verb, answer } = entry.request;
  if (resource === 'pods' && verb === 'create') patched.add(`${uidIn(answer)} again`);
  if (!isPodPatch(entry)) return;
  const uid = uidOf(entry);
  patched.add(patched.has(uid) ? `${uid} again` : uid);
}

function isPodPatch({ request }: Entry): boolean {
  return request.resource === 'pods' && request.verb === 'patch';
}

function uidOf({ body }: Entry): string {
  return uidIn(body);
}

function uidIn(object: unknown): string {
  const metadata = isRecord(object) ? object['metadata'] : undefined;
  return isRecord(metadata) ? String(metadata['uid']) : '';
}

const order = '$setElementOrder/conditions';

/** Merges two consecutive status patches. */
function merged(first: unknown, second: unknown): unknown {
  if (!isRecord(first) || !isRecord(second)) return second;
  const [before, after] = [recordIn(first, 'status'), recordIn(second, 'status')];
  const status: Record<string, unknown> = { ...before, ...after };
  const conditions = mergedConditions(before, after);
  if (conditions !== undefined) status['conditions'] = conditions;
  // If the first patch sets all conditions, the result has no merge order.
  if (!(order in before) && 'conditions' in before) delete status[order];
  return { ...first, ...second, status };
}

/** In the order of the first patch. A field that the first sets and the second removes is dropped, unless it existed before. */
function mergedConditions(before: JsonRecord, after: JsonRecord): readonly unknown[] | undefined {
  const [first, second] = [keyed(before['conditions']), keyed(after['conditions'])];
  if (first === undefined || second === undefined) return undefined;
  const isWhole = !(order in before);
  return [...new Set([...first.keys(), ...second.keys()])].map((type) => {
    const [said, next] = [first.get(type), second.get(type)];
    if (!isRecord(said) || !isRecord(next)) return next ?? said;
    const isUndone = (field: string): boolean => isWhole && next[field] === null && (said[field] ?? null) !== null;
    return Object.fromEntries(Object.entries({ ...said, ...next }).filter(([field]) => !isUndone(field)));
  });
}

function recordIn(body: JsonRecord, field: string): JsonRecord {
  const value = body[field];
  return isRecord(value) ? value : {};
}

const timeFields = ['lastHeartbeatTime', 'lastTransitionTime'] as const;

/**
 * A patch of conditions with the times of the patched object. A patch contains only changed times, and with whole seconds
 * it is random whether a time changes.
 */
function withTimes(body: unknown, answer: unknown): unknown {
  if (!isRecord(body) || !isRecord(body['status']) || !isRecord(answer) || !isRecord(answer['status'])) return body;
  const types = keyed(body['status'][order]);
  if (types === undefined) return body;
  const said = keyed(body['status']['conditions']) ?? new Map<string, unknown>();
  const after = keyed(answer['status']['conditions']) ?? new Map<string, unknown>();
  const conditions = [...types.keys()].map((type) => timed(type, said.get(type), after.get(type)));
  return { ...body, status: { ...body['status'], conditions } };
}

function timed(type: string, said: unknown, after: unknown): JsonRecord {
  const condition: Record<string, unknown> = isRecord(said) ? { ...said } : { type };
  for (const field of timeFields) {
    if (isRecord(after) && after[field] !== undefined) condition[field] = after[field];
  }
  return condition;
}
