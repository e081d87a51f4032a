// The input of the oracle: the requests to the API server, the handovers of the test, and the end state.
import { type NoExecuteSpan, findSpans } from './no-execute-spans.ts';
import { findTerms, type Term } from './leadership-terms.ts';
import { findSigns, type Signs } from './heartbeats.ts';
import { findTaintActs, type TaintAct } from './taint-history.ts';
import type { AuditedRequest } from '../audit-trail.ts';
import type { NodeJson, PodJson } from '../scripted-cluster.ts';
import type { PodFact } from './fleet.ts';

/** One stop of a leader. */
export interface Handover {
  readonly name: string;
  readonly stoppedAtMs: number;
  /** Maximum number of its requests that may arrive after another replica leads. */
  readonly lateMax: number;
}

export interface Recording {
  readonly requests: readonly AuditedRequest[];
  readonly replicas: ReadonlySet<string>;
  readonly handovers: readonly Handover[];
  readonly pods: readonly PodFact[];
  readonly zoneOf: ReadonlyMap<string, string>;
  /** Nodes that were silent at the end. */
  readonly silent: ReadonlySet<string>;
  readonly nodesAtEnd: readonly NodeJson[];
  readonly podsAtEnd: readonly PodJson[];
  readonly endedAtMs: number;
}

/** A leader that the test did not stop, but that could not renew its lease in time on a loaded machine. */
export const lostByItself = 'by itself';

/** The time without a leader. */
export interface Gap extends Handover {
  readonly takenAtMs: number;
}

export interface Evidence extends Recording {
  readonly terms: readonly Term[];
  /** All writes of replicas except those to the lease, in the order in which they were received. */
  readonly writes: readonly AuditedRequest[];
  /** Those of a former leader after another replica had acquired the lease, if the handover allows them. */
  readonly late: ReadonlySet<AuditedRequest>;
  readonly taintActs: readonly TaintAct[];
  readonly spans: ReadonlyMap<string, readonly NoExecuteSpan[]>;
  readonly signs: Signs;
  readonly gaps: readonly Gap[];
  /** By pod uid: when each accepted request to delete it was received. */
  readonly deletions: ReadonlyMap<string, readonly number[]>;
}

/** Derives the evidence from the recording. */
export function gather(recording: Recording): Evidence {
  const { requests, replicas, handovers } = recording;
  const ofReplicas = requests.filter(({ user, verb }) => replicas.has(user) && isWrite(verb));
  const terms = findTerms(ofReplicas);
  const gaps = findGaps(handovers, terms);
  const writes = ofReplicas.filter(
    ({ resource, namespace }) => !(resource === 'leases' && namespace === 'kube-system'),
  );
  const late = new Set(writes.filter((write) => isLate(write, terms, gaps)));
  const taintActs = findTaintActs(ofReplicas);
  const spans = findSpans(taintActs);
  const deletions = deletionsOf(writes.filter((write) => !late.has(write)));
  return { ...recording, terms, writes, late, taintActs, spans, signs: findSigns(requests), gaps, deletions };
}

/** The leadership term at that time: the last acquisition of the lease. */
export function termAt(terms: readonly Term[], atMs: number): Term | undefined {
  return terms.findLast(({ takenAtMs }) => takenAtMs <= atMs);
}

/** One gap between each two terms; the stop of a standby causes none. */
function findGaps(handovers: readonly Handover[], terms: readonly Term[]): readonly Gap[] {
  return terms.slice(1).map(({ takenAtMs }, place) => {
    const before = terms[place]!;
    const isCause = ({ stoppedAtMs }: Handover): boolean => stoppedAtMs > before.takenAtMs && stoppedAtMs < takenAtMs;
    const { renewedAtMs, releasedAtMs } = before;
    const byItself = { name: lostByItself, stoppedAtMs: releasedAtMs ?? renewedAtMs, lateMax: 0 };
    return { ...(handovers.find(isCause) ?? byItself), takenAtMs };
  });
}

function isLate({ user, atMs }: AuditedRequest, terms: readonly Term[], gaps: readonly Gap[]): boolean {
  const gap = gaps.findLast(({ takenAtMs }) => takenAtMs <= atMs);
  return gap !== undefined && gap.lateMax > 0 && user === termAt(terms, gap.stoppedAtMs)?.user;
}

function isWrite(verb: string): boolean {
  return verb === 'create' || verb === 'update' || verb === 'patch' || verb === 'delete';
}

function deletionsOf(writes: readonly AuditedRequest[]): ReadonlyMap<string, readonly number[]> {
  const deletions = new Map<string, number[]>();
  for (const write of writes) {
    const uid = deletedUid(write);
    if (uid !== undefined) deletions.set(uid, [...(deletions.get(uid) ?? []), write.atMs]);
  }
  return deletions;
}

/** The uid of the pod that this request deleted; undefined for other requests. */
export function deletedUid(request: AuditedRequest): string | undefined {
  return request.code === 200 ? uidToDelete(request) : undefined;
}

/** The uid of the pod that this request was to delete, successful or not; undefined for other requests. */
export function uidToDelete({ verb, resource, body }: AuditedRequest): string | undefined {
  if (verb !== 'delete' || resource !== 'pods') return undefined;
  return (body as { readonly preconditions?: { readonly uid?: string } }).preconditions?.uid;
}
