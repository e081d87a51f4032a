// Where features meet: several policies at once, each with several features, whose settings change while they are in force,
// and what users, budgets, webhooks and clocks do meanwhile. It has a random source of its own.
import type { NodePolicy, PolicyMode } from '../../../src/controller/model/policy.ts';
import { pauseAnnotation } from '../../../src/machinery/api/node.ts';
import { taintKeys } from '../../../src/machinery/api/taints.ts';
import { outOfServiceLabel } from '../../../src/machinery/api/topology.ts';
import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import type { ClusterPlan } from '../../../src/simulator/cluster/cluster-plan.ts';
import { between, chance, oneOf, wholeBetween } from '../../../src/simulator/draw.ts';
import { hostname } from '../policy-zones.ts';
import { wallStartMs } from '../../../src/simulator/world.ts';
import { fencedCondition, fencedTaint, maintenanceCondition, maintenanceTaint } from './administrator.ts';
import { drawFlappingRule } from './flapping-plan.ts';
import { makePolicy, type Span } from './policy-plan.ts';
import type { PlannedFault, WorldFault } from './world-fault.ts';

/** With this source the seeds for which `docs/simulator.md` or the regression seeds say what they find have none of this. */
const source = 0x2_13_69;
const share = 0.14;
const featureShare = 0.35;
const poolLabel = 'example.com/pool';
const pools = ['p', 'q'] as const;
/** From below the interval of renewals to minutes. */
const graces = [undefined, 8_000, 12_000, 24_000, 120_000, 300_000] as const;

interface Draws {
  readonly random: Random;
  readonly cluster: ClusterPlan;
  readonly nodes: readonly string[];
  readonly span: Span;
}

/** The acts of a kind, between the ends of the span. */
type Plan = (draws: Draws) => readonly PlannedFault[];

/** Each is drawn for about a third of the seeds that have any. */
const plans: readonly Plan[] = [
  planMoves,
  planPauses,
  planBudgets,
  planReachable,
  planReachable,
  planMaintenances,
  planFencings,
  planTolerations,
  planTaintsAgain,
  planHealthKeys,
  planFinalizers,
  planWebhooks,
  planListFallback,
  planLostVerb,
  planWrongStamps,
  planPathFailure,
];

/** None for most seeds. */
export function planMeetings(seed: number, cluster: ClusterPlan, span: Span): readonly PlannedFault[] {
  const random = new SeededRandom(seed ^ source);
  if (!chance(random, share)) return [];
  const draws = { random, cluster, nodes: cluster.nodes.map(({ name }) => name), span };
  return [...planPolicies(draws), ...plans.flatMap((plan) => (chance(random, featureShare) ? plan(draws) : []))];
}

/** Two to four policies, and the same ones with other values, twice. */
function planPolicies({ random, nodes, span: { fromMs, untilMs } }: Draws): readonly PlannedFault[] {
  const claims = Array.from({ length: wholeBetween(random, 2, 4) }, (_, index) => drawClaim(random, nodes, index));
  const partMs = Math.floor((untilMs - fromMs) / 3);
  return [0, 1, 2].map((part) => {
    const atMs = fromMs + part * partMs;
    const policies = claims.map(
      (claim): NodePolicy => ({ ...claim, ...drawFields(random, claim, wallStartMs + atMs) }),
    );
    return {
      atMs,
      forMs: untilMs - atMs,
      fault: { kind: 'settings', change: { policies, paused: chance(random, 0.1) } },
    };
  });
}

