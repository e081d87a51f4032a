import { sameTaint, type Taint } from '../../api/taints.ts';
import type { GraceRule } from '../decisions.ts';
import { deriveEvictionForecast, deriveEvictionOutlook, type EvictionForecast } from './derive-eviction-forecast.ts';
import { deriveHolds, deriveNodeHolds, deriveZoneHolds } from './derive-holds.ts';
import { deriveTaintForecast, type TaintForecast } from './derive-taint-forecast.ts';
import { deriveEstimate, deriveHistory, derivePast, toSeconds } from './derive-time.ts';
import { deriveZoneOutlook } from './derive-zone-outlook.ts';
import type { Circumstances, HealthFacts, Moment, NodeFacts } from './facts.ts';
import type { NextAction, NodeOutlook } from './outlook.ts';

const evictionsShownMax = 50;

const graceFlags: Readonly<Record<GraceRule, string>> = {
  monitor: 'node-monitor-grace-period',
  startup: 'node-startup-grace-period',
};

/** What we know of a node, what we want of it, what keeps us from it, and what we shall do next and when. */
export function deriveNodeOutlook(facts: NodeFacts, circumstances: Circumstances): NodeOutlook {
  const { now } = circumstances;
  const { node, ready, counted, health, taints, zone, history } = facts;
  const expected = deriveTaintForecast(facts, circumstances);
  const evictions = evictionsOf(facts, expected, circumstances);
  return {
    node,
    ready,
    ...healthOutlook(health, circumstances),
    zone: deriveZoneOutlook(zone, now),
    counted,
    taints: { carried: taints.carried, wanted: taints.wanted },
    line: lineOf(facts),
    holds: [...deriveHolds(circumstances), ...deriveNodeHolds(facts), ...deriveZoneHolds(zone)],
    next: nextOf(actionsOf(facts, { expected, evictions }, circumstances), now),
    noExecuteTaint: expected === undefined ? null : { key: expected.key, when: deriveEstimate(expected.atMs, now) },
    evictions: {
      scheduled: evictions.filter(({ state }) => state === 'scheduled').length,
      predicted: evictions.filter(({ state }) => state === 'predicted').length,
      first: evictions.slice(0, evictionsShownMax).map((forecast) => deriveEvictionOutlook(forecast, circumstances)),
    },
    history: deriveHistory(history),
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
  expected: TaintForecast | undefined,
  circumstances: Circumstances,
): readonly EvictionForecast[] {
  return pods
    .flatMap((pod) => deriveEvictionForecast(pod, expected, circumstances) ?? [])
    .sort((a, b) => compare(a.atMs, b.atMs) || compare(a.pod, b.pod));
}

function compare<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Something we would do, and when. */
interface Action extends Omit<NextAction, 'when'> {
  readonly atMs: number;
}

interface Forecasts {
  readonly expected: TaintForecast | undefined;
  readonly evictions: readonly EvictionForecast[];
}

function actionsOf(
  facts: NodeFacts,
  { expected, evictions }: Forecasts,
  circumstances: Circumstances,
): readonly Action[] {
  if (!circumstances.leading) return [];
  const given = 'nothing-changes';
  const actions: Action[] = [...correctionsOf(facts, circumstances.now), ...markingOf(facts, circumstances)];
  if (facts.taints.rationedKey !== undefined && expected !== undefined) {
    actions.push({ act: 'add-taint', subject: `${expected.key}:NoExecute`, given, atMs: expected.atMs });
  }
  const scheduled = evictions.find(({ state }) => state === 'scheduled');
  if (scheduled !== undefined) actions.push({ act: 'evict-pod', subject: scheduled.pod, given, atMs: scheduled.atMs });
  return actions;
}

function markingOf(facts: NodeFacts, { now, blind }: Circumstances): readonly Action[] {
  const { ready, health } = facts;
  if (health === undefined || ready === 'Unknown') return [];
  const held = blind !== undefined || deriveNodeHolds(facts).length > 0;
  const atMs = held ? Infinity : Math.max(health.silentFromMs, now.monotonicMs);
  return [{ act: 'mark-unknown', subject: null, given: 'nothing-heard', atMs }];
}

/** Taints that wait for nobody's turn: they are put right at once. */
function correctionsOf({ taints }: NodeFacts, { monotonicMs }: Moment): readonly Action[] {
  const { carried, wanted, surplus, rationedKey } = taints;
  const isRationed = ({ key, effect }: Taint): boolean => effect === 'NoExecute' && key === rationedKey;
  const missing = wanted.filter((taint) => !isRationed(taint) && !carried.some((other) => sameTaint(taint, other)));
  if (missing.length + surplus.length === 0) return [];
  const subject = [...missing.map(signed('+')), ...surplus.map(signed('-'))].join(' ');
  return [{ act: 'change-taints', subject, given: 'nothing-changes', atMs: monotonicMs }];
}

function signed(sign: string): (taint: Taint) => string {
  return ({ key, effect }) => `${sign}${key}:${effect}`;
}

function nextOf(actions: readonly Action[], now: Moment): NextAction {
  const [first, ...others] = actions;
  if (first === undefined) return { act: 'none', subject: null, given: 'nothing-changes', when: null };
  const { act, subject, given, atMs } = others.reduce(
    (soonest, next) => (next.atMs < soonest.atMs ? next : soonest),
    first,
  );
  return { act, subject, given, when: deriveEstimate(atMs, now) };
}
