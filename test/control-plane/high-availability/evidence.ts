// What the oracle judges by: what was asked of the API server, what the test did, and what is there at the end.
import { type NoExecuteSpan, deriveSpans } from './no-execute-spans.ts';
import { deriveTerms, type Term } from './leadership-terms.ts';
import { deriveSigns, type Signs } from './signs-of-life.ts';
import { deriveTaintActs, type TaintAct } from './taint-history.ts';
import type { AuditedRequest } from '../audit-trail.ts';
import type { NodeJson, PodJson } from '../scripted-cluster.ts';
import type { PodFact } from './fleet.ts';

/** From the moment at which a leader was stopped. */
export interface Handover {
  readonly name: string;
  readonly stoppedAtMs: number;
  /** How many requests of it may arrive after somebody else leads. */
  readonly lateMax: number;
}

export interface Recording {
  readonly requests: readonly AuditedRequest[];
  readonly replicas: ReadonlySet<string>;
  readonly handovers: readonly Handover[];
  readonly pods: readonly PodFact[];
  readonly zoneOf: ReadonlyMap<string, string>;
  /** Nodes that were dark at the end. */
  readonly dark: ReadonlySet<string>;
  readonly nodesAtEnd: readonly NodeJson[];
  readonly podsAtEnd: readonly PodJson[];
  readonly endedAtMs: number;
}

/** Of a leader that the test did not stop: on a machine that gives it no time to renew its lease. */
export const lostByItself = 'by itself';

/** Nobody could write between the two. */
export interface Gap extends Handover {
  readonly takenAtMs: number;
}

export interface Evidence extends Recording {
  readonly terms: readonly Term[];
  /** All writes of replicas but those to the lease, in the order in which they came in. */
  readonly writes: readonly AuditedRequest[];
  /** Of these, what came from a former leader when another had taken the lease, where that may be. */
  readonly late: ReadonlySet<AuditedRequest>;
  readonly taintActs: readonly TaintAct[];
  readonly spans: ReadonlyMap<string, readonly NoExecuteSpan[]>;
  readonly signs: Signs;
  readonly gaps: readonly Gap[];
  /** Pods by uid: when each accepted request to delete it came in. */
  readonly deletions: ReadonlyMap<string, readonly number[]>;
}

/** Everything that follows from the recording. */
export function gather(recording: Recording): Evidence {
  const { requests, replicas, handovers } = recording;
  const ofReplicas = requests.filter(({ user, verb }) => replicas.has(user) && isWrite(verb));
  const terms = deriveTerms(ofReplicas);
  const gaps = deriveGaps(handovers, terms);
  const writes = ofReplicas.filter(
    ({ resource, namespace }) => !(resource === 'leases' && namespace === 'kube-system'),
  );
  const late = new Set(writes.filter((write) => isLate(write, terms, gaps)));
  const taintActs = deriveTaintActs(ofReplicas);
  const spans = deriveSpans(taintActs);
  const deletions = deletionsOf(writes.filter((write) => !late.has(write)));
  return { ...recording, terms, writes, late, taintActs, spans, signs: deriveSigns(requests), gaps, deletions };
}

/** The term in force at that moment: whoever took the lease last. */
export function termAt(terms: readonly Term[], atMs: number): Term | undefined {
  return terms.findLast(({ takenAtMs }) => takenAtMs <= atMs);
}

/** One between each two terms; a handover that cost nobody the lead (a standby was stopped) is none. */
function deriveGaps(handovers: readonly Handover[], terms: readonly Term[]): readonly Gap[] {
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

/** Of the pod that this request had deleted; undefined for any other request. */
export function deletedUid({ verb, resource, code, body }: AuditedRequest): string | undefined {
  if (verb !== 'delete' || resource !== 'pods' || code !== 200) return undefined;
  return (body as { readonly preconditions?: { readonly uid?: string } }).preconditions?.uid;
}
