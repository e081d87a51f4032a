// Drills in which two features meet: budgets with silences and pauses, limits with a change of the leader, claims of two
// policies, and rates of deletions.
import type { FlappingRule, NodePolicy } from '../../../src/controller/model/policy.ts';
import { pauseAnnotation } from '../../../src/machinery/api/node.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { maintenanceCondition, maintenanceTaint } from '../faults/administrator.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import type { PlannedFault, WorldFault } from '../faults/world-fault.ts';
import { type Drill, type DrillCluster, drawNodes, silenceOf, tailMs } from './drill-plan.ts';
import { retriedMs } from './write-drills.ts';

/** The policy is in force. */
const preparedMs = 2_000;
/** By then a node that is silent from the beginning is Unknown, and has its taints unless something holds them. */
const taintedMs = 15_000;
/** The longest toleration that is waited for, and the token of a second node. */
const toleratedMs = 75_000;
/** Longest Retry-After that is waited for. */
const retryAfterMsMax = 60_000;
/** From the end of a leader until the next one has found what is due. */
export const takeoverMs = 35_000;
/** Delay of a second node: by more than the interval of renewals. */
const apartMs = 12_000;

type EvictionAnswer = 'budget' | 'two-budgets' | 403 | 404 | 429 | 500;
type Meanwhile = 'nothing' | 'allowed' | 'silent' | 'paused' | 'killed';

interface BudgetDraw {
  readonly meanwhile: Meanwhile;
  readonly answer: EvictionAnswer;
  readonly retryAfterMs: number | undefined;
  readonly timeoutMs: number;
  /** What a deletion may be late because of the answer. */
  readonly waitsMs: number;
}

function drawBudget(random: Random): BudgetDraw {
  const meanwhile = oneOf<Meanwhile>(random, ['nothing', 'nothing', 'allowed', 'silent', 'paused', 'killed']);
  const answer = oneOf<EvictionAnswer>(random, ['budget', 'budget', 'two-budgets', 403, 404, 429, 500]);
  const retryAfterMs = oneOf(random, [undefined, 1_000, retryAfterMsMax]);
  const shortMs = oneOf(random, [20_000, 40_000]);
  const isLong = meanwhile === 'allowed' || meanwhile === 'silent';
  // Another failure is retried as that of a deletion.
  const waitsMs = answer === 429 ? Math.max(retryAfterMs ?? 0, retriedMs) : 0;
  return { meanwhile, answer, retryAfterMs, timeoutMs: isLong ? 600_000 : shortMs, waitsMs };
}

/**
 * Nodes report for long that they are not ready, and the Eviction API does not let their pods go, for one reason or another:
 * they are deleted at the timeout, sooner if the budget allows it or the node becomes silent, and later after a pause.
 */
export function planBudgetDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const draw = drawBudget(random);
  const { meanwhile, timeoutMs } = draw;
  const isKilled = meanwhile === 'killed';
  // A new leader counts from the time in the taint, by its own clock.
  if (names.length === 0 || (isKilled && !cluster.clocksAgree)) return undefined;
  const atMs = preparedMs + taintedMs + 10_000;
  const endsMs = Math.min(timeoutMs, cluster.graceMs + taintedMs);
  const untilMs = preparedMs + toleratedMs + endsMs + draw.waitsMs + takeoverMs + tailMs;
  const unhealthy: WorldFault = { kind: 'node', names, fault: { kind: 'unhealthy', reason: 'network plugin' } };
  const acts = [
    inForce(makePolicies(names, { evictReachable: { timeoutMs } }), untilMs),
    ...answersOf(draw, meanwhile === 'allowed' ? atMs : untilMs),
    { atMs: preparedMs, forMs: untilMs, fault: unhealthy },
    ...actsOf(meanwhile, { atMs, forMs: untilMs, names, leader: cluster.leader }),
  ];
  const budget = {
    nodes: names,
    timeoutMs,
    waitsMs: draw.waitsMs + (isKilled ? takeoverMs : 0),
    ...(meanwhile === 'allowed' ? { allowedMs: atMs } : {}),
    ...(meanwhile === 'paused' ? { paused: { fromMs: atMs, untilMs: atMs + pausedMs } } : {}),
  };
  return { name: 'budget', acts, durationMs: untilMs, stuck: [], budget, ...lateIf(isKilled) };
}

