import { deriveCollectionForecast, deriveCollectionOutlook } from './derive-collection-forecast.ts';
import {
  deriveEvictionForecast,
  deriveEvictionOutlook,
  deriveTolerance,
  type EvictionForecast,
} from './derive-eviction-forecast.ts';
import { deriveHolds, deriveZoneHolds } from './derive-holds.ts';
import { type Action, deriveNextAction } from './derive-next-action.ts';
import { deriveNodeForecast, type NodeForecast } from './derive-node-forecast.ts';
import { deriveNodeTurnMs } from './derive-node-turn.ts';
import { deriveEvictionPartHolds, derivePartHolds } from './derive-parts.ts';
import { deriveStay } from './derive-stay.ts';
import { deriveEstimate, deriveHistory, derivePast } from './derive-time.ts';
import type { Circumstances, ExpectedCollection, Moment, PodFacts, RunningTaintFacts } from './facts.ts';
import type { Hold, Patience, PodOutlook, Unblocker } from './outlook.ts';
import type { UnconfirmedReason } from '../decisions.ts';

/** What runs against a pod, for how long it tolerates it, and when it is going to leave: evicted, or collected. */
export function derivePodOutlook(facts: PodFacts, circumstances: Circumstances): PodOutlook {
  const { pod, nodeName, phase, terminating, running, flaws, history } = facts;
  const forecast = forecastOfNode(facts, circumstances);
  const eviction = deriveEvictionForecast(facts, forecast, circumstances);
  const collection = deriveCollectionForecast(facts.collection, circumstances);
  return {
    pod,
    node: nodeName === '' ? null : nodeName,
    phase,
    terminating,
    taints: running.map((taint) => patienceOf(facts, taint, circumstances.now)),
    eviction: eviction === undefined ? null : deriveEvictionOutlook(eviction, circumstances),
    stays: eviction === undefined ? deriveStay(facts, forecast, circumstances) : null,
    collection: deriveCollectionOutlook(collection, facts.collection, circumstances),
    holds: holdsOf(facts, eviction, circumstances),
    next: deriveNextAction(actionsOf(facts, { eviction, collection }, circumstances), circumstances.now),
    flaws,
    history: deriveHistory(history),
  };
}

/** A node that no longer exists keeps its place in line, and its pods leave with its turn. */
function forecastOfNode({ node, nodeName, lineOfLostNode }: PodFacts, circumstances: Circumstances): NodeForecast {
  if (node !== undefined) return deriveNodeForecast(node, circumstances);
  if (lineOfLostNode === undefined) return {};
  const joining = { atMs: circumstances.now.monotonicMs, beforeMs: [], change: undefined };
  const atMs = deriveNodeTurnMs(nodeName, lineOfLostNode.line, joining, circumstances);
  return { eviction: { mark: 'to-be-evicted', given: 'nothing-changes', dueAtMs: undefined, atMs } };
}

function holdsOf(
  facts: PodFacts,
  eviction: EvictionForecast | undefined,
  circumstances: Circumstances,
): readonly Hold[] {
  const zone = facts.node?.zone ?? facts.lineOfLostNode;
  // A line that stands still holds a pod only if the pod depends on it.
  const zoneHolds = zone === undefined || eviction?.state !== 'predicted' ? [] : deriveZoneHolds(zone);
  return [
    ...deriveHolds(circumstances),
    ...deriveEvictionPartHolds(circumstances),
    ...zoneHolds,
    ...collectionHolds(facts, circumstances),
  ];
}

function collectionHolds({ collection, nodeName }: PodFacts, circumstances: Circumstances): readonly Hold[] {
  if (collection.expected.length === 0) return [];
  const why = circumstances.runs.podGc ? collection.nodeUnanswered : undefined;
  return [...derivePartHolds(['podGc'], circumstances), ...(why === undefined ? [] : [nodeUnanswered(nodeName, why)])];
}

function nodeUnanswered(node: string, why: UnconfirmedReason): Hold {
  const unblocker: Unblocker =
    why === 'not-permitted' ? { kind: 'permission', needed: 'get of nodes' } : { kind: 'api-answers' };
  return { kind: 'node-unanswered', node, unblockedBy: [unblocker] };
}

interface PodForecasts {
  readonly eviction: EvictionForecast | undefined;
  readonly collection: ExpectedCollection | undefined;
}

function actionsOf(
  { pod }: PodFacts,
  { eviction, collection }: PodForecasts,
  { leading }: Circumstances,
): readonly Action[] {
  if (!leading) return [];
  const actions: Action[] = [];
  if (eviction !== undefined) {
    actions.push({ act: 'evict-pod', subject: pod, given: eviction.given, atMs: eviction.atMs });
  }
  if (collection !== undefined) {
    actions.push({ act: 'collect-pod', subject: pod, given: 'nothing-changes', atMs: collection.atMs });
  }
  return actions;
}

function patienceOf({ tolerations }: PodFacts, { taint, sinceMs }: RunningTaintFacts, now: Moment): Patience {
  const { toleration, seconds } = deriveTolerance(tolerations, taint);
  const forEver = seconds === Infinity;
  return {
    taint,
    since: derivePast(sinceMs, now),
    toleration: toleration ?? null,
    toleratedSeconds: forEver ? null : seconds,
    ends: forEver ? null : deriveEstimate(sinceMs + seconds * 1_000, now),
  };
}
