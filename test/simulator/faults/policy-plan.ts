// Policies that an operator adds and removes while the faults last. They have a random source of their own, so that the seeds
// without them have the story that they had before.
import type { NodePolicy, PolicyLimits, PolicyMode } from '../../../src/controller/model/policy.ts';
import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import type { ClusterPlan } from '../../../src/simulator/cluster/cluster-plan.ts';
import { between, chance, oneOf } from '../../../src/simulator/draw.ts';
import { hostname } from '../policy-zones.ts';
import type { PlannedFault } from './world-fault.ts';

/** With this source the seeds for which `docs/simulator.md` or the regression seeds say what they find have no policies. */
const source = 0x1_68;
const share = 0.1;
/** Seed of the random source of policies with limits, which other seeds have. */
const limitsSource = 0x2_29;
const limitsShare = 0.05;
/** Seed of the random source of policies that limit evictions. */
const evictionsSource = 0x3_7c;
const evictionsShare = 0.05;
const changesMax = 4;

export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** So many parts of a span, one after the other and of one length. */
export function splitSpan({ fromMs, untilMs }: Span, parts: number): readonly Span[] {
  const partMs = Math.floor((untilMs - fromMs) / parts);
  return Array.from({ length: parts }, (_, index) => {
    const atMs = fromMs + index * partMs;
    return { fromMs: atMs, untilMs: atMs + partMs };
  });
}

/** None for most seeds. All end with the span. */
export function planPolicies(seed: number, { nodes }: ClusterPlan, span: Span): readonly PlannedFault[] {
  const random = new SeededRandom(seed ^ source);
  if (!chance(random, share)) return planLimits(seed, nodes, span);
  return Array.from({ length: changesMax }, () => {
    const atMs = Math.round(between(random, span.fromMs, span.untilMs));
    const forMs = Math.round(between(random, 0, span.untilMs - atMs));
    const policies = drawPolicies(
      random,
      nodes.map(({ name }) => name),
    );
    return { atMs, forMs, fault: { kind: 'settings', change: { policies, paused: chance(random, 0.2) } } };
  });
}

function drawPolicies(random: Random, nodes: readonly string[]): readonly NodePolicy[] {
  const chosen = nodes.filter(() => chance(random, 0.4));
  const mode = oneOf<PolicyMode>(random, ['Observe', 'Paused', 'Enforce']);
  const graceMs = oneOf(random, [undefined, 90_000, 120_000]);
  if (chosen.length === 0) return [];
  const graces = { nodeMonitorGracePeriodMs: graceMs, nodeStartupGracePeriodMs: undefined };
  return [{ ...makePolicy(chosen, mode), ...graces }];
}

/** A policy for these nodes that sets nothing. */
export function makePolicy(chosen: readonly string[], mode: PolicyMode): NodePolicy {
  return {
    name: 'simulated',
    priority: 0,
    selector: [{ key: hostname, operator: 'In', values: chosen }],
    mode,
    nodeMonitorGracePeriodMs: undefined,
    nodeStartupGracePeriodMs: undefined,
    maintenance: undefined,
    limits: undefined,
    outOfService: undefined,
    zones: undefined,
    flapping: undefined,
    evictReachable: undefined,
    podDeletionsPerSecond: undefined,
    maxConcurrentEvictions: undefined,
    keepCompletedPods: false,
  };
}

/** A policy with limits for most nodes, twice, each for half of the span. */
function planLimits(seed: number, nodes: ClusterPlan['nodes'], { fromMs, untilMs }: Span): readonly PlannedFault[] {
  const random = new SeededRandom(seed ^ limitsSource);
  if (!chance(random, limitsShare)) return [];
  const forMs = Math.floor((untilMs - fromMs) / 2);
  return [fromMs, fromMs + forMs].map((atMs) => {
    const chosen = nodes.map(({ name }) => name).filter(() => chance(random, 0.8));
    const policies = chosen.length === 0 ? [] : [{ ...makePolicy(chosen, 'Enforce'), limits: drawLimits(random) }];
    return { atMs, forMs, fault: { kind: 'settings', change: { policies } } };
  });
}

/** A policy for most nodes that limits how they are emptied, twice, each for half of the span. */
export function planEvictions(
  seed: number,
  { nodes }: ClusterPlan,
  { fromMs, untilMs }: Span,
): readonly PlannedFault[] {
  const random = new SeededRandom(seed ^ evictionsSource);
  if (!chance(random, evictionsShare)) return [];
  const forMs = Math.floor((untilMs - fromMs) / 2);
  return [fromMs, fromMs + forMs].map((atMs) => {
    const chosen = nodes.map(({ name }) => name).filter(() => chance(random, 0.8));
    const evictions = {
      evictReachable: oneOf(random, [undefined, { timeoutMs: 5_000 }, { timeoutMs: undefined }]),
      podDeletionsPerSecond: oneOf(random, [undefined, 0.1, 1]),
      maxConcurrentEvictions: oneOf(random, [undefined, 1, 2]),
    };
    const policies = chosen.length === 0 ? [] : [{ ...makePolicy(chosen, 'Enforce'), ...evictions }];
    return { atMs, forMs, fault: { kind: 'settings', change: { policies } } };
  });
}

function drawLimits(random: Random): PolicyLimits {
  const percent = oneOf(random, [undefined, 20, 50]);
  const count = percent === undefined || chance(random, 0.3) ? oneOf(random, [1, 2]) : undefined;
  const cooldownMs = oneOf(random, [1_000, 20_000, 60_000]);
  return { maxUnhealthy: { percent, count }, cooldownMs, resetAtMs: undefined };
}