const pausedMs = 8_000;

function answersOf({ answer, retryAfterMs }: BudgetDraw, forMs: number): readonly PlannedFault[] {
  const budget = (name: string): PlannedFault => {
    return { atMs: 60, forMs, fault: { kind: 'budget', name, app: undefined, allowed: 0 } };
  };
  if (answer === 'budget') return [budget('budget-1')];
  if (answer === 'two-budgets') return [budget('budget-1'), budget('budget-2')];
  const answers = { kind: 'error-answers', code: answer, from: 'server', verb: 'evict', resource: 'pods' } as const;
  return [{ atMs: 60, forMs, fault: { ...answers, retryAfterMs: answer === 429 ? retryAfterMs : undefined, rate: 1 } }];
}

interface MeanwhileContext {
  readonly atMs: number;
  readonly forMs: number;
  readonly names: readonly string[];
  readonly leader: string;
}

function actsOf(meanwhile: Meanwhile, { atMs, forMs, names, leader }: MeanwhileContext): readonly PlannedFault[] {
  switch (meanwhile) {
    case 'silent':
      return [silenceOf(names, atMs, forMs)];
    case 'paused':
      return [{ atMs, forMs: pausedMs, fault: { kind: 'settings', change: { paused: true } } }];
    case 'killed':
      return [killOf(leader, atMs)];
    case 'nothing':
    case 'allowed':
      return [];
  }
}

/**
 * Two nodes are silent where one may be: the breaker opens. The first one recovers, and the other one gets no NoExecute taint
 * until the cooldown is over, also by a new leader. Or only one is silent, which the limit allows.
 */
export function planCooldownDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const [first, second] = drawNodes(random, cluster);
  const isAlone = oneOf(random, [false, false, true]);
  const isKilled = oneOf(random, [false, true]) && cluster.clocksAgree;
  if (first === undefined || second === undefined) return undefined;
  const cooldownMs = 90_000;
  const silentMs = cluster.graceMs + apartMs + taintedMs;
  const backMs = preparedMs + silentMs;
  const limits = { maxUnhealthy: { percent: undefined, count: 1 }, cooldownMs, resetAtMs: undefined };
  const durationMs = backMs + cooldownMs + taintedMs + takeoverMs + tailMs;
  const policies = inForce(makePolicies([first, second], { limits }), durationMs);
  const alone = [policies, silenceOf([first], preparedMs, silentMs)];
  if (isAlone) return { name: 'limit', acts: alone, durationMs: backMs + tailMs, stuck: [] };
  const acts = [
    ...alone,
    silenceOf([second], preparedMs + apartMs, durationMs),
    ...(isKilled ? [killOf(cluster.leader, backMs + 25_000)] : []),
  ];
  const cooldown = { recovers: first, waits: second, forMs: cooldownMs };
  const stuck = [first, second];
  return { name: 'cooldown', acts, durationMs, stuck, cooldown, mayBeHeld: true, ...lateIf(isKilled) };
}

/** One of two silent nodes is paused: nothing is written that makes it or its pods worse until the pause ends. */
export function planPauseDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const [node] = names;
  const lastsMs = cluster.graceMs + oneOf(random, [20_000, 40_000]);
  const value = oneOf(random, ['true', 'until tomorrow', { inMs: lastsMs }] as const);
  if (node === undefined || (typeof value !== 'string' && !cluster.clocksAgree)) return undefined;
  const untilMs = 50 + lastsMs;
  const durationMs = untilMs + toleratedMs + tailMs;
  const forMs = typeof value === 'string' ? lastsMs : durationMs;
  const pause: PlannedFault = { atMs: 50, forMs, fault: { kind: 'annotation', node, key: pauseAnnotation, value } };
  const acts = [pause, silenceOf(names, preparedMs, durationMs)];
  const taintedBy = { node, byMs: untilMs + taintedMs };
  return { name: 'pause', acts, durationMs, stuck: [node], stuckMs: untilMs, paused: { node, untilMs }, taintedBy };
}

