// The oracle of all handovers: one leader at a time, no duplicate or lost writes, no rate exceeded. One sentence for each
// violation.
import type { Taint } from '../../../src/machinery/api/taints.ts';
import type { AuditedRequest } from '../audit-trail.ts';
import { deletedUid, type Evidence, lostByItself, termAt, uidToDelete } from './evidence.ts';
import { silentZone, type PodFact } from './fleet.ts';
import { gapAround, lateness } from './lateness.ts';
import { graceMs, lease, lookMsMax, rates } from './settings.ts';
import { silencesOf } from './heartbeats.ts';
import { addsNoExecute } from './taint-history.ts';

/** Maximum delay of an act on a loaded machine. The table shows the measured delays. */
const actLateMsMax = 15_000;
/** Maximum delay from a write until the controller has observed it and acted, on such a machine. */
const noticeMsMax = 2_500;
/** Maximum number of leaders that lose their lease because the machine is loaded; these handovers are checked too. */
const uncausedMax = 2;
/** Time without heartbeats of any node after which no pod may be evicted. */
const staleAfterMs = 1_000;
/** Tolerance of the rate check, because writes may arrive closer together than they were sent. */
const jitterMs = 1_500;

export function findViolations(evidence: Evidence): readonly string[] {
  return [
    ...checkTerms(evidence),
    ...checkWriters(evidence),
    ...checkLateArrivals(evidence),
    ...checkTaints(evidence),
    ...checkRates(evidence),
    ...checkSilences(evidence),
    ...checkPods(evidence),
    ...checkEnd(evidence),
  ];
}

/**
 * A lease is acquired only after its release or expiry, and at the next check of a standby after that.
 */
function checkTerms({ terms, gaps }: Evidence): readonly string[] {
  const wrong = terms.slice(1).flatMap((term, place) => {
    const { user, renewedAtMs, releasedAtMs } = terms[place]!;
    const freeFromMs = releasedAtMs ?? renewedAtMs + lease.durationMs;
    const lateMs = term.takenAtMs - freeFromMs;
    if (lateMs < 0) return [`${term.user} took the lease of ${user} ${-lateMs} ms before its end`];
    return lateMs > lookMsMax + noticeMsMax ? [`the lease of ${user} was free for ${lateMs} ms`] : [];
  });
  const uncaused = gaps.filter(({ name }) => name === lostByItself).length;
  return uncaused <= uncausedMax ? wrong : [...wrong, `${uncaused} changes of leader without a cause`];
}

/** Only the holder of the lease writes, never after its expiry; all writes are answered before the release. */
function checkWriters({ terms, writes, late }: Evidence): readonly string[] {
  return writes.flatMap((write) => {
    if (late.has(write)) return [];
    const term = termAt(terms, write.atMs);
    if (term?.user !== write.user) return [`${textOf(write)}, but the leader was ${term?.user ?? 'none'}`];
    const pastMs = write.atMs - term.renewedAtMs - lease.durationMs;
    if (pastMs > 0) return [`${textOf(write)}, ${pastMs} ms after its lease had run out`];
    const endsMs = term.releasedAtMs ?? terms[terms.indexOf(term) + 1]?.takenAtMs ?? Number.POSITIVE_INFINITY;
    return write.endedAtMs > endsMs ? [`${textOf(write)}, answered after its lease was over`] : [];
  });
}

/**
 * Writes in flight when their sender was cut off have preconditions, so they cannot revert later writes; a pod that they
 * delete was due while the sender still received updates.
 */
function checkLateArrivals(evidence: Evidence): readonly string[] {
  const isHarmless = (write: AuditedRequest): boolean => {
    const { verb, resource, code } = write;
    if (code === 404 || code === 409 || resource === 'events' || (resource === 'pods' && verb === 'patch')) return true;
    return verb === 'delete' && wasDueBeforeCut(evidence, write);
  };
  const late = [...evidence.late];
  const tooMany = evidence.gaps.flatMap(({ name, takenAtMs, lateMax }, place) => {
    const untilMs = evidence.gaps[place + 1]?.takenAtMs ?? Number.POSITIVE_INFINITY;
    const count = late.filter(({ atMs }) => atMs >= takenAtMs && atMs < untilMs).length;
    return count > lateMax ? [`${count} requests arrived late after ${name}`] : [];
  });
  return [...tooMany, ...late.filter((write) => !isHarmless(write)).map((write) => `late, and done: ${textOf(write)}`)];
}