/** A policy that sets something, by the names of its features; others are redrawn as such. */
function drawClaim(random: Random, nodes: readonly string[], index: number): NodePolicy {
  const some = nodes.filter(() => chance(random, 0.5));
  const byName = { key: hostname, operator: 'In', values: some.length === 0 ? nodes : some };
  const byPool = { key: poolLabel, operator: 'In', values: [oneOf(random, pools)] };
  const selector = oneOf(random, [[byName], [byPool], [byPool], [byPool, byName]]);
  const mode = oneOf<PolicyMode>(random, ['Enforce', 'Enforce', 'Enforce', 'Enforce', 'Paused', 'Observe']);
  const priority = oneOf(random, [0, 0, 1, 10]);
  const nodeMonitorGracePeriodMs = oneOf(random, graces);
  const has = <T>(value: T): T | undefined => (chance(random, featureShare) ? value : undefined);
  return {
    ...makePolicy([], mode),
    name: `policy-${index + 1}`,
    priority,
    selector,
    nodeMonitorGracePeriodMs,
    nodeStartupGracePeriodMs: oneOf(random, [undefined, nodeMonitorGracePeriodMs]),
    keepCompletedPods: chance(random, 0.2),
    maintenance: has({ conditions: [maintenanceCondition], taints: [maintenanceTaint], maxDurationMs: 0 }),
    limits: has({ maxUnhealthy: { percent: undefined, count: 1 }, cooldownMs: 0, resetAtMs: undefined }),
    outOfService: has({ conditions: [fencedCondition], taints: [fencedTaint] }),
    flapping: has(drawFlappingRule(random)),
    zones: has({ failureDomain: oneOf(random, [undefined, [poolLabel]]), settings: {} }),
    evictReachable: has({ timeoutMs: undefined }),
    podDeletionsPerSecond: has(1),
    maxConcurrentEvictions: has(1),
  };
}

/** Other values of the features that the policy has. */
function drawFields(random: Random, policy: NodePolicy, wallMs: number): Partial<NodePolicy> {
  const percent = oneOf(random, [undefined, 20, 50]);
  const maxUnhealthy = { percent, count: percent === undefined ? oneOf(random, [1, 2]) : undefined };
  const resetAtMs = oneOf(random, [undefined, undefined, wallMs - 1_000, wallMs + 20_000]);
  const limits = { maxUnhealthy, cooldownMs: oneOf(random, [1_000, 20_000, 60_000]), resetAtMs };
  const maxDurationMs = oneOf(random, [20_000, 90_000, 200_000]);
  const nodeEvictionRate = oneOf(random, [0.1, 0.5, 5]);
  const timeoutMs = oneOf(random, [5_000, 20_000, undefined]);
  const podDeletionsPerSecond = oneOf(random, [0.1, 0.5, 2]);
  const maxConcurrentEvictions = oneOf(random, [1, 2]);
  return {
    ...(policy.limits && { limits }),
    ...(policy.maintenance && { maintenance: { ...policy.maintenance, maxDurationMs } }),
    ...(policy.zones && { zones: { ...policy.zones, settings: { nodeEvictionRate } } }),
    ...(policy.evictReachable && { evictReachable: { timeoutMs } }),
    ...(policy.podDeletionsPerSecond === undefined ? {} : { podDeletionsPerSecond }),
    ...(policy.maxConcurrentEvictions === undefined ? {} : { maxConcurrentEvictions }),
  };
}

/** Nodes begin in a pool, and some are moved to another one. */
function planMoves({ random, nodes, span }: Draws): readonly PlannedFault[] {
  const label = (node: string, atMs: number): PlannedFault => {
    const value = oneOf(random, [...pools, '']);
    return { atMs, forMs: 1, fault: { kind: 'label', node, key: poolLabel, value } };
  };
  const first = nodes.map((node) => label(node, span.fromMs));
  return [...first, ...several(random, 6, () => label(oneOf(random, nodes), instant(random, span)))];
}

function planPauses({ random, nodes, span }: Draws): readonly PlannedFault[] {
  return several(random, 5, () => {
    const { atMs, forMs } = drawTime(random, span);
    const value = oneOf(random, ['true', 'false', '', 'until tomorrow', { inMs: 10_000 }, { inMs: 60_000 }] as const);
    return { atMs, forMs, fault: { kind: 'annotation', node: oneOf(random, nodes), key: pauseAnnotation, value } };
  });
}