/** A planned maintenance that began before it is seen ends by the time in its signal, also if the leader changes. */
export function planOldMaintenanceDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const [node] = names;
  const signal = oneOf(random, ['condition', 'taint'] as const);
  const isKilled = oneOf(random, [false, true]);
  const ageSeconds = oneOf(random, [40, 70]);
  if (node === undefined || !cluster.clocksAgree) return undefined;
  const lastsMs = cluster.graceMs + 30_000;
  const untilMs = preparedMs + lastsMs;
  const durationMs = untilMs + takeoverMs + 50_000 + tailMs;
  const maxDurationMs = lastsMs + ageSeconds * 1_000;
  const maintenance = { conditions: [maintenanceCondition], taints: [maintenanceTaint], maxDurationMs };
  const begin: PlannedFault = {
    atMs: preparedMs,
    forMs: durationMs,
    fault: { kind: 'maintenance', node, signal, ageSeconds },
  };
  const acts = [
    inForce(makePolicies(names, { maintenance }), durationMs),
    begin,
    silenceOf(names, preparedMs + 100, durationMs - tailMs - preparedMs - 100),
    ...(isKilled ? [killOf(cluster.leader, preparedMs + cluster.graceMs)] : []),
  ];
  const taintedBy = { node, byMs: untilMs + taintedMs + takeoverMs };
  const held = { maintenance: { node, untilMs }, taintedBy };
  return { name: 'old-maintenance', acts, durationMs, stuck: [], ...held, ...lateIf(isKilled) };
}

/**
 * Two policies claim the nodes equally, so the settings of the controller apply: a silence that is longer than the grace period
 * of one of the policies is none.
 */
export function planEqualClaimsDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const nodeMonitorGracePeriodMs = oneOf(random, [8_000, 10_000]);
  const isFirst = oneOf(random, [false, true]);
  if (names.length === 0) return undefined;
  const short = { ...makePolicy(names, 'Enforce'), name: 'short', nodeMonitorGracePeriodMs };
  const other = { ...makePolicy(names, 'Enforce'), name: 'other' };
  // A renewal before it was up to 10 s ago.
  const silentMs = cluster.graceMs - 11_500;
  const durationMs = preparedMs + silentMs + 2 * tailMs;
  const acts = [inForce(isFirst ? [short, other] : [other, short], durationMs), silenceOf(names, preparedMs, silentMs)];
  return { name: 'equal-claims', acts, durationMs, stuck: [] };
}

/** One of two silent nodes may be emptied at once: the other one gets its NoExecute taint when the first one is empty. */
export function planPlacesDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  if (names.length < 2) return undefined;
  const durationMs = preparedMs + cluster.graceMs + taintedMs + 2 * toleratedMs + tailMs;
  const rate: PlannedFault = {
    atMs: 60,
    forMs: durationMs,
    fault: { kind: 'settings', change: { nodeEvictionRate: 5 } },
  };
  const policies = inForce(makePolicies(names, { maxConcurrentEvictions: 1 }), durationMs);
  const acts = [policies, rate, silenceOf(names, preparedMs, durationMs)];
  return { name: 'places', acts, durationMs, stuck: [], places: { nodes: names }, mayBeHeld: true };
}

/** The pods of silent nodes are deleted at the rate of their policy, whatever is due, or as many as it allows within an hour. */
export function planDeletionRateDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const nodes = drawNodes(random, cluster);
  const perSecond = oneOf(random, [0.1, 0.2]);
  const max = oneOf(random, [undefined, undefined, 1, 2]);
  if (nodes.length === 0) return undefined;
  const durationMs = preparedMs + cluster.graceMs + taintedMs + toleratedMs + 60_000 + tailMs;
  const limits = max === undefined ? { podDeletionsPerSecond: perSecond } : { maxEvictionsPerHour: max };
  const acts = [inForce(makePolicies(nodes, limits), durationMs), silenceOf(nodes, preparedMs, durationMs)];
  return max === undefined
    ? { name: 'deletion-rate', acts, durationMs, stuck: [], deletionRate: { nodes, perSecond } }
    : { name: 'hourly-limit', acts, durationMs, stuck: [], hourlyLimit: { nodes, max } };
}

const flapping: FlappingRule = {
  recoveries: 2,
  withinMs: 120_000,
  initialMs: 40_000,
  maxMs: 80_000,
  budget: { percent: undefined, count: 2 },
};
const flaps = 4;
const impairedMs = 12_000;
const healthyMs = 16_000;