function wasDueBeforeCut({ gaps, pods, spans }: Evidence, write: AuditedRequest): boolean {
  const pod = pods.find(({ uid }) => uid === uidToDelete(write));
  const gap = gaps.findLast(({ takenAtMs }) => takenAtMs <= write.atMs);
  const span = spans.get(pod?.node ?? '')?.findLast(({ addedAtMs }) => addedAtMs <= (gap?.stoppedAtMs ?? 0));
  if (pod?.patienceSeconds === undefined || gap === undefined || span === undefined) return false;
  return span.stampMs + pod.patienceSeconds * 1_000 <= gap.stoppedAtMs + staleAfterMs;
}

function checkTaints(evidence: Evidence): readonly string[] {
  return evidence.taintActs.flatMap((act) => {
    const { node, atMs, user, added, removed, restamped } = act;
    const who = `${user} at ${timeOf(atMs)}`;
    const isSwap = added.length > 0;
    return [
      ...restamped.map((taint) => `${who}: ${node} ${nameOf(taint)} has another timeAdded`),
      ...(added.length + removed.length + restamped.length === 0
        ? [`${who}: ${node} was written without a change`]
        : []),
      // A node with a heartbeat while the write is in flight gets the taint and loses it again.
      ...(hadHeartbeat(evidence, node, atMs - graceMs, atMs - noticeMsMax)
        ? added.map((taint) => `${who}: ${node} ${nameOf(taint)}, despite a heartbeat`)
        : []),
      ...(isSwap || startedWithinGracePeriod(evidence, atMs) || hadHeartbeat(evidence, node, atMs - graceMs, atMs)
        ? []
        : removed.map((taint) => `${who}: ${node} lost ${nameOf(taint)} while silent`)),
    ];
  });
}

/** The first leader knows no heartbeats from before its start, so it counts the silence of a Ready node from there. */
function startedWithinGracePeriod({ terms }: Evidence, atMs: number): boolean {
  return atMs - graceMs <= (terms[0]?.takenAtMs ?? Number.POSITIVE_INFINITY);
}

/** The rate of each zone is never exceeded, across leaders: a new leader does not start with tokens that were spent. */
function checkRates({ taintActs, zoneOf, gaps }: Evidence): readonly string[] {
  const zones = new Map<string, number[]>();
  const silentFromMs = gaps[0]?.stoppedAtMs ?? 0;
  for (const act of taintActs.filter(addsNoExecute)) {
    const zone = zoneOf.get(act.node) ?? '';
    // Before all of its nodes were silent, the zone had another rate.
    if (zone === silentZone && act.atMs < silentFromMs) continue;
    zones.set(zone, [...(zones.get(zone) ?? []), act.atMs]);
  }
  return [...zones].flatMap(([zone, times]) => {
    const rate = zone === silentZone ? rates.fullDisruption : rates.normal;
    const ascending = times.toSorted((a, b) => a - b);
    return ascending.flatMap((fromMs, first) => tooMany(zone, ascending.slice(first), fromMs, rate));
  });
}

function tooMany(zone: string, times: readonly number[], fromMs: number, ratePerSecond: number): readonly string[] {
  const place = times.findIndex((atMs, acts) => (acts * 1_000) / ratePerSecond > atMs - fromMs + jitterMs);
  const windowMs = (times[place] ?? 0) - fromMs;
  return place < 0
    ? []
    : [`${zone}: ${place + 1} taints within ${windowMs} ms at ${ratePerSecond}/s, from ${timeOf(fromMs)}`];
}

/** A node that is silent for longer than the grace period while there is a leader gets its taints. */
function checkSilences(evidence: Evidence): readonly string[] {
  const { zoneOf, taintActs, signs, gaps } = evidence;
  return [...zoneOf.keys()].flatMap((node) =>
    silencesOf(signs, node, graceMs + actLateMsMax).flatMap(({ fromMs, untilMs }) => {
      const silentMs = fromMs + graceMs;
      const dueMs = (gapAround(gaps, silentMs)?.takenAtMs ?? silentMs) + actLateMsMax;
      if (dueMs > Math.min(untilMs, evidence.endedAtMs)) return [];
      const added = taintActs
        .filter((act) => act.node === node && act.atMs > fromMs && act.atMs <= dueMs)
        .flatMap((act) => act.added.map(nameOf));
      const wanted = ['unreachable:NoSchedule', ...(zoneOf.get(node) === silentZone ? [] : ['unreachable:NoExecute'])];
      return wanted
        .filter((taint) => !added.includes(taint))
        .map((taint) => `${node} silent from ${timeOf(fromMs)}: no ${taint}`);
    }),
  );
}