/** One or two budgets, of all pods or of an app, that allow nothing, or a few; or an Eviction API that answers otherwise. */
function planBudgets({ random, span }: Draws): readonly PlannedFault[] {
  const budgets = ['budget-1', 'budget-2'].map((name): PlannedFault => {
    const fault = { kind: 'budget', name, app: oneOf(random, ['a', undefined, undefined] as const) } as const;
    return { ...drawTime(random, span), fault: { ...fault, allowed: oneOf(random, [0, 0, 1, -1]) } };
  });
  const code = oneOf(random, [403, 404, 429, 500, 503]);
  const retryAfterMs = code === 429 || code === 503 ? oneOf(random, [undefined, 1_000, 60_000]) : undefined;
  const answers = {
    kind: 'error-answers',
    code,
    from: oneOf(random, ['proxy', 'server'] as const),
    retryAfterMs,
  } as const;
  const errors: PlannedFault = {
    ...drawTime(random, span),
    fault: { ...answers, verb: 'evict', resource: 'pods', rate: oneOf(random, [0.5, 1]) },
  };
  return chance(random, 0.5) ? [...budgets, errors] : budgets;
}

/** Nodes report for long that they are not ready. */
function planReachable({ random, nodes, span }: Draws): readonly PlannedFault[] {
  return several(random, 3, () => {
    const atMs = Math.round(between(random, span.fromMs, (span.fromMs + span.untilMs) / 2));
    const fault: WorldFault = {
      kind: 'node',
      names: [oneOf(random, nodes)],
      fault: { kind: 'unhealthy', reason: 'network plugin is not ready' },
    };
    return { atMs, forMs: span.untilMs - atMs, fault };
  });
}

/** Also of nodes whose policy has no rule for it. The time in a signal may be older than its maximum. */
function planMaintenances({ random, nodes, span }: Draws): readonly PlannedFault[] {
  return several(random, 4, () => {
    const signal = oneOf(random, ['condition', 'taint', 'plain'] as const);
    const ageSeconds = oneOf(random, [0, 15, 120]);
    return {
      ...drawTime(random, span),
      fault: { kind: 'maintenance', node: oneOf(random, nodes), signal, ageSeconds },
    };
  });
}

function planFencings({ random, nodes, span }: Draws): readonly PlannedFault[] {
  const labels = nodes.map((node): PlannedFault => {
    return { atMs: span.fromMs, forMs: 1, fault: { kind: 'label', node, key: outOfServiceLabel, value: 'allowed' } };
  });
  const fencings = [...new Set(several(random, 3, () => oneOf(random, nodes)))].map((node): PlannedFault => {
    const { atMs, forMs } = drawTime(random, span);
    const evidence = oneOf(random, ['annotation', 'condition', 'taint'] as const);
    const boot = oneOf(random, ['this', 'this', 'another'] as const);
    const afterMs = Math.round(between(random, 0, forMs / 2));
    return { atMs, forMs, fault: { kind: 'fencing', node, evidence, boot, afterMs, isLeft: chance(random, 0.5) } };
  });
  return [...labels, ...fencings];
}

function planTolerations({ random, span }: Draws): readonly PlannedFault[] {
  return several(random, 5, () => {
    const seconds = oneOf(random, [undefined, 30, 600]);
    const count = wholeBetween(random, 1, 4);
    const fault: WorldFault = { kind: 'toleration', count, ...(seconds === undefined ? {} : { seconds }) };
    return { atMs: instant(random, span), forMs: 1, fault };
  });
}

/** A taint of another client is removed, and added again moments later. */
function planTaintsAgain({ random, nodes, span }: Draws): readonly PlannedFault[] {
  return several(random, 3, () => {
    const node = oneOf(random, nodes);
    const key = oneOf(random, ['example.com/maintenance', 'example.com/disk']);
    const { atMs, forMs } = drawTime(random, span);
    const gapMs = oneOf(random, [1, 50, 3_000]);
    const firstMs = Math.round(forMs / 2);
    const add = (ageSeconds: number): WorldFault => {
      return { kind: 'foreign-taint', node, key, effect: 'NoExecute', ageSeconds };
    };
    return [
      { atMs, forMs: firstMs, fault: add(0) },
      {
        atMs: atMs + firstMs + gapMs,
        forMs: Math.max(1, forMs - firstMs - gapMs),
        fault: add(oneOf(random, [0, 0, 40])),
      },
    ];
  }).flat();
}

/** Another client writes the taints that belong to the controller. */
function planHealthKeys({ random, nodes, span }: Draws): readonly PlannedFault[] {
  return several(random, 6, () => {
    const key = oneOf(random, [taintKeys.notReady, taintKeys.unreachable]);
    const effect = oneOf(random, ['NoExecute', 'NoExecute', 'NoSchedule']);
    const act = oneOf(random, ['add', 'remove'] as const);
    const fault: WorldFault = { kind: 'health-key', node: oneOf(random, nodes), key, effect, act };
    return { atMs: instant(random, span), forMs: 1, fault };
  });
}