/** A node recovers again and again, each time before it is released: its level rises, also if the leader changes. */
export function planFlappingDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const [node] = drawNodes(random, cluster);
  const isKilled = oneOf(random, [false, true]);
  if (node === undefined || !cluster.clocksAgree) return undefined;
  const cycleMs = impairedMs + healthyMs;
  const releasedMs = preparedMs + flaps * cycleMs + flapping.maxMs + (isKilled ? takeoverMs : 0);
  const durationMs = releasedMs + 60_000 + tailMs;
  const impairments = Array.from({ length: flaps }, (_, index): PlannedFault => {
    const fault: WorldFault = { kind: 'node', names: [node], fault: { kind: 'unhealthy', reason: 'flapping' } };
    return { atMs: preparedMs + index * cycleMs, forMs: impairedMs, fault };
  });
  const lastMs = preparedMs + flaps * cycleMs;
  const acts = [
    inForce(makePolicies([node], { flapping }), durationMs),
    { atMs: 60, forMs: durationMs, fault: { kind: 'settings', change: { nodeEvictionRate: 5 } } } as const,
    ...impairments,
    ...(isKilled ? [killOf(cluster.leader, oneOf(random, [lastMs - cycleMs - 2_000, lastMs + 12_000]))] : []),
  ];
  const flapped = { node, rule: flapping, isReleasedByMs: releasedMs + taintedMs };
  return { name: 'flapping', acts, durationMs, stuck: [], flapped, ...lateIf(isKilled) };
}

/** Requests without which everything goes on. */
const dispensable = [
  { verb: 'create', resource: 'events' },
  { verb: 'patch', resource: 'events' },
  { verb: 'get', resource: 'nodes' },
  { verb: 'get', resource: 'pods' },
] as const;

/** The controller is denied one verb for good: everything that does not need it is in time. */
export function planLostVerbDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const lost = oneOf(random, dispensable);
  const code = oneOf(random, [403, 403, 500] as const);
  if (names.length === 0) return undefined;
  const forMs = cluster.graceMs + oneOf(random, [40_000, 110_000]);
  const durationMs = forMs + tailMs;
  const answers = { kind: 'error-answers', code, from: 'server', retryAfterMs: undefined, rate: 1 } as const;
  const acts: readonly PlannedFault[] = [
    { atMs: 50, forMs: durationMs, fault: { ...answers, ...lost } },
    silenceOf(names, 100, forMs),
  ];
  // Where reading nodes is denied as a matter of permission, the cache counts.
  const areNodesUnreadable = lost.resource === 'nodes' && code === 500;
  return { name: 'lost-verb', acts, durationMs, stuck: [], ...(areNodesUnreadable && { areNodesUnreadable }) };
}

/** Deletions that are denied wait for tokens too: a wait is no success that ends the backoff. */
export function planDeniedDeletionsDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const nodes = drawNodes(random, cluster);
  if (nodes.length === 0) return undefined;
  const silentMs = cluster.graceMs + taintedMs + toleratedMs;
  const durationMs = silentMs + tailMs;
  const code = oneOf(random, [403, 500] as const);
  const denied = { kind: 'error-answers', code, from: 'server', retryAfterMs: undefined, rate: 1 } as const;
  const acts: readonly PlannedFault[] = [
    inForce(makePolicies(nodes, { podDeletionsPerSecond: 1 }), durationMs),
    { atMs: 50, forMs: durationMs, fault: { ...denied, verb: 'delete', resource: 'pods' } },
    silenceOf(nodes, preparedMs, silentMs),
  ];
  return { name: 'denied-deletions', acts, durationMs, stuck: nodes, denied: nodes };
}

function makePolicies(nodes: readonly string[], fields: Partial<NodePolicy>): readonly NodePolicy[] {
  return [{ ...makePolicy(nodes, 'Enforce'), ...fields }];
}

function inForce(policies: readonly NodePolicy[], forMs: number): PlannedFault {
  return { atMs: 50, forMs, fault: { kind: 'settings', change: { policies } } };
}

function killOf(replica: string, atMs: number): PlannedFault {
  return { atMs, forMs: 1_000, fault: { kind: 'kill', replica } };
}

/** A change of the leader makes everything late. */
function lateIf(isKilled: boolean): Pick<Drill, 'mayBeLate'> {
  return isKilled ? { mayBeLate: true } : {};
}