function checkPods(evidence: Evidence): readonly string[] {
  return evidence.pods.flatMap((pod) => [...checkDeletions(evidence, pod), ...checkPatience(evidence, pod)]);
}

function checkDeletions(
  { deletions, spans, signs }: Evidence,
  { uid, name, node, patienceSeconds }: PodFact,
): readonly string[] {
  const times = deletions.get(uid) ?? [];
  const twice = times.length > 1 ? [`${name} was deleted ${times.length} times`] : [];
  return [
    ...twice,
    ...times.flatMap((atMs) => {
      const span = spans.get(node)?.findLast(({ addedAtMs }) => addedAtMs <= atMs);
      const dueMs = (span?.stampMs ?? Number.POSITIVE_INFINITY) + (patienceSeconds ?? Number.POSITIVE_INFINITY) * 1_000;
      if (atMs < dueMs) return [`${name} was deleted ${dueMs - atMs} ms too early`];
      const backAtMs = signs.recoveredAtMs.get(node)?.findLast((backMs) => backMs < atMs) ?? Number.NEGATIVE_INFINITY;
      const isBack = backAtMs > (span?.addedAtMs ?? 0) && atMs - backAtMs > noticeMsMax;
      return isBack ? [`${name} was deleted ${atMs - backAtMs} ms after its node recovered`] : [];
    }),
  ];
}

function checkPatience(evidence: Evidence, pod: PodFact): readonly string[] {
  return lateness(evidence, pod).flatMap(({ attendedMs, deletedAtMs, wellAtMs }) => {
    const lastMs = attendedMs + actLateMsMax;
    if (deletedAtMs !== undefined)
      return deletedAtMs > lastMs ? [`${pod.name} was deleted ${deletedAtMs - attendedMs} ms late`] : [];
    if ([...evidence.late].some((write) => deletedUid(write) === pod.uid)) return [];
    return wellAtMs > lastMs && evidence.endedAtMs > lastMs
      ? [`${pod.name} was due at ${timeOf(attendedMs)} and still exists`]
      : [];
  });
}

function checkEnd(evidence: Evidence): readonly string[] {
  const { nodesAtEnd, podsAtEnd, pods, zoneOf, silent, spans, deletions } = evidence;
  const there = new Map(podsAtEnd.map((pod) => [pod.metadata.uid, pod]));
  const late = new Set([...evidence.late].map(deletedUid));
  const lost = pods.filter(({ uid }) => !there.has(uid) && !deletions.has(uid) && !late.has(uid));
  const wrong = nodesAtEnd.flatMap((node) => {
    const { name } = node.metadata;
    const shown = (node.spec.taints ?? []).map(nameOf).sort();
    const wanted = silent.has(name)
      ? ['unreachable:NoSchedule', ...(spans.has(name) ? ['unreachable:NoExecute'] : [])].sort()
      : [];
    return shown.join() === wanted.join() ? [] : [`${name} ends with the taints ${shown.join()}, not ${wanted.join()}`];
  });
  const unmarked = pods.filter(
    ({ uid, node, ready }) => ready && spans.has(node) && readyOf(there.get(uid)) === 'True',
  );
  return [
    ...(nodesAtEnd.length === zoneOf.size ? [] : [`${nodesAtEnd.length} nodes of ${zoneOf.size}`]),
    ...wrong,
    ...lost.map(({ name }) => `${name} is gone without a delete request`),
    ...unmarked.map(({ name }) => `${name} was never marked NotReady`),
  ];
}

function hadHeartbeat({ signs }: Evidence, node: string, fromMs: number, untilMs: number): boolean {
  return (signs.heartbeatAtMs.get(node) ?? []).some((atMs) => atMs > fromMs && atMs <= untilMs);
}

function readyOf(
  pod:
    | { readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] } }
    | undefined,
): string | undefined {
  return pod?.status.conditions?.find(({ type }) => type === 'Ready')?.status;
}

function textOf({ user, verb, resource, subresource, name, atMs, code }: AuditedRequest): string {
  return `${user} ${verb} ${resource}${subresource === '' ? '' : `/${subresource}`} ${name} at ${timeOf(atMs)} (${code})`;
}

function nameOf({ key, effect }: Taint): string {
  return `${key.replace('node.kubernetes.io/', '')}:${effect}`;
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 23);
}