function planFinalizers({ random, span }: Draws): readonly PlannedFault[] {
  return several(random, 3, () => ({
    ...drawTime(random, span),
    fault: { kind: 'finalizer', share: oneOf(random, [0.3, 1]) },
  }));
}

function planWebhooks({ random, span }: Draws): readonly PlannedFault[] {
  return several(random, 2, () => {
    const fault: WorldFault = {
      kind: 'webhook',
      resource: oneOf(random, ['nodes', 'nodes', 'pods'] as const),
      part: oneOf(random, ['status', 'spec'] as const),
    };
    return { ...drawTime(random, span), fault };
  });
}

/** Watches are not permitted for long: lists take their place. */
function planListFallback({ random, span }: Draws): readonly PlannedFault[] {
  const resource = oneOf(random, ['nodes', 'pods', 'leases', 'any'] as const);
  const answers = {
    kind: 'error-answers',
    code: oneOf(random, [403, 404]),
    from: 'server',
    retryAfterMs: undefined,
  } as const;
  return [
    { atMs: span.fromMs, forMs: span.untilMs - span.fromMs, fault: { ...answers, verb: 'watch', resource, rate: 1 } },
  ];
}

/** A verb is denied from some moment on, until the faults end. */
function planLostVerb({ random, span }: Draws): readonly PlannedFault[] {
  const atMs = instant(random, span);
  const verb = oneOf(random, ['get', 'patch', 'delete', 'evict', 'create'] as const);
  const resource = verb === 'create' ? 'events' : oneOf(random, ['nodes', 'pods', 'leases'] as const);
  const answers = { kind: 'error-answers', code: 403, from: 'server', retryAfterMs: undefined } as const;
  return [{ atMs, forMs: span.untilMs - atMs, fault: { ...answers, verb, resource, rate: 1 } }];
}

/** The wall clocks of all replicas but one are wrong while nodes are tainted; then the leader changes. */
function planWrongStamps({ random, cluster, nodes, span }: Draws): readonly PlannedFault[] {
  const { atMs, forMs } = drawTime(random, span);
  const byMs = oneOf(random, [-3_600_000, -60_000, 60_000, 3_600_000]);
  const replicas = Array.from({ length: cluster.replicas }, (_, index) => `replica-${index + 1}`);
  const steps = replicas
    .slice(1)
    .map((replica): PlannedFault => ({ atMs, forMs: 1, fault: { kind: 'clock-step', replica, byMs } }));
  const silence: PlannedFault = { atMs, forMs, fault: partition([oneOf(random, nodes)]) };
  const kills = replicas.map((replica, index): PlannedFault => {
    const killedMs = atMs + Math.round((forMs * (index + 1)) / (replicas.length + 1));
    return { atMs: killedMs, forMs: 2_000, fault: { kind: 'kill', replica } };
  });
  return [silence, ...steps, ...kills];
}

/** All nodes but one are silent together, whatever their grace periods. */
function planPathFailure({ random, nodes, span }: Draws): readonly PlannedFault[] {
  const { atMs, forMs } = drawTime(random, span);
  return nodes.length < 3 ? [] : [{ atMs, forMs, fault: partition(nodes.slice(1)) }];
}

function partition(names: readonly string[]): WorldFault {
  return { kind: 'node', names, fault: { kind: 'partition', direction: 'all', manner: 'silent' } };
}

function several<T>(random: Random, max: number, draw: () => T): readonly T[] {
  return Array.from({ length: wholeBetween(random, 1, max) }, draw);
}

function instant(random: Random, { fromMs, untilMs }: Span): number {
  return Math.round(between(random, fromMs, untilMs - 1));
}

function drawTime(random: Random, { fromMs, untilMs }: Span): { readonly atMs: number; readonly forMs: number } {
  const atMs = Math.round(between(random, fromMs, untilMs));
  const forMs = Math.round(between(random, 0, untilMs - atMs));
  return { atMs, forMs };
}
