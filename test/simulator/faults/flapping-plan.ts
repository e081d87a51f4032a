// A policy that keeps flapping nodes from new pods, and nodes that flap. They have a random source of their own, so that the seeds
// without them have the story that they had before.
import type { FlappingRule } from '../../../src/controller/model/policy.ts';
import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import type { ClusterPlan } from '../../../src/simulator/cluster/cluster-plan.ts';
import { between, chance, oneOf, wholeBetween } from '../../../src/simulator/draw.ts';
import { makePolicy } from './policy-plan.ts';
import type { PlannedFault } from './world-fault.ts';

/** With this source the seeds for which `docs/simulator.md` or the regression seeds say what they find have no such policy. */
const source = 0x4_01;
const share = 0.04;
/** Beyond the end of the run: nodes are released when their time is over, and not because the policy ends. */
const outlastsMs = 3_600_000;
const flapsMax = 12;

/** The longest time for which any of these policies keeps a node. */
export const keptMsMax = 60_000;
/** Minimum number of recoveries that make a node a flapping one. */
export const recoveriesMin = 2;

interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** None for most seeds. */
export function planFlapping(seed: number, { nodes }: ClusterPlan, span: Span): readonly PlannedFault[] {
  const random = new SeededRandom(seed ^ source);
  if (!chance(random, share)) return [];
  const names = nodes.map(({ name }) => name);
  const policies = [{ ...makePolicy(names, 'Enforce'), flapping: drawFlappingRule(random) }];
  const forMs = span.untilMs - span.fromMs + outlastsMs;
  const flapping = Array.from({ length: wholeBetween(random, 1, 3) }, () => oneOf(random, names));
  return [
    { atMs: span.fromMs, forMs, fault: { kind: 'settings', change: { policies } } },
    ...[...new Set(flapping)].flatMap((name) => planFlaps(random, name, span)),
  ];
}

/** Faults of a node whose kubelet reports Ready=False for some seconds, again and again. */
function planFlaps(random: Random, name: string, { fromMs, untilMs }: Span): readonly PlannedFault[] {
  const planned: PlannedFault[] = [];
  let atMs = fromMs + Math.round(between(random, 1_000, 20_000));
  for (let left = flapsMax; left > 0; left -= 1) {
    const forMs = Math.round(between(random, 12_000, 25_000));
    if (atMs + forMs < untilMs)
      planned.push({
        atMs,
        forMs,
        fault: { kind: 'node', names: [name], fault: { kind: 'unhealthy', reason: 'flapping' } },
      });
    atMs += forMs + Math.round(between(random, 12_000, 30_000));
  }
  return planned;
}

export function drawFlappingRule(random: Random): FlappingRule {
  return {
    recoveries: oneOf(random, [recoveriesMin, 3]),
    // Shorter than the time in which nothing happens after the faults: what a drill does is no repetition.
    withinMs: oneOf(random, [80_000, 120_000]),
    initialMs: oneOf(random, [5_000, 20_000]),
    maxMs: oneOf(random, [20_000, keptMsMax]),
    budget: { percent: oneOf(random, [undefined, 50]), count: oneOf(random, [1, 2]) },
  };
}
