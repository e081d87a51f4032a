import type { GraceRule } from '../decisions.ts';
import { deriveEvictionForecast, deriveEvictionOutlook, type EvictionForecast } from './derive-eviction-forecast.ts';
import { deriveHolds, deriveNodeHolds, deriveZoneHolds } from './derive-holds.ts';
import { deriveNextAction } from './derive-next-action.ts';
import { deriveNodeActions } from './derive-node-actions.ts';
import type { NodeEvictionForecast } from './derive-node-eviction-forecast.ts';
import { deriveNodeForecast, type NodeForecast } from './derive-node-forecast.ts';
import { deriveEvictionPartHolds } from './derive-parts.ts';
import type { TaintForecast } from './derive-taint-forecast.ts';
import { deriveEstimate, deriveHistory, derivePast, toSeconds } from './derive-time.ts';
import { deriveZoneOutlook } from './derive-zone-outlook.ts';
import type { Circumstances, HealthFacts, Moment, NodeFacts } from './facts.ts';
import type { Hold, NodeEvictionOutlook, NodeOutlook } from './outlook.ts';

const evictionsShownMax = 50;

const graceFlags: Readonly<Record<GraceRule, string>> = {
  monitor: 'node-monitor-grace-period',
  startup: 'node-startup-grace-period',
};

/** What we know of a node, what we want of it, what keeps us from it, and what we shall do next and when. */
export function deriveNodeOutlook(facts: NodeFacts, circumstances: Circumstances): NodeOutlook {
  const { now } = circumstances;
  const { node, ready, counted, health, zone, flaws, history } = facts;
  const forecast = deriveNodeForecast(facts, circumstances);
  const evictions = evictionsOf(facts, forecast, circumstances);
  return {
    node,
    ready,
    ...healthOutlook(health, circumstances),
    zone: deriveZoneOutlook(zone, now),
    counted,
    taints: taintsOutlook(facts, circumstances),
    line: lineOf(facts),
    holds: holdsOf(facts, circumstances),
    next: deriveNextAction(deriveNodeActions(facts, { node: forecast, evictions }, circumstances), now),
    noExecuteTaint: taintOutlook(forecast.taint, now),
    eviction: evictionOutlook(forecast.eviction, now),
    evictions: evictionsOutlook(facts, evictions, circumstances),
    flaws,
    history: deriveHistory(history),
  };
}

function holdsOf(facts: NodeFacts, circumstances: Circumstances): readonly Hold[] {
  return [
    ...deriveHolds(circumstances),
    ...deriveEvictionPartHolds(circumstances),
    ...deriveNodeHolds(facts),
    ...deriveZoneHolds(facts.zone),
  ];
}

function taintsOutlook({ taints }: NodeFacts, { runs }: Circumstances): NodeOutlook['taints'] {
  return { carried: taints.carried, wanted: runs.nodeLifecycle ? taints.wanted : null };
}

function taintOutlook(taint: TaintForecast | undefined, now: Moment): NodeOutlook['noExecuteTaint'] {
  return taint === undefined ? null : { key: taint.key, given: taint.given, when: deriveEstimate(taint.atMs, now) };
}

function evictionOutlook(eviction: NodeEvictionForecast | undefined, now: Moment): NodeEvictionOutlook | null {
  if (eviction === undefined) return null;
  const { mark, given, dueAtMs, atMs } = eviction;
  return {
    mark,
    due: dueAtMs === undefined ? null : deriveEstimate(dueAtMs, now),
    turn: mark === 'evicted' ? null : deriveEstimate(atMs, now),
    given,
  };
}

function evictionsOutlook(
  { pods }: NodeFacts,
  evictions: readonly EvictionForecast[],
  circumstances: Circumstances,
): NodeOutlook['evictions'] {
  return {
    scheduled: evictions.filter(({ state }) => state === 'scheduled').length,
    predicted: evictions.filter(({ state }) => state === 'predicted').length,
    spared: pods.filter(({ daemonSet }) => daemonSet !== undefined).length,
    first: evictions.slice(0, evictionsShownMax).map((forecast) => deriveEvictionOutlook(forecast, circumstances)),
  };
}

function healthOutlook(
  health: HealthFacts | undefined,
  { now, blind }: Circumstances,
): Pick<NodeOutlook, 'heard' | 'grace' | 'silence'> {
  if (health === undefined) return { heard: null, grace: null, silence: null };
  const { heardAtMs, channel, graceMs, rule, silent, silentFromMs } = health;
  const since = silent ? derivePast(silentFromMs, now) : null;
  const from = silent ? null : deriveEstimate(blind === undefined ? silentFromMs : Infinity, now);
  return {
    heard: { ...derivePast(heardAtMs, now), channel },
    grace: { seconds: toSeconds(graceMs), rule, flag: graceFlags[rule] },
    silence: { silent, since, from },
  };
}

function lineOf({ node, zone: { line } }: NodeFacts): NodeOutlook['line'] {
  const ahead = line.nodes.indexOf(node);
  return ahead < 0 ? null : { ahead, waiting: line.nodes.length };
}

/** Soonest first; pods with equal times by name, so that the same state gives the same answer. */
function evictionsOf(
  { pods }: NodeFacts,
  forecast: NodeForecast,
  circumstances: Circumstances,
): readonly EvictionForecast[] {
  return pods
    .flatMap((pod) => deriveEvictionForecast(pod, forecast, circumstances) ?? [])
    .sort((a, b) => compare(a.atMs, b.atMs) || compare(a.pod, b.pod));
}

function compare<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
